"""Where the states of keys are: in memory."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from iln_stream.keyed.row import Row, new_row
from iln_stream.state import StateDict, StateSchema

_SCHEMA = StateSchema("iln_stream.KeysInMemory", 1)

CHUNK = 4096
"""Rows that are allocated at once: rows never move, and no growth copies all of them."""


class KeyStore(Protocol):
    """The states of keys, by key.

    Attributes
    ----------
    n_live, n_evicted, n_loaded : int
        Keys in memory; keys that left it so far; keys that came from a file.

    """

    @property
    def n_live(self) -> int:
        """Number of keys in memory."""
        ...

    n_evicted: int
    n_loaded: int

    def __len__(self) -> int:
        """Return the number of keys."""
        ...

    def get(self, key: str) -> Row | None:
        """Return the state of a key, to read only; None: it has none."""
        ...

    def to_learn(self, key: str) -> Row:
        """Return the state of a key, to be changed in place; a new key gets one."""
        ...

    def sample(self, n: int) -> NDArray[np.float64]:
        """Return copies of the states of at most n keys, as rows, for metrics."""
        ...

    def state(self) -> StateDict:
        """Return the states, or where they are stored."""
        ...

    def restore(self, state: StateDict) -> None:
        """Go on from a state."""
        ...


class Rows:
    """Rows in chunks, by number.

    Parameters
    ----------
    slopes
        The most inputs that have a slope of a key's own.

    """

    def __init__(self, slopes: int) -> None:
        self.size = len(new_row(slopes))
        self._chunks: list[NDArray[np.float64]] = []

    def __getitem__(self, slot: int) -> Row:
        row: Row = self._chunks[slot // CHUNK][slot % CHUNK]
        return row

    def make_room(self, slot: int) -> None:
        """Allocate up to a number."""
        while slot >= CHUNK * len(self._chunks):
            self._chunks.append(np.zeros((CHUNK, self.size)))

    def copied(self, slots: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return copies of rows, in this order."""
        found = np.empty((len(slots), self.size))
        chunks, places = np.divmod(slots, CHUNK)
        for chunk in np.unique(chunks):
            ours = np.flatnonzero(chunks == chunk)
            found[ours] = self._chunks[chunk][places[ours]]
        return found


class Names:
    """Keys by number, in chunks that collections of garbage do not visit, as they would a list.

    To visit a million takes 40 ms, for which the learning thread would wait.
    """

    def __init__(self) -> None:
        self._chunks: list[NDArray[np.object_]] = []
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, slot: int) -> str:
        name: str = self._chunks[slot // CHUNK][slot % CHUNK]
        return name

    def __setitem__(self, slot: int, name: str) -> None:
        self._chunks[slot // CHUNK][slot % CHUNK] = name

    def append(self, name: str) -> None:
        """Add a key under the next number."""
        if self._n == CHUNK * len(self._chunks):
            self._chunks.append(np.empty(CHUNK, np.object_))
        self._n += 1
        self[self._n - 1] = name


class KeysInMemory:
    """All keys' states in memory; its own state holds all of them.

    Parameters
    ----------
    slopes
        The most inputs that have a slope of a key's own.

    """

    def __init__(self, slopes: int) -> None:
        self._slots: dict[str, int] = {}
        self._rows = Rows(slopes)
        self.n_evicted = self.n_loaded = 0

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def n_live(self) -> int:
        """Number of keys in memory: all."""
        return len(self._slots)

    def get(self, key: str) -> Row | None:
        """Return the state of a key; None: it has none."""
        slot = self._slots.get(key)
        return None if slot is None else self._rows[slot]

    def to_learn(self, key: str) -> Row:
        """Return the state of a key, to be changed in place; a new key gets one."""
        slot = self._slots.get(key)
        if slot is None:
            slot = len(self._slots)
            self._rows.make_room(slot)
            self._slots[key] = slot
        return self._rows[slot]

    def sample(self, n: int) -> NDArray[np.float64]:
        """Return copies of the states of at most n keys, spread over all."""
        return self._rows.copied(spread_over(len(self._slots), n))

    def state(self) -> StateDict:
        """Return all keys and their states."""
        rows = self._rows.copied(np.arange(len(self._slots)))
        return _SCHEMA.write(keys=list(self._slots), rows=rows)

    def restore(self, state: StateDict) -> None:
        """Go on from a state."""
        keys, rows = _SCHEMA.read(state, "keys", "rows")
        self._slots, self._rows = {}, Rows(0)
        self._rows.size = rows.shape[1]
        for key, row in zip(keys, rows, strict=True):
            self.to_learn(key)[:] = row


def spread_over(n: int, most: int) -> NDArray[np.intp]:
    """Return at most this many of the numbers below n, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp)) if n else np.arange(0)
