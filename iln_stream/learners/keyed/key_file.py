"""States of keys in an SQLite file, of which the most recently used are in memory."""

import os
import sqlite3
import struct
import threading
import zlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from time import sleep
from typing import NamedTuple, TypeVar
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import StateError
from iln_stream.files import check_database
from iln_stream.learners.keyed.store import (
    Captured,
    Names,
    Row,
    Rows,
    key_state_from_bytes,
    key_states_to_bytes,
    spread_over,
)
from iln_stream.state import StateDict, StateSchema

Result = TypeVar("Result")

KEYS_FILE = "keys.db"
"""Name of the file in a folder of snapshots."""

_TABLES = """
CREATE TABLE IF NOT EXISTS keys (
    key BLOB NOT NULL, generation INTEGER NOT NULL, state BLOB NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS states_of_key ON keys (key, generation);
CREATE INDEX IF NOT EXISTS ends ON keys (generation) WHERE length(state) = 8;
CREATE TABLE IF NOT EXISTS claim (run INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS origin (
    identity TEXT NOT NULL, generation INTEGER NOT NULL, transactions INTEGER NOT NULL
);
INSERT INTO origin SELECT hex(randomblob(8)), 0, 0 WHERE NOT EXISTS (SELECT 1 FROM origin);
"""
"""In `origin`, which files of release 0.2.0 lack: the newest generation that is stored completely,
and the number of transactions, so that each one writes the page: if a write-ahead log has lost its
end, the generation is too old, whatever was moved to the file.

A key that is forgotten has an *end*: a state of nothing but its checksum, which is no longer than
that. Earlier releases refuse such a file: the number of keys is another one."""

_LOG_HEAD, _FRAME_HEAD = struct.Struct(">8xI4x8s8x"), struct.Struct(">4xI8s8x")
"""Of SQLite's write-ahead log, and of each page in it: https://www.sqlite.org/walformat.html."""

_LOOKS_AT_LOG = 5

_HEAD = struct.Struct("<4sI")
_MAGIC = bytes(255 - byte for byte in b"ilnk")
"""Begins a state with its checksum; every bit differs from the begin of one of release 0.2.0, which
has none."""

_REMEDY = (
    "put back a copy of the whole folder, or delete the file and learn the log again with "
    "`iln-stream rebuild`"
)

_AT_ONCE = 4096
"""States that one statement writes. A statement for each would compete for the interpreter's lock
with the learning thread 4,096 times, and wait for it up to 5 ms each time."""

_LOOKED_AT = 1024
"""States that are looked at after a checkpoint for keys to be forgotten, beside two for each that
was written: as many new keys as ever, forgotten ones will not be more than those that are kept."""

_JOURNAL_PAGES = 16_384
"""Pages of 4 KiB in the write-ahead log before they are moved to the file. A page has the states of
several keys, and the next checkpoints mostly write it again: with the default, 1,000, writing a
state takes a fifth longer."""

_PLACE_BITS, _KEY_BITS = 30, 22
"""Of a number in the list of places: where a key begins in the blob, from 1, and its length; the
rest is the length of its state, which follows, in units of 8 bytes. `_AT_ONCE` keys of
`LONGEST_KEY` fit."""

_PLACE = f"(value & {(1 << _PLACE_BITS) - 1})"
_KEY_LENGTH = f"(value >> {_PLACE_BITS} & {(1 << _KEY_BITS) - 1})"
_STATE_LENGTH = f"(value >> {_PLACE_BITS + _KEY_BITS} << 3)"

_WHICH = f"""
    SELECT
        substr(?1, {_PLACE}, {_KEY_LENGTH}) AS key,
        substr(?1, {_PLACE} + {_KEY_LENGTH}, {_STATE_LENGTH}) AS state
    FROM json_each(?2)
"""  # noqa: S608
"""The keys and states in one blob, ?1, by their places in it, ?2, a list of numbers in JSON: lists
of lists would take SQLite three times as long."""

_REMOVE = f"""
DELETE FROM keys WHERE rowid IN (
    SELECT old.rowid FROM ({_WHICH}) AS new CROSS JOIN keys AS old ON old.key = new.key AND (
        old.generation = ?3 OR old.generation < (
            SELECT max(generation) FROM keys WHERE key = new.key AND generation <= ?4
        )
    )
)
"""  # noqa: S608
_INSERT = f"INSERT INTO keys SELECT key, ?3, state FROM ({_WHICH})"  # noqa: S608

_REMOVE_ENDED = """
DELETE FROM keys WHERE rowid IN (
    SELECT old.rowid FROM keys AS ended CROSS JOIN keys AS old
    ON old.key = ended.key AND old.generation <= ended.generation
    WHERE length(ended.state) = 8 AND ended.generation <= ?
)
"""

_COUNT = """
SELECT (
    SELECT count(DISTINCT key) FROM keys INDEXED BY states_of_key
    WHERE generation > ?1 AND generation <= ?2
) - (
    SELECT count(*) FROM keys AS ended
    WHERE length(state) = 8 AND generation > ?1 AND generation <= ?2 AND NOT EXISTS (
        SELECT 1 FROM keys WHERE key = ended.key AND generation > ended.generation
        AND generation <= ?2
    )
)
"""


class KeyFile:
    """States of keys by key and *generation*: the number of the checkpoint that they belong to.

    A state that is written between checkpoint g and the next one has generation g + 1. A run that
    resumes from checkpoint g removes all later ones, so that it reads each key as it was then, and
    learns nothing twice. Generations that no kept snapshot needs are removed when their key is
    written again.

    One thread reads, another one writes.

    Parameters
    ----------
    path
        The file; created if need be.
    run
        Number of the run, greater than those before: only the latest run that opened the file
        writes to it. None: to read only.
    must_exist
        Do not create it. To read only, it always must.

    Raises
    ------
    StateError
        When the file can't be opened, is no such file, or its structure is damaged.

    Attributes
    ----------
    identity : str
        Drawn when the file was created, if it is not to read only.
    n_transactions : int
        Those that the file has had so far, as far as this writer knows: an older copy has fewer.

    """

    def __init__(self, path: Path, run: int | None = None, must_exist: bool = False) -> None:
        self.path = path
        self.identity, self.n_transactions = "", 0
        self._run = run
        self._turn = threading.Lock()  # of the connection that writes
        if (run is None or must_exist) and not path.exists():
            raise StateError(
                f"the keys' states are in {path}, which is not there: copy it, too, or learn the "
                "log again with `iln-stream rebuild`"
            )
        self._attempt(lambda: check_database(path))
        self._reader = self._attempt(lambda: self._connected(readonly=run is None))
        self._writer = self._reader
        self._attempt(self._look_for_damage)
        self._attempt(self._check_log)
        if run is not None:
            self._attempt(self._prepare)
            self._writer = self._attempt(self._connected)

    def _connected(self, readonly: bool = False) -> sqlite3.Connection:
        mode = "?mode=ro" if readonly else ""
        connection = sqlite3.connect(
            f"file:{quote(str(self.path.absolute()))}{mode}", uri=True, isolation_level=None,
            check_same_thread=False, timeout=60.0, cached_statements=64,
        )  # fmt: skip
        connection.execute("PRAGMA cache_size = -16384")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_JOURNAL_PAGES}")
        return connection

    def _look_for_damage(self) -> None:
        """Refuse another file, and one in which keys may not be found: 4 µs for each key."""
        (found,) = self._reader.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(" ".join(found.split()))

    def _check_log(self) -> None:
        """Refuse an older copy of the file, over which SQLite would put the log's pages.

        It looks again in between: another process may just have emptied the log.
        """
        for _ in range(_LOOKS_AT_LOG):
            now = 0
            with suppress(sqlite3.OperationalError):  # a file of release 0.2.0 does not count them
                (now,) = self._reader.execute("SELECT transactions FROM origin").fetchone()
            log = _write_ahead_log(self.path)
            if log is None or sum(log) >= now:
                return
            sleep(0.05)
        raise StateError(
            f"{self.path} is an older copy, to which its write-ahead log, "
            f"{self.path.name}-wal, does not belong; {_REMEDY}"
        )

    def _prepare(self) -> None:
        self._reader.execute("PRAGMA journal_mode = WAL")
        self._reader.executescript(_TABLES)
        self._reader.execute("BEGIN IMMEDIATE")
        self._reader.execute("DELETE FROM claim")
        self._reader.execute("INSERT INTO claim VALUES (?)", (self._run,))
        self._reader.execute("UPDATE origin SET transactions = transactions + 1")
        self._reader.execute("COMMIT")
        self.identity, self.n_transactions = self._reader.execute(
            "SELECT identity, transactions FROM origin"
        ).fetchone()

    def check(self, stored: "Stored", *, whole: bool = True) -> None:
        """Refuse a file that is not the one of a snapshot, or has lost keys.

        If it need not be `whole`, a run may write the last states only now, and keys are not
        counted, which takes as long as to read them.

        Raises
        ------
        StateError
            When the file has not all states of the snapshot.

        """
        until = stored.generation if whole else stored.since
        # A snapshot of release 0.2.0 names no file.
        is_ours = stored.file is None or self._attempt(
            lambda: self._reader.execute(
                "SELECT 1 FROM origin WHERE identity = ? AND generation >= ? AND transactions >= ?",
                (stored.file, until, stored.transactions),
            ).fetchone()
        )
        if not is_ours:
            raise StateError(
                f"{self.path} lacks the keys' states of the snapshot: it is another file, or an "
                f"older copy; {_REMEDY}"
            )
        if not whole:
            return
        within = stored.since, until
        n = self._attempt(lambda: self._reader.execute(_COUNT, within).fetchone()[0])
        if n != stored.n_keys:
            raise StateError(
                f"{self.path} has the states of {n:,} keys, and the snapshot has "
                f"{stored.n_keys:,} keys: states are lost; {_REMEDY}"
            )

    def newest(self) -> int:
        """Return the newest generation; 0 if there is none."""
        return self._attempt(
            lambda: self._reader.execute(
                "SELECT max(generation) FROM keys INDEXED BY states_of_key"
            ).fetchone()[0]
        ) or 0  # fmt: skip

    def remove_after(self, generation: int) -> None:
        """Remove the states of later generations: of checkpoints that were never completed."""

        def remove() -> None:
            self._writer.execute(
                "DELETE FROM keys WHERE rowid IN (SELECT rowid FROM keys INDEXED BY states_of_key "
                "WHERE generation > ?)", (generation,),
            )  # fmt: skip
            self._writer.execute("UPDATE origin SET generation = ?", (generation,))

        self._in_transaction(remove)

    def remove_until(self, generation: int) -> None:
        """Remove the states of a generation and all before: of a learner that began anew."""
        self._in_transaction(
            lambda: self._writer.execute(
                "DELETE FROM keys WHERE rowid IN (SELECT rowid FROM keys INDEXED BY states_of_key "
                "WHERE generation <= ?)", (generation,),
            )
        )  # fmt: skip

    def read(self, key: str, after: int, until: int, size: int | None = None) -> Row | None:
        """Return the latest state of a key, of generations in (after, until]; None: none.

        `size` is the number of numbers in it; None: it is a model's.
        """
        encoded = _encoded(key)
        found = self._attempt(
            lambda: self._reader.execute(
                "SELECT generation, state FROM keys WHERE key = ? AND generation > ? AND "
                "generation <= ? ORDER BY generation DESC LIMIT 1",
                (encoded, after, until),
            ).fetchone()
        )
        return None if found is None else self._state(encoded, found[0], found[1], size)

    def _state(self, key: bytes, generation: int, state: bytes, size: int | None) -> Row | None:
        """Return a state of a key from its bytes; None: it is the key's end."""
        try:
            if state.startswith(_MAGIC):
                head, state = state[: _HEAD.size], state[_HEAD.size :]
                if head != _head(key, generation, state):
                    raise StateError("its checksum is not that of its contents")
                if not state:
                    return None
            return key_state_from_bytes(state, size)
        except StateError as error:
            name = key.decode("utf-8", "surrogatepass")
            raise StateError(
                f"the state of key {name!r} in {self.path} is damaged: {error}; {_REMEDY}"
            ) from error

    def keys(self) -> list[str]:
        """Return all keys, as far as they have a state of any generation."""
        found = self._attempt(
            lambda: self._reader.execute("SELECT DISTINCT key FROM keys").fetchall()
        )
        return [key.decode("utf-8", "surrogatepass") for (key,) in found]

    def write(self, states: Mapping[str, Row], generation: int, needed: int, durably: bool) -> None:
        """Store states; remove those before the latest one up to generation `needed`.

        Parameters
        ----------
        states
            By key; they must not change meanwhile. An empty one ends its key.
        generation
            Theirs.
        needed
            The oldest generation that a kept snapshot may need.
        durably
            Whether they, and all written before, must outlast a crash of the machine when this
            returns.

        """

        def write() -> None:
            items = iter(states.items())
            while rows := list(islice(items, _AT_ONCE)):
                blob, places = _packed(rows, generation)
                self._writer.execute(_REMOVE, (blob, places, generation, needed))
                self._writer.execute(_INSERT, (blob, places, generation))
            if durably:  # the last states of a checkpoint
                self._writer.execute("UPDATE origin SET generation = ?", (generation,))

        self._in_transaction(write, durably)

    def forgotten(
        self,
        forgets: Callable[[Row], bool],
        size: int,
        after: int,
        needed: int,
        begin: int,
        most: int,
    ) -> tuple[set[str], int]:
        """Remove ended keys, and look for some that may end.

        Parameters
        ----------
        forgets
            Whether a state counts as none.
        size, after, needed
            As in `read` and `write`.
        begin, most
            The number after which to look, and how many states.

        Returns
        -------
        keys, end
            Keys whose latest state counts as none, and the number after which to look next.

        """
        found: set[str] = set()
        end, n = 0, 0

        def look() -> None:
            nonlocal end, n
            execute = self._writer.execute
            execute(_REMOVE_ENDED, (needed,))
            for place, key, generation, state in execute(
                "SELECT rowid, key, generation, state FROM keys WHERE rowid > ? ORDER BY rowid "
                "LIMIT ?", (begin, most),
            ):  # fmt: skip
                end, n = place, n + 1
                row = None if generation <= after else self._state(key, generation, state, size)
                if row is not None and forgets(row):
                    newest = execute("SELECT max(generation) FROM keys WHERE key = ?", (key,))
                    if newest.fetchone() == (generation,):
                        found.add(key.decode("utf-8", "surrogatepass"))

        self._in_transaction(look)
        return found, end if n == most else 0

    def close(self) -> None:
        with self._turn:
            for connection in {self._reader, self._writer}:
                connection.close()

    def _in_transaction(self, action: Callable[[], object], durably: bool = False) -> None:
        with self._turn:
            self._attempt(lambda: self._committed(action, durably))

    def _committed(self, action: Callable[[], object], durably: bool) -> None:
        writer = self._writer
        writer.execute(f"PRAGMA synchronous = {'FULL' if durably else 'NORMAL'}")
        writer.execute("BEGIN IMMEDIATE")
        try:
            (run,) = writer.execute("SELECT run FROM claim").fetchone()
            if run != self._run:
                raise StateError(f"{self.path} now belongs to a later run, {run}: stop this one")
            action()
            writer.execute("UPDATE origin SET transactions = transactions + 1")
        except BaseException:
            writer.execute("ROLLBACK")
            raise
        writer.execute("COMMIT")
        self.n_transactions += 1

    def _attempt(self, action: Callable[[], Result]) -> Result:
        try:
            return action()
        # A message may quote damaged text, and damaged tables have no rows, or of other types.
        except (sqlite3.Error, OSError, UnicodeDecodeError, TypeError) as error:
            raise StateError(
                f"the keys' states in {self.path} can't be read or written: {error}; mend that, or "
                f"{_REMEDY}"
            ) from error


def _write_ahead_log(path: Path) -> tuple[int, int] | None:
    """Return how many transactions are in the file without its log, and how many in the log.

    None: there is no log, or the file does not count them.
    """
    log = path.with_name(f"{path.name}-wal")
    if not (path.is_file() and log.is_file() and log.stat().st_size > _LOG_HEAD.size):
        return None
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as alone:
        try:
            (before,) = alone.execute("SELECT transactions FROM origin").fetchone()
        except sqlite3.Error:  # a new file, or a damaged one, which is refused later
            return None
    n = 0
    with log.open("rb") as file:
        page_size, salts = _LOG_HEAD.unpack(file.read(_LOG_HEAD.size))
        while len(head := file.read(_FRAME_HEAD.size)) == _FRAME_HEAD.size:
            n_pages, salts_of_frame = _FRAME_HEAD.unpack(head)
            if salts_of_frame != salts:  # left over from before the log was last emptied
                break
            n += n_pages > 0  # only in the last frame of a transaction
            file.seek(page_size, os.SEEK_CUR)
    return before, n


def _encoded(key: str) -> bytes:
    """Return a key's bytes; a record's key may be bytes that are not UTF-8, as surrogates."""
    return key.encode("utf-8", "surrogatepass")


def _head(key: bytes, generation: int, state: bytes) -> bytes:
    """Return what precedes the state of a key in the file."""
    return _HEAD.pack(_MAGIC, zlib.crc32(state, zlib.crc32(key, generation)))


def _packed(rows: Sequence[tuple[str, Row]], generation: int) -> tuple[bytes, str]:
    """Return keys and states in one blob, and where they are: see `_WHICH`."""
    parts: list[bytes] = []
    places: list[int] = []
    at = 1
    states = iter(key_states_to_bytes([row for _, row in rows if len(row)]))
    for name, row in rows:
        key, state = _encoded(name), next(states) if len(row) else b""
        parts += key, _head(key, generation, state), state
        size = _HEAD.size + len(state)
        places.append(at | len(key) << _PLACE_BITS | size >> 3 << _PLACE_BITS + _KEY_BITS)
        at += len(key) + size
    return b"".join(parts), str(places)


STORED = StateSchema(
    "iln_stream.StoredKeys",
    3,
    {1: lambda state: {**state, "file": None}, 2: lambda state: {**state, "transactions": 0}},
)


class Stored(NamedTuple):
    """What a snapshot says of the keys in its file: see `StoredKeys.state`.

    It has their states of the generations in (since, generation].
    """

    file: str | None
    since: int
    generation: int
    n_keys: int
    transactions: int

    @classmethod
    def of(cls, state: StateDict) -> "Stored":
        """Return what a state says."""
        return cls(*STORED.read(state, *cls._fields))


_WRITTEN_AT_ONCE = 1024
"""Evicted states that are written together."""

_MOST_WAITING = 8
"""Groups of evicted states that may wait to be written; then the learner waits."""

_END = np.zeros(0)
"""In place of the state of a key that is forgotten."""


class StoredKeys:
    """Keys in memory, as many as fit, in front of a `KeyFile` with all of them.

    A key that has not been used lately makes room for another one (by the clock algorithm, an
    approximation of least recently used). What it learned since the last checkpoint is written
    under the generation of the next one: if the run is killed before that, the next run removes it,
    and learns those events again.

    A checkpoint takes `state`, which has the generation, for its snapshot; then `capture`, which
    notes the states that changed since the last checkpoint and returns the function that copies and
    writes them (see `Captured`); it calls that one, writes the snapshot, and calls `stored`.

    After it has written, the thread looks for keys that are forgotten. At the next checkpoint those
    that have not changed meanwhile end, in the generation after it.

    Parameters
    ----------
    file
        The states of all keys.
    size
        Numbers in a state.
    most_live
        The most keys in memory.
    keep
        Number of snapshots that are kept, each of which the learner may resume from.
    state
        Of the checkpoint to resume from, as `state` returned it; None: no key has a state.
    """

    def __init__(
        self,
        file: KeyFile,
        size: int,
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
            stored = Stored.of(state)
            file.check(stored)
            self._since, self._generation = stored.since, stored.generation
            self._n_keys = stored.n_keys
            file.remove_after(self._generation)
        self._rows = Rows(size)
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
        self.forgets: Callable[[Row], bool] | None = None
        self._old: set[str] = set()  # may end, and have not changed in the file
        self._looked, self._n_written = 0, 0
        self._free: list[int] = []  # places of keys that ended
        self.n_evicted = self.n_forgotten = 0

    def __len__(self) -> int:
        return self._n_keys

    @property
    def n_live(self) -> int:
        return len(self._slots)

    def get(self, key: str) -> Row | None:
        slot = self._slots.get(key)
        if slot is None:
            row = self._fetch(key)
            if row is None:
                return None
            slot = self._admit(key, row)
        self._used[slot] = 1
        return self._rows[slot]

    def to_learn(self, key: str) -> Row:
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
            return self._file.read(key, self._since, self._generation + 1, self._rows.size)
        return row if len(row) else None

    def _admit(self, key: str, row: Row | None) -> int:
        """Give a key a place in memory, and its state; None: that of no events."""
        if self._free:
            self._names[slot := self._free.pop()] = key
        elif len(self._names) < self._most:
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
            changed = copied()
            self._file.write(changed, generation, needed, durably)
            # A new set, before they leave `states`: see `_end_old`.
            self._old = {key for key in self._old if key not in changed}
            self._n_written += len(changed)
            if durably and self.forgets is not None:
                self._old, self._looked = self._file.forgotten(
                    self.forgets, self._rows.size, self._since, needed, self._looked,
                    _LOOKED_AT + 2 * self._n_written,
                )  # fmt: skip
                self._n_written = 0
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
        self._end_old()
        return written.result

    def _end_old(self) -> None:
        """End forgotten keys, in the next generation, unless they have changed."""
        for key in self._old:
            slot = self._slots.get(key)
            if slot is not None:
                if self.forgets is None or not self.forgets(self._rows[slot]):
                    continue
                if self._captured.waiting[slot]:
                    self._captured.save(slot)
                del self._slots[key]
                self._free.append(slot)
            elif any(key in states for states, _ in self._waiting) or key not in self._old:
                continue  # it changed, and is written now, or was a moment ago
            self._evicted[key] = _END
            self._n_keys -= 1
            self.n_forgotten += 1

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
            n_keys=self._n_keys, transactions=self._file.n_transactions,
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

    `state` is what `StoredKeys.state` returned.
    """

    n_live = 0

    def __init__(self, state: StateDict) -> None:
        self.stored = state
        self.forgets: Callable[[Row], bool] | None = None
        self.n_evicted = self.n_forgotten = 0

    def __len__(self) -> int:
        return Stored.of(self.stored).n_keys

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
        return self.stored

    def restore(self, state: StateDict) -> None:
        self.stored = state

    def _error(self) -> StateError:
        return StateError(
            "the states of the keys are in the file keys.db beside the snapshots, which this "
            "learner was restored without: use iln_stream.load"
        )


class KeysToRead(KeysElsewhere):
    """The keys of a snapshot, read from the file one by one, to predict with.

    The state is of the snapshot, or of what the run published; a key's state has `size` numbers.

    Raises
    ------
    StateError
        When the file has not all states, or is another one.

    """

    _whole = True

    def __init__(self, file: KeyFile, state: StateDict, size: int) -> None:
        super().__init__(state)
        self._file, self._size = file, size
        stored = Stored.of(state)
        file.check(stored, whole=self._whole)
        self._since = stored.since
        self._until = stored.generation if self._whole else _NEWEST

    def get(self, key: str) -> Row | None:
        """Return the state of a key; None: it has none."""
        return self._file.read(key, self._since, self._until, self._size)

    def _error(self) -> StateError:
        return StateError("a learner by key that was loaded from a snapshot only predicts")


class NewestKeys(KeysToRead):
    """The newest stored states of keys, which a run may be writing; an older copy is refused."""

    _whole = False

    @property
    def written_at(self) -> float:
        """When the file was last written, in POSIX seconds."""
        path = self._file.path
        files = (path, path.with_name(f"{path.name}-wal"))
        return max(each.stat().st_mtime for each in files if each.exists())


_NEWEST = 2**62
"""A generation after all others."""
