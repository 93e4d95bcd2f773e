"""KeyedRegressor: a small model for each key, on top of one that all keys share."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.errors import IlnWarning
from iln_stream.learners.checks import require_level
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.keyed.aggregates import Aggregate, Aggregates
from iln_stream.learners.keyed.key_file import STORED, KeysElsewhere
from iln_stream.learners.keyed.prior import FrozenPrior, LearningPrior, Look, checked
from iln_stream.learners.keyed.store import (
    DEFAULT_SLOPES,
    KeysInMemory,
    KeyStore,
    Row,
    key_model,
    key_of,
    new_row,
)
from iln_stream.learners.restoring import RestorableLearner, restorable
from iln_stream.reporting import (
    FlagSpec,
    MetricSpec,
    Report,
    find_metrics,
    kept_keys_metric,
    key_evictions_metric,
)
from iln_stream.state import StateDict

_SAMPLED = 10_000
"""Keys whose states quantiles are computed from: more would take the loop's time."""

_QUANTILES = (0.1, 0.5, 0.9, 0.99)


def keyed_metrics(learner: Any) -> Sequence[MetricSpec]:
    """Return the metrics of a `KeyedRegressor`."""

    def errors() -> Mapping[Any, float]:
        rows, of = learner.sample_of_keys(_SAMPLED), key_model()
        return _quantiles(rows[:, of.ERRORS] / np.maximum(rows[:, of.WEIGHTS], 1e-12))

    return (
        kept_keys_metric(lambda: {("models",): learner.n_keys,
                                  ("models_in_memory",): learner.keys.n_live}),
        key_evictions_metric(lambda: {("models",): learner.keys.n_evicted}),
        MetricSpec("iln_events_without_key_total", "counter",
                   "Learned events without a key, which only the global model learned.",
                   lambda: learner.n_missing),
        MetricSpec("iln_key_error", "gauge",
                   "Quantiles over keys of a key's mean absolute error, of about its last 50 "
                   "events.", errors, "quantile"),
    )  # fmt: skip


def _quantiles(values: Any) -> dict[str, float]:
    if not len(values):
        return {}
    found = np.quantile(values, _QUANTILES).tolist()
    return dict(zip(map(str, _QUANTILES), found, strict=True))


_Seen = tuple[Mapping[Any, float], str | None, dict[Any, float], Look]
"""An event as it came, its key, its other inputs, and these as keys see them."""

EXPERTS = ("global", "level", "slopes", "drift", "last")
"""Names of the experts of a key."""

_BLIND = 100
"""Events without a key, and none with one, after which the name of the key is doubted."""


class KeyDescription(NamedTuple):
    """What is known of a key."""

    n_events: int  # events learned
    error: float  # mean absolute error of about the last 50
    effects: dict[Any, float]  # as of `KeyedRegressor.effects`
    weights: dict[str, float]  # weight of each expert in the prediction, by name


@restorable
class KeyedRegressor(RestorableLearner, base.Regressor):
    """Online regression with a small model for each key: each customer, sensor or shop.

    All keys train a global model g. The part of the target that g does not explain is predicted for
    each key by its own level and slopes, a linear function of the standardised inputs. The levels
    and slopes are shrunk towards their means over keys; how much depends on how keys vary and how
    noisy targets are (empirical Bayes [^1]). A new key is predicted by what is common to all keys,
    one with many events by its own model. A mixing rule weighs five experts for each key: g; g and
    the level; g, level and slopes; these and a level that follows drift; g and the key's last
    residual. It starts from how the experts did for other keys of the same age, and continues
    with the key's own losses.

    The global model learns the target minus what the key explains. The state of a key takes at most
    968 bytes at 12 slopes.

    Parameters
    ----------
    key
        Name of the input that is the key. It may be a text, a number, or a category in the form
        "name=value". It is not an input of the models. Events without it are learned and predicted
        by the global model alone, and counted in `n_missing`.
    prior
        The global model; None: `InfiniteLayerRegressor("fast")`.
    slopes
        The most inputs for which each key has its own slope: the first ones to appear, numbers
        before categories. The global model gets all inputs.

    Examples
    --------
    >>> import random
    >>> from iln_stream import InfiniteLayerRegressor, KeyedRegressor
    >>> model = KeyedRegressor("customer", InfiniteLayerRegressor("fast", seed=1))
    >>> rng = random.Random(1)
    >>> for _ in range(2000):
    ...     c, a = rng.randrange(20), rng.randrange(7)
    ...     model.learn_one({"customer": f"c{c}", "a": a}, 10 * c + (c - 10) * a)
    >>> abs(model.predict_one({"customer": "c2", "a": 3}) - -4) < 30
    True
    >>> abs(model.predict_one({"customer": "c17", "a": 3}) - 191) < 30
    True

    References
    ----------
    [^1]: C. N. Morris. Parametric empirical Bayes inference: theory and applications. JASA, 1983.

    """

    always_finite = True
    flags: tuple[FlagSpec, ...] = ()

    def __init__(
        self, key: str, prior: base.Regressor | None = None, slopes: int = DEFAULT_SLOPES
    ) -> None:
        super().__init__()
        if not isinstance(key, str):
            raise ValueError(f"key = {key!r} must be the name of one field")
        if not isinstance(slopes, int) or not 0 <= slopes <= 60:
            raise ValueError(f"slopes = {slopes!r} must be a whole number from 0 to 60")
        if isinstance(prior, base.Classifier):
            raise ValueError("prior must be a regressor: there is no model by key for classes yet")
        self.key = key
        self.prior = InfiniteLayerRegressor("fast") if prior is None else prior
        self.slopes = slopes
        self._common = LearningPrior(self.prior, slopes)
        self._nobody = new_row(slopes)  # the state of a key without events
        self._keys: KeyStore = KeysInMemory(len(self._nobody))
        self._scratch: Any = None
        self._last: _Seen | None = None
        self.n_missing = 0

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return the prediction for x: of its key, or of the global model without a key.

        Raises
        ------
        ValueError
            When an input is not a finite number, or the key is too long.

        """
        with self._turn:
            _, key, _, look = self._seen(x)
            if key is None:
                return look.g
            return self._predict(look, self._keys.get(key))

    def predict_interval(self, x: Mapping[Any, float], level: float = 0.9) -> tuple[float, float]:
        """Return an interval about the prediction that contains the target with about this chance.

        Its ends are apart from the prediction by the key's own mean error, or that of other keys as
        long as it is new, times quantiles of such ratios over the last 2,000 events of all keys,
        below and above: labels that are skewed are outside on either side about as often.

        Raises
        ------
        ValueError
            When `level` is not between 0 and 1, an input is not a finite number, or the key is too
            long.

        """
        require_level(level)
        loops = key_model()
        with self._turn:
            _, key, _, look = self._seen(x)
            prediction = self._predict(look, None if key is None else self._keys.get(key))
            if key is None:
                prediction = look.g
            expected, tail = float(self._scratch[loops.OUT, loops.EXPECTED]), (1.0 - level) / 2.0
            low, high = (
                float(loops.expected_ratio(tail, side, self._common.shared, self.slopes + 1))
                for side in (0, 1)
            )
            return prediction - low * expected, prediction + high * expected

    def learn_one(self, x: Mapping[Any, float], y: float) -> None:
        """Learn that y is the target of x.

        Raises
        ------
        ValueError
            When y or an input is not a finite number, or the key is too long; nothing is learned
            from such an event.

        """
        y = checked(y, None)
        with self._turn:
            common = self._common
            _, key, rest, look = self._seen(x, common.begin)
            self._last = None
            if key is None:
                self.n_missing += 1
                if self.n_missing == _BLIND and not len(self._keys):
                    warnings.warn(
                        f"none of the first {_BLIND} events has {self.key!r}, the key: all of them "
                        "are learned by the global model; correct the name",
                        IlnWarning,
                        stacklevel=2,
                    )
                common.learn(rest, y)
                return
            scratch = self._room()
            row = self._keys.to_learn(key)
            loops = key_model()
            loops.learn_key(
                look.g, y, look.values, row, common.stats, common.shared, scratch, common.frozen
            )
            common.learn(rest, y - float(scratch[loops.OUT, loops.CORRECTION]))

    def _seen(
        self, x: Mapping[Any, float], begin: Callable[[Mapping[Any, float]], None] | None = None
    ) -> _Seen:
        """Return what is known of an event; one that is learned was mostly just predicted.

        `begin` is called with its inputs before they are looked at.
        """
        common, name, last = self._common, self.key, self._last
        if last is not None and last[0] == x and type(x.get(name)) is type(last[0].get(name)):
            if begin is not None:
                begin(last[2])
            if len(last[3].values) == len(common.names):
                return last
        key, rest = key_of(x, name)
        if begin is not None:
            begin(rest)
        seen = self._last = dict(x), key, rest, common.look(rest)
        return seen

    def _predict(self, look: Look, row: Row | None) -> float:
        row = self._nobody if row is None else row
        common = self._common
        predict_key = key_model().predict_key
        return float(
            predict_key(look.g, look.values, row, common.stats, common.shared, self._room())
        )

    def _room(self) -> Any:
        if self._scratch is None:
            self._scratch = key_model().new_scratch(self.slopes + 1)
        return self._scratch

    def freeze(self) -> FrozenPrior:
        """Return what all keys share, as it is now, for keys that learn elsewhere."""
        with self._turn:
            return self._common.freeze()

    def keep_keys_in(self, keys: KeyStore) -> None:
        """Let another store have the keys' states from now on; those of this one are forgotten."""
        with self._turn:
            self._keys = keys

    @property
    def keys(self) -> KeyStore:
        """The states of the keys."""
        return self._keys

    @property
    def size(self) -> int:
        """Number of numbers in the state of a key."""
        return len(self._nobody)

    @property
    def common(self) -> LearningPrior:
        """What all keys share."""
        return self._common

    def effects(self, key: str) -> dict[Any, float]:
        """Return the effects of a key on the target: its level, "", and slopes by input.

        A slope is for one standard deviation of its input. The level and slopes of a key without
        events are the means of all keys'.
        """
        with self._turn:
            row = self._keys.get(key)
            common, names = self._common, list(self._common.names)
            loops, scratch = key_model(), self._room()
            loops.effects_of(
                self._nobody if row is None else row, common.shared, len(names) + 1,
                self.slopes + 1, scratch,
            )  # fmt: skip
            found = scratch[loops.SOLVED_Z, : len(names) + 1].tolist()
        return dict(zip(["", *names], found, strict=True))

    def described(self, key: str) -> KeyDescription | None:
        """Return what is known of a key; None: it has no events."""
        with self._turn:
            row = self._keys.get(key)
            if row is None:
                return None
            effects = self.effects(key)
            loops, scratch = key_model(), self._room()
            loops.weigh(row, self._common.shared, self.slopes + 1, scratch)
            n = loops.N_EXPERTS
            weights = scratch[loops.MIXED, n : 2 * n].tolist()
            error = float(row[loops.ERRORS] / max(row[loops.WEIGHTS], 1e-300))
            n_events = int(row[loops.EVENTS])
        named = dict(zip(EXPERTS, weights, strict=True))
        return KeyDescription(n_events, error, effects, named)

    def sample_of_keys(self, n: int) -> NDArray[np.float64]:
        """Return copies of the states of at most n keys that are in memory, as rows."""
        with self._turn:
            return self._keys.sample(n)

    @property
    def n_keys(self) -> int:
        """Number of keys."""
        return len(self._keys)

    def state(self) -> StateDict:
        """Return the learner's state, as nested dicts of arrays and plain values."""
        with self._turn:
            return self._write_state(
                shared=self._common.shared_state(),
                keys=self._keys.state(),
                n_missing=self.n_missing,
            )

    def restore(self, state: StateDict) -> None:
        """Go on from a state; see `RestorableLearner.restore`.

        Raises
        ------
        StateError
            As there. Keys whose states are in a file are not read: give them by `keep_keys_in`.

        """
        with self._turn:
            shared, keys, n_missing = self._read_state(state, "shared", "keys", "n_missing")
            self._common.restore_shared(shared)
            if STORED.is_of(keys):
                self._keys = KeysElsewhere(keys)
            else:
                self._keys = KeysInMemory(len(self._nobody))
                self._keys.restore(keys)
            self.n_missing = n_missing
            self._last = None

    def report(self, y_pred: float, y: float) -> Report:
        """Report the global model's flags; the loss is the task's."""
        return None, ()

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the metrics over keys, and those of the global model."""
        return (*keyed_metrics(self), *find_metrics(self.prior))

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"key": "customer", "prior": InfiniteLayerRegressor("fast", seed=1)}


NAME = "keyed"
"""Name of what a model by key compiles beside its global model."""


def exercise_keys() -> None:
    """Let a model by key predict and learn, read a key's effects, and aggregate its events."""
    from river import dummy, stats

    learner = KeyedRegressor("key", dummy.StatisticRegressor(stats.Mean()))
    for t in range(3):
        x: dict[str, Any] = {"key": "a", "b": float(t)}
        learner.predict_one(x)
        learner.predict_interval(x)
        learner.learn_one(x, float(t))
    learner.effects("a")
    made = Aggregates({"n": Aggregate("count")})
    for t in range(2):
        made({}, {}, float(t))
        made.accept()
