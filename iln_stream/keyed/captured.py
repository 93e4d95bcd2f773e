"""The states of keys as of a checkpoint, copied while the keys go on learning."""

import threading

import numpy as np

from iln_stream.keyed.row import Row
from iln_stream.keyed.store import Names, Rows

_AT_ONCE = 64
"""States that are copied at once: for so long the learning thread may have to wait."""


class Captured:
    """Copies of states that another thread makes, and the learning thread where it is earlier.

    To copy all at the checkpoint would take the learning thread a microsecond or two for each.

    Parameters
    ----------
    rows, names
        The states in memory, and the keys that they are of.
    changed
        By place in memory, whether the state there belongs to the checkpoint. It is this object's
        from now on, and says which are not copied yet.
    evicted
        States that belong to the checkpoint and are not in memory.

    Attributes
    ----------
    states : dict
        The copies so far, by key.

    """

    def __init__(
        self, rows: Rows, names: Names, changed: bytearray, evicted: dict[str, Row]
    ) -> None:
        self.states = evicted
        self.waiting = changed
        self._rows = rows
        self._names = names
        self._slots = np.flatnonzero(np.frombuffer(changed, np.uint8))
        self._turn = threading.Lock()

    def save(self, slot: int) -> None:
        """Copy the state of a place before it changes, or another key gets the place."""
        with self._turn:
            self._copy(slot)

    def complete(self) -> dict[str, Row]:
        """Copy all that are not copied yet, and return the states; the thread that writes calls."""
        slots = self._slots
        for start in range(0, len(slots), _AT_ONCE):
            with self._turn:
                for slot in slots[start : start + _AT_ONCE].tolist():
                    self._copy(slot)
        self._slots = slots[:0]  # to look at a million again takes a quarter of a second
        return self.states

    def _copy(self, slot: int) -> None:
        if self.waiting[slot]:
            self.states[self._names[slot]] = self._rows[slot].copy()
            self.waiting[slot] = 0
