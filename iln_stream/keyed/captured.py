"""The states of keys as of a checkpoint, copied while the keys go on learning."""

import numpy as np

from iln_stream.keyed.row import Row
from iln_stream.keyed.store import Names, Rows

_BLOCK = 1024
"""Copies that are allocated, and freed, at once. The next allocation after a million that were
freed one by one would have to look at each of them, for 85 ms."""


class Captured:
    """Copies of states that another thread makes, and the learning thread where it is earlier.

    To copy all at the checkpoint would take the learning thread a microsecond or two for each. No
    lock is held: a thread that takes a lock again and again keeps others from it, for 60 ms here.
    Instead, the learning thread stores its copy before it clears the flag of the place, and the
    other thread drops a copy during which the flag was cleared.

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
        self._saved = _Copies(rows.size)
        self._slots = np.flatnonzero(np.frombuffer(changed, np.uint8))

    def save(self, slot: int) -> None:
        """Copy the state of a place before it changes, or another key gets the place.

        The learning thread calls it, for places that are waiting.
        """
        self.states.setdefault(self._names[slot], self._saved.of(self._rows[slot]))
        self.waiting[slot] = 0

    def complete(self) -> dict[str, Row]:
        """Copy all that are not copied yet, and return the states; the thread that writes calls."""
        waiting, states, names, rows = self.waiting, self.states, self._names, self._rows
        copied = _Copies(rows.size).of
        for slot in map(int, self._slots):  # a list of a million would take 20 ms
            if not waiting[slot]:
                continue
            name, row = names[slot], copied(rows[slot])
            if waiting[slot]:  # neither has changed meanwhile
                states.setdefault(name, row)
                waiting[slot] = 0
        self._slots = self._slots[:0]  # to look at a million again takes a quarter of a second
        return states


class _Copies:
    """Copies of rows in blocks."""

    def __init__(self, size: int) -> None:
        self._block = np.empty((0, size))
        self._n = 0

    def of(self, row: Row) -> Row:
        """Return a copy of a row."""
        if self._n == len(self._block):
            self._block, self._n = np.empty((_BLOCK, self._block.shape[1])), 0
        copied: Row = self._block[self._n]
        self._n += 1
        copied[:] = row
        return copied
