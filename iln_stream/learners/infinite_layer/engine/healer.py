"""Parts that heal: what is not finite is found, reinitialised, counted and warned of."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import IlnWarning
from iln_stream.learners.infinite_layer.part import Part, require_fields
from iln_stream.state import all_finite

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
    of each; which share is a function of the number of events.

    Parameters
    ----------
    parts
        The parts by name, those that others are reinitialised from first.

    Attributes
    ----------
    resets : dict
        How often each part was reinitialised.

    """

    own = ("resets",)

    def __init__(self, parts: Mapping[str, Part]) -> None:
        self._parts = dict(parts)
        self.resets = dict.fromkeys(self._parts, 0)
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
        """Resume from a state that `state` returned."""
        require_fields(type(self).__name__, state, self.own)
        self.resets = dict.fromkeys(self._parts, 0) | state["resets"]


def _share(array: NDArray[Any], turn: int) -> NDArray[Any]:
    """Return the share of an array that is inspected in this turn."""
    if array.size <= AT_ONCE:
        return array
    first = turn % -(-array.size // AT_ONCE) * AT_ONCE
    return array.reshape(-1)[first : first + AT_ONCE]
