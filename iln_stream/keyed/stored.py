"""Keys of which the most recently used are in memory, and all in a file."""

from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import StateError
from iln_stream.keyed.captured import Captured
from iln_stream.keyed.key_file import KeyFile
from iln_stream.keyed.row import Row
from iln_stream.keyed.store import Names, Rows, spread_over
from iln_stream.state import StateDict, StateSchema

STORED = StateSchema("iln_stream.StoredKeys", 2, {1: lambda state: {**state, "file": None}})

_WRITTEN_AT_ONCE = 1024
"""Evicted states that are written together."""

_MOST_WAITING = 8
"""Groups of evicted states that may wait to be written; then the learner waits."""


class StoredKeys:
    """Keys in memory, as many as fit, in front of a `KeyFile` with all of them.

    A key that has not been used lately makes room for another one (by the clock algorithm, an
    approximation of least recently used). What it learned since the last checkpoint is written
    under the generation of the next one: if the run is killed before that, the next run removes it,
    and learns those events again.

    A checkpoint takes `state`, which has the generation, for its snapshot; then `capture`, which
    notes the states that changed since the last checkpoint and returns the function that copies and
    writes them (see `Captured`); it calls that one, writes the snapshot, and calls `stored`.

    Parameters
    ----------
    file
        The states of all keys.
    slopes
        The most inputs that have a slope of a key's own.
    most_live
        The most keys in memory.
    keep
        Number of snapshots that are kept, each of which the learner may resume from.
    state
        Of the checkpoint to resume from, as `state` returned it; None: no key has a state.

    Attributes
    ----------
    n_evicted, n_loaded : int
        Keys that made room for others, and keys that were read from the file.

    """

    def __init__(
        self,
        file: KeyFile,
        slopes: int,
        most_live: int,
        keep: int = 1,
        state: StateDict | None = None,
    ) -> None:
        self._file = file
        self._most = most_live
        self._keep = keep
        if state is None:
            # Keys of an earlier learner stay until no snapshot is left that needs them.
            self._since = self._generation = file.newest()
            self._n_keys = 0
        else:
            identity, self._since, self._generation, self._n_keys = _read(state)
            file.check(identity, self._since, self._generation, self._n_keys)
            file.remove_after(self._generation)
        self._rows = Rows(slopes)
        self._slots: dict[str, int] = {}
        self._names = Names()
        self._used, self._changed = bytearray(), bytearray()
        self._captured = Captured(self._rows, self._names, bytearray(), {})
        self._hand = 0
        self._evicted: dict[str, Row] = {}  # changed, and not yet handed to the thread that writes
        self._waiting: deque[tuple[Mapping[str, Row], Future[None]]] = deque()
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="keys")
        self._kept: deque[int] = deque([] if state is None else [self._generation], maxlen=keep)
        self._needed = 0
        self._began_anew = self._since > 0
        self.n_evicted = self.n_loaded = 0

    def __len__(self) -> int:
        return self._n_keys

    @property
    def n_live(self) -> int:
        """Number of keys in memory."""
        return len(self._slots)

    def get(self, key: str) -> Row | None:
        """Return the state of a key, to read only; None: it has none."""
        slot = self._slots.get(key)
        if slot is None:
            row = self._fetch(key)
            if row is None:
                return None
            slot = self._admit(key, row)
        self._used[slot] = 1
        return self._rows[slot]

    def to_learn(self, key: str) -> Row:
        """Return the state of a key, to be changed in place; a new key gets one."""
        slot = self._slots.get(key)
        if slot is None:
            row = self._fetch(key)
            self._n_keys += row is None
            slot = self._admit(key, row)
        if self._captured.waiting[slot]:
            self._captured.save(slot)
        self._used[slot] = self._changed[slot] = 1
        return self._rows[slot]

    def _fetch(self, key: str) -> Row | None:
        """Return the state of a key that is not in memory; None: it has none."""
        if len(self._slots) == self._n_keys:
            return None
        row = self._evicted.get(key)
        if row is None:
            self._forget_written()
            states = (group.get(key) for group, _ in reversed(self._waiting))
            row = next((state for state in states if state is not None), None)
        if row is None:
            row = self._file.read(key, self._since, self._generation + 1)
        self.n_loaded += row is not None
        return row

    def _admit(self, key: str, row: Row | None) -> int:
        """Give a key a place in memory, and its state; None: that of no events."""
        if len(self._names) < self._most:
            slot = len(self._names)
            self._rows.make_room(slot)
            self._names.append(key)
            for flags in (self._used, self._changed, self._captured.waiting):
                flags.append(0)
        else:
            slot = self._make_room()
            self._names[slot] = key
        # A state that waits to be written as evicted is written with the key's later ones.
        self._changed[slot] = self._evicted.pop(key, None) is not None
        self._slots[key] = slot
        self._rows[slot][:] = 0.0 if row is None else row
        return slot

    def _make_room(self) -> int:
        """Evict a key that has not been used since the hand last passed it."""
        used, hand = self._used, self._hand
        while used[hand]:
            used[hand] = 0
            hand = (hand + 1) % self._most
        self._hand = (hand + 1) % self._most
        key = self._names[hand]
        del self._slots[key]
        self.n_evicted += 1
        if self._captured.waiting[hand]:
            self._captured.save(hand)
        if self._changed[hand]:
            self._evicted[key] = self._rows[hand].copy()
            if len(self._evicted) >= _WRITTEN_AT_ONCE:
                evicted, self._evicted = self._evicted, {}
                self._write(evicted, lambda: evicted, durably=False)
        return hand

    def _write(
        self, states: dict[str, Row], copied: Callable[[], Mapping[str, Row]], durably: bool
    ) -> Future[None]:
        """Let the thread write states of the next generation, once it has `copied` them.

        They can be read from `states` until they are in the file.
        """
        while len(self._waiting) >= _MOST_WAITING:
            self._waiting.popleft()[1].result()
        generation, needed = self._generation + 1, self._needed

        def write() -> None:
            self._file.write(copied(), generation, needed, durably)
            while states:  # to free many at once would hold up the learning thread
                states.popitem()

        future = self._threads.submit(write)
        self._waiting.append((states, future))
        return future

    def _forget_written(self) -> None:
        """Forget groups that are in the file; raise the error of one that could not be written."""
        while self._waiting and self._waiting[0][1].done():
            self._waiting.popleft()[1].result()

    def capture(self) -> Callable[[], None]:
        """Note what changed since the last checkpoint, and begin the next generation.

        Returns
        -------
        callable
            Returns when the checkpoint's states are stored durably.

        """
        self._forget_written()
        self._captured.complete()  # if the checkpoint before could not be written
        captured = Captured(self._rows, self._names, self._changed, self._evicted)
        self._captured, self._evicted = captured, {}
        self._changed = bytearray(len(self._changed))
        written = self._write(captured.states, captured.complete, durably=True)
        self._generation += 1
        return written.result

    def stored(self) -> None:
        """Note that the snapshot of the last `capture` is stored: older ones may be removed."""
        self._kept.append(self._generation)
        if len(self._kept) == self._keep:
            self._needed = self._kept[0]
            if self._began_anew:
                self._began_anew = False
                self._threads.submit(self._file.remove_until, self._since)

    def sample(self, n: int) -> NDArray[np.float64]:
        """Return copies of the states of at most n keys in memory, spread over these."""
        return self._rows.copied(spread_over(len(self._names), n))

    def state(self) -> StateDict:
        """Return the file, generation and number of keys of a checkpoint that is taken now."""
        return STORED.write(
            file=self._file.identity, since=self._since, generation=self._generation + 1,
            n_keys=self._n_keys,
        )  # fmt: skip

    def restore(self, state: StateDict) -> None:
        """Refuse: a store resumes from the state that it is made with."""
        raise StateError("the keys' states are in a file: make a StoredKeys of it with this state")

    def close(self) -> None:
        """Wait until what was handed over is written, and close the file."""
        self._threads.shutdown()
        self._file.close()


class KeysElsewhere:
    """The keys of a learner that was restored without their file: none can be read.

    Parameters
    ----------
    state
        As `StoredKeys.state` returned it.

    """

    n_live = 0

    def __init__(self, state: StateDict) -> None:
        self.stored = state
        self.n_evicted = self.n_loaded = 0

    def __len__(self) -> int:
        return int(_read(self.stored)[-1])

    def get(self, key: str) -> Row | None:
        """Refuse."""
        raise self._error()

    def to_learn(self, key: str) -> Row:
        """Refuse."""
        raise self._error()

    def sample(self, n: int) -> NDArray[np.float64]:
        """Return no rows."""
        return np.zeros((0, 1))

    def state(self) -> StateDict:
        """Return the state."""
        return self.stored

    def restore(self, state: StateDict) -> None:
        """Go on from a state."""
        self.stored = state

    def _error(self) -> StateError:
        return StateError(
            "the states of the keys are in the file keys.db beside the snapshots, which this "
            "learner was restored without: use iln_stream.load"
        )


class KeysToRead(KeysElsewhere):
    """The keys of a snapshot, read from the file one by one, to predict with.

    Parameters
    ----------
    file
        The states of all keys.
    state
        Of the snapshot.

    """

    def __init__(self, file: KeyFile, state: StateDict) -> None:
        super().__init__(state)
        self._file = file
        identity, self._since, self._generation, n_keys = _read(state)
        file.check(identity, self._since, self._generation, n_keys)

    def get(self, key: str) -> Row | None:
        """Return the state of a key as of the snapshot; None: it had none."""
        return self._file.read(key, self._since, self._generation)

    def _error(self) -> StateError:
        return StateError("a learner by key that was loaded from a snapshot only predicts")


def _read(state: StateDict) -> tuple[str | None, int, int, int]:
    """Return a state's file, the generations after and up to which it has states, and its keys."""
    identity, since, generation, n_keys = STORED.read(
        state, "file", "since", "generation", "n_keys"
    )
    return identity, since, generation, n_keys
