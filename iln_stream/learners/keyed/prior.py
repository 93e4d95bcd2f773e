"""What all keys share: the global prediction, the inputs' scales, the law of the keys' effects."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.errors import StateError
from iln_stream.learners.keyed.store import DEFAULT_SLOPES, Row, key_model
from iln_stream.learners.restoring import model_of, state_of
from iln_stream.state import StateDict, StateSchema, decode_name, encode_name, from_bytes, to_bytes

_WAITING = 100.0
"""Events that a prior of release 0.2 learns as before."""


def _with_whole_effects(state: StateDict) -> StateDict:
    """From version 1, in which the global model was taught the mean effect of keys, too."""
    loops, shared = key_model(), state["shared"].copy()
    shared[loops.WHOLE_FROM] = shared[loops.CLOCK] + _WAITING
    return {**state, "shared": shared}


def _with_sides(state: StateDict) -> StateDict:
    """From version 2, in which errors below and above the prediction were counted together."""
    n, shared = key_model().N_BINS, state["shared"]
    half = 0.5 * shared[-n:]
    return {**state, "shared": np.concatenate([shared[:-n], half, half])}


_SHARED = StateSchema("iln_stream.KeysShared", 3, {1: _with_whole_effects, 2: _with_sides})
_FROZEN = StateSchema("iln_stream.FrozenPrior", 1)

_ABSENT = 1e300
"""As in `kernels.columns`, which is imported only when a key learns."""


class Look(NamedTuple):
    """An event as keys see it."""

    g: float  # the global prediction, in the target's units
    values: NDArray[np.float64]  # the raw inputs (d - 1,) that have slopes; 1e300 for an absent one


class KeyPrior(ABC):
    """What all keys share.

    Attributes
    ----------
    slopes : int
        The most inputs that have slopes: the first ones to come, numbers before categories.
    shared : array
        The law of the keys' effects, the noise, and the losses by age: see `kernels.key_model`.
    stats : array of shape (47, d - 1)
        Statistics by which the inputs are standardised.
    frozen : bool
        Whether none of this ever changes: keys leave it as it is.

    """

    frozen: ClassVar[bool]

    def __init__(self, model: base.Regressor, slopes: int = DEFAULT_SLOPES) -> None:
        from iln_stream.kernels.columns import no_statistics

        self.model = model
        self.slopes = slopes
        self.names: list[Any] = []
        self._known: set[Any] = set()
        self.shared: NDArray[np.float64] = key_model().new_shared(slopes + 1)
        self.stats: NDArray[np.float64] = no_statistics(0)

    def look(self, x: Mapping[Any, float]) -> Look:
        """Return the global prediction and the inputs with slopes; nothing changes.

        Raises
        ------
        ValueError
            When an input is not a finite number.

        """
        g = float(self.model.predict_one(x))
        values = [x.get(name, _ABSENT) for name in self.names]
        try:
            known = -1e308 <= sum(values) <= 1e308  # false for nan: all in one comparison
        except TypeError:
            known = False
        if not known:
            values = [checked(value, name) for name, value in zip(self.names, values, strict=True)]
        return Look(g, np.array(values, np.float64))

    @abstractmethod
    def begin(self, x: Mapping[Any, float]) -> None:
        """Give new inputs slopes, as long as there is room."""

    @abstractmethod
    def learn(self, x: Mapping[Any, float], y: float) -> None:
        """Let the global model learn y, from which the key's own effect has been taken."""

    def shared_state(self) -> StateDict:
        """Return all but the model's state."""
        return _SHARED.write(
            slopes=self.slopes,
            names=[encode_name(name) for name in self.names],
            shared=self.shared.copy(),
            stats=self.stats.copy(),
        )

    def restore_shared(self, state: StateDict) -> None:
        """Go on from what `shared_state` returned."""
        slopes, names, shared, stats = _SHARED.read(state, "slopes", "names", "shared", "stats")
        if slopes != self.slopes or shared.shape != self.shared.shape:
            raise StateError(f"the state has slopes = {slopes}, not {self.slopes}")
        self.names = [decode_name(name) for name in names]
        self._known = set(self.names)
        self.shared, self.stats = shared.copy(), stats.copy()


class LearningPrior(KeyPrior):
    """A prior that all keys train.

    The global model learns the target minus the key's effect, so that what keys explain does not
    disturb it: what neither explains yet becomes its, or the keys'. The model is any River
    regressor; at most `slopes` inputs have slopes.
    """

    frozen = False

    def begin(self, x: Mapping[Any, float]) -> None:
        if len(self.names) == self.slopes or self._known.issuperset(x):
            return
        fresh = [name for name in x if name not in self._known]
        # By type first: names of different types have no order among themselves.
        fresh.sort(key=lambda name: (_is_category(name), type(name).__name__, name))
        fresh = fresh[: self.slopes - len(self.names)]
        from iln_stream.kernels.columns import no_statistics

        self.names += fresh
        self._known.update(fresh)
        self.stats = np.concatenate([self.stats, no_statistics(len(fresh))], axis=1)

    def learn(self, x: Mapping[Any, float], y: float) -> None:
        self.model.learn_one(x, y)

    def freeze(self) -> "FrozenPrior":
        """Return this prior as it is now, to be shared by keys that learn elsewhere."""
        return FrozenPrior.from_state(
            _FROZEN.write(model=state_of(self.model), shared=self.shared_state())
        )


class FrozenPrior(KeyPrior):
    """A prior that never changes: what a key has learned depends on its own events alone.

    From `LearningPrior.freeze`, `KeyedRegressor.freeze` or `from_bytes`.

    Examples
    --------
    >>> from iln_stream import InfiniteLayerRegressor
    >>> from iln_stream.learners.keyed import FrozenPrior, KeyedRegressor
    >>> from iln_stream.learners.keyed import learn_event, new_row, predict_event
    >>> import random
    >>> model = KeyedRegressor("customer", InfiniteLayerRegressor("fast", seed=1))
    >>> draw = random.Random(1)
    >>> for _ in range(500):
    ...     c, a = draw.randrange(7), draw.randrange(5)
    ...     model.learn_one({"customer": f"c{c}", "a": a}, a + 10 * c)
    >>> prior = FrozenPrior.from_bytes(model.freeze().to_bytes())
    >>> row = new_row()
    >>> for a in (1, 4, 2, 0):
    ...     row = learn_event(prior, row, {"a": a}, a + 15)
    >>> round(predict_event(prior, row, {"a": 3}))
    18

    """

    frozen = True

    def begin(self, x: Mapping[Any, float]) -> None:
        """Do nothing."""

    def learn(self, x: Mapping[Any, float], y: float) -> None:
        """Learn nothing."""

    def state(self) -> StateDict:
        return _FROZEN.write(model=state_of(self.model), shared=self.shared_state())

    @classmethod
    def from_state(cls, state: StateDict) -> Self:
        """Return the prior that has this state."""
        model, shared = _FROZEN.read(state, "model", "shared")
        prior = cls(model_of(model), shared["slopes"])
        prior.restore_shared(shared)
        return prior

    def to_bytes(self) -> bytes:
        """Return the prior as bytes, to be sent to where keys learn."""
        return to_bytes(self.state())

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the prior of `to_bytes`.

        Raises
        ------
        StateError
            When the bytes are damaged, or are something else.

        """
        return cls.from_state(from_bytes(data))


def predict_event(prior: KeyPrior, row: Row, x: Mapping[Any, float]) -> float:
    """Return the prediction of x for the key whose state is `row`; nothing changes.

    Raises
    ------
    ValueError
        When an input is not a finite number.

    """
    g, values = prior.look(x)
    loops = key_model()
    scratch = loops.new_scratch(prior.slopes + 1)
    return float(loops.predict_key(g, values, row, prior.stats, prior.shared, scratch))


def learn_event(prior: KeyPrior, row: Row, x: Mapping[Any, float], y: float) -> Row:
    """Return the state of a key after an event, which leaves `row` as it is.

    With a frozen prior this is a pure function: the same events of a key in the same order give the
    same bytes, wherever they are learned (on one kind of processor). A prior that is not frozen
    learns, too. x is the event without the key.

    Raises
    ------
    ValueError
        When y or an input is not a finite number.

    """
    y = checked(y, None)
    prior.begin(x)
    g, values = prior.look(x)
    loops = key_model()
    scratch, row = loops.new_scratch(prior.slopes + 1), row.copy()
    loops.learn_key(g, y, values, row, prior.stats, prior.shared, scratch, prior.frozen)
    prior.learn(x, y - float(scratch[loops.OUT, loops.CORRECTION]))
    return row


def checked(value: Any, name: Any) -> float:
    """Return a finite number.

    Raises
    ------
    ValueError
        When it is none.

    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not -1e308 <= number <= 1e308:
        what = "y" if name is None else f"x[{name!r}]"
        raise ValueError(f"{what} is {value!r}: it must be a finite number")
    return number


def _is_category(name: Any) -> bool:
    return isinstance(name, str) and "=" in name
