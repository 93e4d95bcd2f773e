"""The file of an embedded log: files that are no log, disks that fail, writers that wait."""

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest
from support.command_line import environment
from support.embedded_log import append, values
from support.mounts import private_mounts

from iln_stream.errors import SinkError, SourceError
from iln_stream.streams import NewRecord
from iln_stream.streams.sqlite import SqliteAppender, SqliteLog, database

PROGRAM = """
import pathlib, sys
from iln_stream.errors import IlnError
from iln_stream.streams import NewRecord
from iln_stream.streams.sqlite import SqliteAppender, SqliteLog
path = pathlib.Path(sys.argv[1])
try:
    if sys.argv[2] == "read":
        print(SqliteLog(path, "events", "log").poll(0.0)[0].payload.decode())
    else:
        appender = SqliteAppender(path, "events", "log")
        for number in range(int(sys.argv[3])):
            appender.append([NewRecord(bytes(10_000))])
except IlnError as error:
    print(type(error).__name__, error)
"""


def run(path, *arguments, under=()):
    """Read or append in a process of its own; return what it prints."""
    done = subprocess.run(
        [*under, sys.executable, "-c", PROGRAM, str(path), *arguments],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def text_file(path):
    path.write_text('{"x": {"a": 1}}\n' * 100)


def other_program(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")


def newer(path):
    append(path, [b"a"])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (text_file, "is not a log of iln-stream: choose another path"),
        (other_program, "is an SQLite file of another program"),
        (newer, "upgrade iln-stream"),
    ],
)
def test_a_file_that_is_no_log(path, make, message):
    """Such a file is refused, by readers and writers, and not changed."""
    make(path)
    before = path.read_bytes()
    with pytest.raises(SourceError, match=message):
        SqliteLog(path, "events", "log")
    with pytest.raises(SinkError, match=message):
        SqliteAppender(path, "events", "log")
    assert path.read_bytes() == before


@pytest.mark.parametrize("suffix", ["", "-journal"])
def test_a_pipe_is_no_log(path, suffix):
    """A pipe in place of the file, or of a file that SQLite reads beside it, is refused at once, by
    readers and writers."""
    if suffix:
        append(path, [b"a"])
    os.mkfifo(path.with_name(path.name + suffix))
    with pytest.raises(SourceError, match="not a regular file"):
        SqliteLog(path, "events", "log")
    with pytest.raises(SinkError, match="not a regular file"):
        SqliteAppender(path, "events", "log")


def test_a_vacuumed_copy(path, tmp_path):
    """A copy by `VACUUM INTO` has lost the journal mode; opening it restores that."""
    append(path, [b"a"])
    copy = tmp_path / "copy.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    with closing(SqliteLog(copy, "events", "log")) as log:
        assert len(log.poll(1.0)) == 1
        with closing(sqlite3.connect(copy)) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        append(copy, [b"b"])
        assert len(log.poll(1.0)) == 1


def test_an_empty_file_becomes_a_log(path):
    """An empty file, such as `mktemp` makes, is not an error for a writer."""
    path.touch()
    append(path, [b"a"])
    assert values(path) == [b"a"]


def test_processes_create_it_together(path):
    """Several processes may create the log at once: each finds a complete one."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(path), "append", "1"],
            env=environment(),
            stdout=subprocess.PIPE,
        )
        for _ in range(6)
    ]
    assert [each.communicate(timeout=60)[0] for each in running] == [b""] * 6
    assert len(values(path)) == 6


def test_a_read_only_disk(tmp_path):
    """Neither a reader nor a writer of a read-only folder fails without the remedy."""
    folder = tmp_path / "disk"
    folder.mkdir()
    append(folder / "log.db", [b"a"])
    script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    under = (*private_mounts(), "sh", "-ec", script, str(folder))
    assert run(folder / "log.db", "append", "1", under=under).startswith("SinkError")
    assert "writable folder" in run(folder / "log.db", "read", under=under)
    assert "can't create the folder" in run(folder / "new" / "log.db", "append", "1", under=under)
    assert values(folder / "log.db") == [b"a"]


def test_a_full_disk(tmp_path):
    """On a full disk an append fails with the remedy, and what was stored can be read."""
    folder = tmp_path / "disk"
    folder.mkdir()
    kept = tmp_path / "kept.db"
    script = (
        'mount -t tmpfs -o size=300k tmpfs "$0"; cp "$1"* "$0"; shift; "$@"; '
        f'"$1" "$2" "$3" "$0/kept.db" read 0; cp "$0"/kept.db* "{tmp_path}/after"'
    )
    append(kept, [b"a"])
    (tmp_path / "after").mkdir()
    under = (*private_mounts(), "sh", "-ec", script, str(folder), str(kept))
    failed, first = run(folder / "kept.db", "append", "1000", under=under).splitlines()
    assert failed.startswith("SinkError")
    assert "the disk is full: free some space" in failed
    assert first == "a"
    after = values(tmp_path / "after" / "kept.db")
    assert after == [b"a", *[bytes(10_000)] * (len(after) - 1)]
    assert len(after) > 5


def test_a_writer_waits_for_another(path, monkeypatch):
    """A writer waits while another process writes, but not for ever."""
    append(path, [b"a"])
    with (
        closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other,
        closing(SqliteAppender(path, "events", "log")) as appender,
    ):
        other.execute("BEGIN IMMEDIATE")
        done = threading.Timer(0.3, other.execute, ["ROLLBACK"])
        done.start()
        appender.append([NewRecord(b"b")])
        done.join()
        monkeypatch.setattr(database, "_LONGEST_WAIT", 0.1)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(SinkError, match="another process has been writing"):
            appender.append([NewRecord(b"c")])
        other.execute("ROLLBACK")
        appender.append([NewRecord(b"d")])
    assert values(path) == [b"a", b"b", b"d"]


def test_commits_are_durable(path):
    """Every connection syncs the write-ahead log at each commit, which is not SQLite's default in
    all builds."""
    for create in (True, False):
        with closing(database.Database(path, create=create)) as opened:
            ask = opened.connection.execute
            assert ask("PRAGMA journal_mode").fetchone() == ("wal",)
            assert ask("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_a_connection_is_closed_beside_a_call(path):
    """Closing waits for the call of another thread, whose next call is an error and no crash."""
    appender = SqliteAppender(path, "events", "log")
    failed = []

    def append_on():
        while not failed:
            try:
                appender.append([NewRecord(b"")])
            except SinkError as error:
                failed.append(error)

    thread = threading.Thread(target=append_on)
    thread.start()
    appender.append([NewRecord(b"")] * 100)
    appender.close()
    thread.join()
    assert "closed" in str(failed[0])
    assert len(values(path)) >= 100
