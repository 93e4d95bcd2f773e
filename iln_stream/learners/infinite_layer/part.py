"""Common base of a learner's parts: a state of plain arrays, and parts that heal."""

import copy
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import IlnWarning, StateError
from iln_stream.state import all_finite

REMEDY = (
    "use the release that wrote it; or, if you changed the class, raise the learner's "
    "state_version and write a migration"
)
"""What to do about a state that is not in the form of the class."""


class Part:
    """A part whose state is that of the attributes named in `kept`, and of the parts in `parts`.

    The version of the learner's class covers all fields of its parts, except where a field's state
    has a version of its own. To change a field's name, shape or meaning, raise `state_version` of
    every learner that has the part, and write a migration: see `EngineLearner`.

    Attributes
    ----------
    kept
        Names of the attributes in the state: arrays and plain values.
    parts
        Names of the attributes whose own states are in the state.
    own
        Names of the fields that the class itself writes in `state` and reads in `restore`.
    fixed
        Those of `kept` that are arrays whose shape the constructor's arguments determine.

    """

    kept: ClassVar[tuple[str, ...]] = ()
    parts: tuple[str, ...] = ()
    own: ClassVar[tuple[str, ...]] = ()
    fixed: ClassVar[tuple[str, ...]] = ()

    def state(self) -> dict[str, Any]:
        """Return copies of the kept attributes, and the states of the parts, by name."""
        kept = {name: copy.deepcopy(getattr(self, name)) for name in self.kept}
        return kept | {name: getattr(self, name).state() for name in self.parts}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state; this part must be newly built with the same arguments.

        Raises
        ------
        StateError
            When the state has missing or extra fields, or an array of another shape.

        """
        require_fields(type(self).__name__, state, {*self.kept, *self.parts, *self.own})
        for name in self.fixed:
            found, wanted = np.shape(state[name]), np.shape(getattr(self, name))
            if found != wanted:
                raise StateError(
                    f"the state of {type(self).__name__} has {name} of shape {found}, not "
                    f"{wanted}: {REMEDY}"
                )
        for name in self.kept:
            copied = aligned if isinstance(state[name], np.ndarray) else copy.deepcopy
            setattr(self, name, copied(state[name]))
        for name in self.parts:
            getattr(self, name).restore(state[name])

    def floats(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield the floating-point arrays of the state by name, those of the parts too.

        They are the part's own, not copies. All their numbers are finite: absent values have
        markers. Only what is in arrays heals.
        """
        for name in self.kept:
            value = getattr(self, name)
            if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                yield name, value
        for name in self.parts:
            for field, array in getattr(self, name).floats():
                yield f"{name}.{field}", array

    def heal(self) -> bool:
        """Reinitialise what is not finite; return whether anything was."""
        broken = {name for name, array in self.floats() if not all_finite(array)}
        if broken:
            self.reinitialise(broken)
        return bool(broken)

    def reinitialise(self, broken: Collection[str]) -> None:
        """Reinitialise these fields, named as `floats` does, and what depends on them."""
        raise NotImplementedError(f"{type(self).__name__} can't reinitialise {', '.join(broken)}")

    def restart(self, which: NDArray[np.bool_]) -> None:
        """Reinitialise the predictors whose predictions (n,) are marked; by default, all of it."""
        self.reinitialise([name for name, _ in self.floats()])


T = TypeVar("T")
D = TypeVar("D", bound=np.generic)


def aligned(values: NDArray[D]) -> NDArray[D]:
    """Return a copy aligned to a cache line, so that a wide vector load touches only one line."""
    buffer = np.empty(values.nbytes + 64, np.uint8)
    first = -buffer.ctypes.data % 64
    found = buffer[first : first + values.nbytes].view(values.dtype).reshape(values.shape)
    found[:] = values
    return found


def to_state(arrays: Any) -> dict[str, Any] | None:
    """Return copies of the arrays of a named tuple, by name; None for None."""
    return None if arrays is None else {k: v.copy() for k, v in arrays._asdict().items()}


def from_state(cls: type[T], state: Mapping[str, Any] | None) -> T | None:
    """Return the named tuple of class `cls` from what `to_state` returned."""
    if state is None:
        return None
    require_fields(cls.__name__, state, cls.__annotations__)
    return cls(**{k: v.copy() for k, v in state.items()})


def require_fields(name: str, state: Mapping[str, Any], fields: Iterable[str]) -> None:
    """Raise an error unless the state of the class of this name has exactly these fields."""
    odd = state.keys() ^ set(fields)
    if odd:
        raise StateError(
            f"the state of {name} has missing or extra fields: {', '.join(sorted(odd))}: {REMEDY}"
        )


EVERY = 128
"""Number of events from one inspection to the next."""

AT_ONCE = 4096
"""Numbers of an array that an inspection looks at; it looks at the next ones the next time."""

QUIET = 1024
"""Number of events after a warning of a part in which there is no other warning of it."""


class Healer(Part):
    """Finds parts whose state is not finite, and lets them reinitialise it.

    Most faults show in a prediction that is not finite: then all parts are checked before the event
    is learned, so that the fault does not spread. Some don't show, such as one in the weight of an
    input that is 0. So every 128 events a share of all arrays is inspected, at most 4,096 numbers
    of each; which share is a function of the number of events. Parts are by name, those that others
    are reinitialised from first.
    """

    own = ("resets",)

    def __init__(self, parts: Mapping[str, Part]) -> None:
        self._parts = dict(parts)
        self.resets = dict.fromkeys(self._parts, 0)  # how often each part was reinitialised
        self._warned_at: dict[str, int] = {}

    def add(self, name: str, part: Part) -> None:
        """Also heal a part that was not there from the beginning."""
        self._parts[name] = part
        self.resets.setdefault(name, 0)

    def inspect(self, n: int) -> bool:
        """Return whether the share of event n, a multiple of `EVERY`, is finite."""
        turn = n // EVERY
        return all(all_finite(_share(array, turn)) for array in self._arrays())

    def _arrays(self) -> Iterator[NDArray[Any]]:
        for part in self._parts.values():
            for _, array in part.floats():
                yield array

    def heal_all(self, n: int) -> bool:
        """Let each part reinitialise what is not finite after n events; return whether any did."""
        healed = [name for name, part in self._parts.items() if part.heal()]
        for name in healed:
            self._count(name, n)
        return bool(healed)

    def restart_all(self, faults: Sequence[tuple[Part, NDArray[np.bool_]]], n: int) -> None:
        """Restart parts whose predictions are not finite although their states are."""
        for faulty, which in faults:
            faulty.restart(which)
            self._count(next(name for name, part in self._parts.items() if part is faulty), n)

    def _count(self, name: str, n: int) -> None:
        self.resets[name] += 1
        if n - self._warned_at.get(name, -QUIET) >= QUIET:
            self._warned_at[name] = n
            warnings.warn(
                f"{name} was not finite, or predicted out of all bounds, after {n} events: it is "
                "reinitialised; look for extreme inputs or targets at that time, and report it",
                IlnWarning,
                stacklevel=2,
            )

    def state(self) -> dict[str, Any]:
        """Return the counts that are not 0."""
        return {"resets": {name: count for name, count in self.resets.items() if count}}

    def restore(self, state: Mapping[str, Any]) -> None:
        require_fields(type(self).__name__, state, self.own)
        self.resets = dict.fromkeys(self._parts, 0) | state["resets"]


def _share(array: NDArray[Any], turn: int) -> NDArray[Any]:
    """Return the share of an array that is inspected in this turn."""
    if array.size <= AT_ONCE:
        return array
    first = turn % -(-array.size // AT_ONCE) * AT_ONCE
    return array.reshape(-1)[first : first + AT_ONCE]
