"""The file of an embedded log: its tables, connections, transactions and errors."""

import os
import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from iln_stream.errors import IlnError, LostPlaceError, NoStreamError, SourceError
from iln_stream.files import check_database
from iln_stream.streams.sqlite.wal import damaged_page

VERSION = 1
"""Version of the tables, stored in the file; a release refuses files of newer versions."""

APPLICATION = int.from_bytes(b"ILNL", "big")
"""Marks SQLite files as logs of ours (`PRAGMA application_id`)."""

_TABLES = """
CREATE TABLE topics (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    topic_id TEXT NOT NULL,
    created_at REAL NOT NULL,
    keep_records INTEGER,
    keep_seconds REAL,
    keep_bytes INTEGER
);
CREATE TABLE partitions (
    slot INTEGER PRIMARY KEY,
    topic INTEGER NOT NULL REFERENCES topics (number),
    number INTEGER NOT NULL,
    next_offset INTEGER NOT NULL DEFAULT 0, -- if there are no records
    UNIQUE (topic, number)
);
CREATE TABLE committed (
    topic INTEGER NOT NULL REFERENCES topics (number),
    source TEXT NOT NULL,
    source_id TEXT NOT NULL,
    partition INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    next_offset INTEGER,
    PRIMARY KEY (topic, source, source_id, partition)
) WITHOUT ROWID;
"""

_RECORDS = """
CREATE TABLE records_{slot} (
    offset INTEGER PRIMARY KEY,
    total_bytes INTEGER NOT NULL, -- of the values, this one's included
    timestamp REAL NOT NULL,
    key TEXT,
    id TEXT,
    value BLOB,
    checksum INTEGER -- `checksum_of`; tables that release 0.2.0 created have no such column
);
CREATE UNIQUE INDEX ids_{slot} ON records_{slot} (id) WHERE id IS NOT NULL;
"""


def create_records(connection: sqlite3.Connection, slot: int) -> None:
    """Create the table of a partition's records: one table each, so that each grows at its end.

    An append changes the last page of this table and no other, so a commit writes one page. That is
    why the next offset and the number of bytes are read from the last record.
    """
    _execute(connection, _RECORDS.format(slot=slot))


def _execute(connection: sqlite3.Connection, script: str) -> None:
    # Not executescript, which would commit.
    for statement in script.split(";\n"):
        if statement.strip():
            connection.execute(statement)


_LONGEST_WAIT = 30.0
"""Seconds that a writer waits for other writers; a transaction takes milliseconds."""

_CHECKPOINT_PAGES = 4_000
"""Pages of 4 KB in the write-ahead log after which they move into the file."""

_LOOKS, _NEXT_LOOK = 5, 0.02
"""Times that a write-ahead log is found damaged before it is, and seconds between them."""

_LARGEST_WAL = 64 << 20
"""Bytes to which the write-ahead log is cut after it was longer."""


class Database:
    """One connection to the file; threads that share it take turns.

    Every transaction is durable when it ends: the file is in WAL mode with `synchronous = FULL`, so
    SQLite syncs the write-ahead log to the disk before a commit returns. Readers don't wait for
    writers, and several processes can write, one at a time.

    Do not open the file with `open`: closing it would drop SQLite's locks of the whole process.
    With `create`, a missing file is created, with its folder, and it may be written to. `error` is
    the class of the errors that are raised.

    Raises
    ------
    NoStreamError
        When the file does not exist or is empty, and `create` is False.
    IlnError
        When it can't be opened, or is not a log.

    """

    def __init__(self, path: Path, *, create: bool, error: type[IlnError] = SourceError) -> None:
        self.path = path
        self._error = error
        self._turn = threading.RLock()  # closing during a call in another thread would crash
        if create:
            self._make_folder()
        elif not path.exists():
            raise no_log(path)
        mode = "rwc" if create else "rw"
        with self._translated():
            check_database(path)
            self._check_wal()
            self.connection = sqlite3.connect(
                f"file:{quote(str(path.absolute()))}?mode={mode}",
                uri=True,
                timeout=_LONGEST_WAIT,
                isolation_level=None,  # transactions begin and end where we say so
                check_same_thread=False,
            )
        try:
            with self._translated():
                self._set_up(create)
            self._identity = self._current_identity()
        except BaseException:
            self.connection.close()
            raise

    @property
    def data_version(self) -> int:
        """A number that changes when another connection commits."""
        with self._turn, self._translated():
            return int(self.connection.execute("PRAGMA data_version").fetchone()[0])

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Begin a transaction that sees the file as it is now; keep it short.

        While it lasts, the write-ahead log can't be emptied.
        """
        with self._turn, self._translated():
            self.connection.execute("BEGIN")
            try:
                yield self.connection
            finally:
                self.connection.execute("COMMIT")

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Begin a transaction that no other connection can write during; commit it durably.

        An error undoes it.
        """
        with self._turn, self._translated():
            self._when_free("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.check_same_file()
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    with suppress(sqlite3.Error):
                        self.connection.execute("ROLLBACK")
                raise

    def check_same_file(self) -> None:
        """Raise an error if another file is now at the path, or none."""
        if self._current_identity() != self._identity:
            kind = LostPlaceError if issubclass(self._error, SourceError) else self._error
            raise kind(
                f"{self.path}: the file was moved, deleted or replaced while it was in use. Put it "
                "back; to start with another log, choose another folder of snapshots, or "
                "discard the model in this one, with `iln-stream rebuild --forget`"
            )

    def close(self) -> None:
        with self._turn, self._translated():
            self.connection.close()

    def _check_wal(self) -> None:
        """Refuse a damaged write-ahead log, before SQLite drops what follows the damage."""
        for _ in range(_LOOKS):
            if (page := damaged_page(self.path)) is None:
                return
            time.sleep(_NEXT_LOOK)  # another process may have been writing it
        raise self._error(
            f"{self.path}-wal is damaged in page {page}, and the records behind it would be lost: "
            f"restore it from a backup with {self.path.name}; or give them up with "
            f"`sqlite3 {self.path} 'PRAGMA wal_checkpoint(TRUNCATE)'`"
        )

    def _when_free(self, statement: str) -> None:
        """Execute a statement once no other connection writes."""
        # SQLite's own waiting backs off to 100 ms, and would starve beside a busy writer; for the
        # journal mode it does not wait.
        deadline = time.monotonic() + _LONGEST_WAIT
        while True:
            try:
                self.connection.execute(statement)
            except sqlite3.OperationalError as error:
                if _primary(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(random.uniform(0.0002, 0.001))  # noqa: S311
            else:
                return

    def _set_up(self, create: bool) -> None:
        ask = self.connection.execute
        if not self._is_log():
            if not create:
                raise no_log(self.path)
            self._make_log()
        version = ask("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise self._error(
                f"{self.path} was written by a newer release (format {version} of its tables, and "
                f"this release reads {VERSION}): upgrade iln-stream"
            )
        if ask("PRAGMA journal_mode").fetchone()[0] != "wal":
            self._when_free("PRAGMA journal_mode = WAL")  # it is a copy by `VACUUM INTO`
        ask("PRAGMA synchronous = FULL")
        ask("PRAGMA cell_size_check = TRUE")  # finds more of what a disk damaged
        ask(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        ask(f"PRAGMA journal_size_limit = {_LARGEST_WAL}")
        if create:
            ask("PRAGMA cache_size = -16000")  # KB; the index of ids is read at random
            ask("PRAGMA busy_timeout = 0")  # writers wait in `_when_free`
        else:
            ask("PRAGMA query_only = TRUE")

    def _is_log(self) -> bool:
        """Whether the file is a log; False if it is empty."""
        # The tables first: another process may be creating them, with the id in one transaction.
        if not self.connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            return False
        if self.connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise self._error(
                f"{self.path} is an SQLite file of another program: choose another path"
            )
        return True

    def _make_log(self) -> None:
        self._when_free("PRAGMA journal_mode = WAL")
        self.connection.execute("BEGIN IMMEDIATE")
        if not self._is_log():  # another process may have been faster
            _execute(self.connection, _TABLES)
            self.connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self.connection.execute(f"PRAGMA user_version = {VERSION}")
        self.connection.execute("COMMIT")

    def _make_folder(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._error(
                f"can't create the folder of {self.path}: {error.strerror}"
            ) from error

    def _current_identity(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.path)  # noqa: PTH116 - called for each commit, and faster
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise SQLite's errors as ours, with a remedy."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._error(f"{self.path}: {_explained(error)}") from error
        except OSError as error:
            raise self._error(f"{self.path}: {error.strerror}") from error
        except UnicodeDecodeError as error:  # of a message that quotes damaged text, or a name
            remedy = _REMEDIES[sqlite3.SQLITE_CORRUPT]
            raise self._error(f"{self.path}: {remedy} ({error})") from error


def no_log(path: Path) -> NoStreamError:
    """Return the error for a file that does not exist or has nothing in it."""
    return NoStreamError(
        f"there is no log at {path}: correct the path, or create it with `iln-stream log create`"
    )


_REMEDIES = {
    sqlite3.SQLITE_NOTADB: "the file is not a log of iln-stream: choose another path",
    sqlite3.SQLITE_CORRUPT: "the file is damaged: restore it from a backup",
    sqlite3.SQLITE_FULL: "the disk is full: free some space, or set the topic's retention",
    sqlite3.SQLITE_READONLY: "the file can't be written to: give this user write access to the "
    "file and its folder, or copy it to a folder where it can write",
    sqlite3.SQLITE_CANTOPEN: "the file can't be opened: a log needs a writable folder on a local "
    "disk, even to be read",
    sqlite3.SQLITE_BUSY: f"another process has been writing for {_LONGEST_WAIT:g} s: is a shell "
    "holding a transaction open?",
    sqlite3.SQLITE_IOERR: "the disk failed to read or write: check it and its free space",
    sqlite3.SQLITE_TOOBIG: "a record is larger than 1 GB: send smaller ones",
}


def _explained(error: sqlite3.Error) -> str:
    remedy = _REMEDIES.get(_primary(error))
    return str(error) if remedy is None else f"{remedy} ({error})"


def _primary(error: sqlite3.Error) -> int:
    """Return the error's code without its details."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
