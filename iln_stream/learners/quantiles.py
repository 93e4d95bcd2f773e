"""QuantileRegressor: quantiles of the target around any regressor's prediction."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from river import base, compose

from iln_stream.errors import TokenError
from iln_stream.learners.checks import require_level, weight_keyword, weight_of_event
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.keyed.store import key_of
from iln_stream.learners.preprocessing.columns import Columns
from iln_stream.learners.restoring import RestorableLearner, restorable
from iln_stream.state import StateDict

Vector = NDArray[np.float64]

MOST_COLUMNS = 256
"""Inputs by which quantiles differ: the first ones to come."""

_KEPT = ("theta", "squares", "rules", "gains", "record", "stats")

_OF_REGRESSOR = ("background", "explain_one", "inputs", "key", "keys", "predict_interval")
"""What the regressor has, of what it predicts."""

_OF_EVENT = ("explain_one", "predict_interval")
"""Those that take an event."""

_ABSENT = 1e300
"""As in `kernels.columns`, which is imported only when a learner is built."""


@cache
def _loops() -> Any:
    from iln_stream.kernels import quantiles

    return quantiles


def _asked(regressor: Any, name: str) -> Any:
    """Return what a regressor has of this name; what takes an event, of a pipeline's last step."""
    if not (name in _OF_EVENT and isinstance(regressor, compose.Pipeline)):
        return getattr(regressor, name)
    found = getattr(next(reversed(regressor.steps.values())), name)
    return lambda x, *rest, **named: found(regressor.transform_one(x), *rest, **named)


class _Seen(NamedTuple):
    x: dict[Any, Any]
    numbers: Vector  # what was predicted: see `kernels.quantiles`
    row: Vector  # the prediction and the inputs
    z: Vector  # their deviations


@restorable
class QuantileRegressor(RestorableLearner, base.Regressor):
    r"""Predicts what a regressor predicts, and quantiles of the target around that.

    A quantile of level q is exceeded by a share 1 - q of the targets: that of 0.9 is a
    demand planner's p90. For each level, experts predict it: the end of the regressor's own
    interval, if it has any, and three regressions that are linear in the inputs, their sizes, the
    prediction and recent errors, and follow the gradient of the pinball loss [^1] by steps of
    AdaGrad. ML-Poly mixes them by that loss; see `MLPoly`. No bound holds for the mixture, as the
    rule forgets. Quantiles never cross: they are put in order [^2]. `predict_interval` and
    `explain_one` are the regressor's, or those of a pipeline's last step.

    Parameters
    ----------
    regressor
        The regressor, or pipeline ending in one, that predicts; None: `InfiniteLayerRegressor()`.
    levels
        Of the quantiles, each between 0 and 1, in ascending order.

    Examples
    --------
    >>> import random
    >>> from iln_stream import InfiniteLayerRegressor, QuantileRegressor
    >>> model = QuantileRegressor(InfiniteLayerRegressor("fast", seed=1), levels=(0.5, 0.9))
    >>> draw, n_above = random.Random(1), 0
    >>> for t in range(4000):
    ...     a = draw.random()
    ...     y = a + a * draw.expovariate(1.0)  # skewed, and larger where a is
    ...     n_above += t >= 2000 and y > model.predict_quantiles_one({"a": a})[0.9]
    ...     model.learn_one({"a": a}, y)
    >>> 0.08 < n_above / 2000 < 0.12
    True

    References
    ----------
    [^1]: R. Koenker, G. Bassett. Regression quantiles. Econometrica 46, 1978.
    [^2]: V. Chernozhukov, I. Fernández-Val, A. Galichon. Quantile and probability curves without
    crossing. Econometrica 78, 2010.

    """

    always_finite = True

    def __init__(
        self, regressor: base.Regressor | None = None, levels: Sequence[float] = (0.1, 0.5, 0.9)
    ) -> None:
        super().__init__()
        for level in levels:
            require_level(level)
        if not levels or list(levels) != sorted(set(levels)):
            raise ValueError(f"levels = {levels!r} must be different and in ascending order")
        if isinstance(regressor, base.Classifier):
            raise ValueError("regressor learns classes: only numbers have quantiles")
        self.regressor = InfiniteLayerRegressor() if regressor is None else regressor
        self.levels = tuple(map(float, levels))
        self._last: _Seen | None = None
        # Imported here, so that `import iln_stream` does not wait for numba.
        from iln_stream.kernels.columns import no_statistics

        loops, K = _loops(), len(self.levels)
        self._columns = Columns(MOST_COLUMNS, absent=_ABSENT)
        self._columns.n_overflowed = 1  # the regressor warns of inputs without a column
        self._stats = no_statistics(1)
        self._record = np.zeros(loops.N_SEEN + 3)
        self._rules, self._gains = np.zeros((K, 4, loops.N_EXPERTS)), np.zeros(K)
        self._theta = np.zeros((K, loops.N_EXPERTS - 1, loops.N_GIVEN + 2))
        self._squares = np.zeros_like(self._theta)
        # The quantiles of a Laplace distribution whose mean |error| is 1.
        tails = np.array([min(level, 1.0 - level) for level in self.levels])
        self._theta[:, :, 0] = (np.sign(tails - self.levels) * np.log(2.0 * tails))[:, None]
        self._make_scratch()

    @property
    def _learned(self) -> tuple[Vector, ...]:
        return self._theta, self._squares, self._rules, self._gains, self._record

    def _make_scratch(self) -> None:
        K, E, n = self._theta.shape
        self._room = np.zeros(n), np.zeros((K, E + 1)), np.zeros(K)
        self._of_levels = np.array(self.levels)

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_REGRESSOR:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return _asked(self.regressor, name)

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return the regressor's prediction."""
        with self._turn:  # quantiles are mostly asked for next
            return float(self._look(x).numbers[0])

    def predict_quantiles_one(self, x: Mapping[Any, float]) -> dict[float, float]:
        """Return the quantile of each level, in ascending order; nothing changes.

        Before the first label they are the prediction.
        """
        with self._turn:
            seen, out = self._look(x), np.zeros(len(self.levels))
            _loops().predict_quantiles(seen.numbers, seen.z, self._learned, self._room, out)
            return dict(zip(self.levels, out.tolist(), strict=True))

    def learn_one(self, x: Mapping[Any, float], y: float, w: float = 1.0) -> None:
        """Learn that y is the target of x, with a weight from 0 to 1e6.

        One other than 1 is passed on to the regressor, which must take w. If that raises an error,
        nothing is learned.
        """
        w = weight_of_event(w)
        with self._turn:
            seen = self._look(x)
            self.regressor.learn_one(x, y, **weight_keyword(w))
            self._learn(seen, y, w)

    def predict_token(self, x: Mapping[Any, float]) -> tuple[float, Vector]:
        """Return the prediction for x, and a token for `learn_token`.

        The token has what quantiles are made of and, after it, the regressor's token, if any.
        """
        with self._turn:
            if not hasattr(self.regressor, "predict_token"):
                return self.predict_one(x), self._look(x).numbers
            value, inner = self.regressor.predict_token(x)
            return float(value), np.concatenate([self._look(x).numbers, inner])

    def learn_token(self, x: Mapping[Any, float], token: Any, y: float, w: float = 1.0) -> None:
        """Learn that y is the target of x, by the token of its prediction; see `learn_one`.

        Raises
        ------
        TokenError
            When the token is that of another learner.

        """
        w, numbers = weight_of_event(w), np.array(token, np.float64)
        late: Any = getattr(self.regressor, "learn_token", None)
        n = _loops().N_SEEN + len(self.levels)
        if numbers.ndim != 1 or len(numbers) < n or (late is None and len(numbers) > n):
            raise TokenError("the token is that of another learner")
        with self._turn:
            seen = self._seen(x, numbers[:n].copy())
            if late is None:
                self.regressor.learn_one(x, y, **weight_keyword(w))
            else:
                late(x, numbers[n:], y, **weight_keyword(w))
            self._learn(seen, y, w)

    def _look(self, x: Mapping[Any, float]) -> _Seen:
        """Return an event as it is predicted; one that is learned was mostly just predicted."""
        if (last := self._last) is not None and last.x == x:
            return last
        n, numbers = _loops().N_SEEN, np.full(_loops().N_SEEN + len(self.levels), np.nan)
        center = float(self.regressor.predict_one(x))
        numbers[:n] = self._record[:n]
        numbers[0] = center
        interval: Any = getattr(self, "predict_interval", None)
        if interval is not None and self._record[1] > 0.0:  # there was an error
            ends = {0.0: (center, center)}
            for k, level in enumerate(self.levels, n):
                within = round(abs(2.0 * level - 1.0), 9)
                if within not in ends:
                    ends[within] = interval(x, within)
                numbers[k] = ends[within][level > 0.5] - center
        self._last = self._seen(x, numbers)
        return self._last

    def _seen(self, x: Mapping[Any, float], numbers: Vector) -> _Seen:
        from iln_stream.kernels.columns import standardise

        row = np.concatenate([numbers[:1], self._columns.row(self._numbers(x))])
        row = row[: self._stats.shape[1]]
        row.flags.writeable = False  # as rows of the regressor: the same compiled loop
        z, known = np.zeros((2, len(row)))
        standardise(row, self._stats, known, z)
        return _Seen(dict(x), numbers, row, z)

    def _numbers(self, x: Mapping[Any, Any]) -> Mapping[Any, float]:
        """Return the inputs by which quantiles may differ: numbers, and no key."""
        if (key := getattr(self.regressor, "key", None)) is not None:
            x = key_of(x, key)[1]
        if any(type(value) is not float for value in x.values()):
            known = {k: v for k, v in x.items() if isinstance(v, int | float)}
            x = {k: float(v) for k, v in known.items() if math.isfinite(v)}
        return x

    def _learn(self, seen: _Seen, y: float, w: float) -> None:
        from iln_stream.kernels.columns import join, no_statistics

        self._last = None
        y = float(y)
        if not math.isfinite(y - seen.numbers[0]):  # a regressor of others may predict anything
            return
        if more := 1 + len(self._columns.learn(self._numbers(seen.x))) - self._stats.shape[1]:
            self._stats = np.concatenate([self._stats, no_statistics(more)], axis=1)
            widths = (0, 0), (0, 0), (0, 2 * more)
            self._theta, self._squares = np.pad(self._theta, widths), np.pad(self._squares, widths)
            self._make_scratch()
            seen = self._seen(seen.x, seen.numbers)
        loops, numbers = _loops(), seen.numbers
        loops.learn_quantiles(y, w, numbers, seen.z, self._of_levels, self._learned, self._room)
        join(seen.row, self._stats, int(self._record[loops.EVENTS]))

    def state(self) -> StateDict:
        """Return the state of the quantiles and of the regressor; see `state_of`."""
        with self._turn:
            kept = {name: getattr(self, f"_{name}").copy() for name in _KEPT}
            return self._write_state(columns=self._columns.state(), **kept)

    def restore(self, state: StateDict) -> None:
        with self._turn:
            columns, *kept = self._read_state(state, "columns", *_KEPT)
            self._columns.restore(columns)
            for name, value in zip(_KEPT, kept, strict=True):
                setattr(self, f"_{name}", value.copy())
            self._last = None
            self._make_scratch()

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"regressor": InfiniteLayerRegressor("fast", seed=1)}
