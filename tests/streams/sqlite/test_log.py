"""`SqliteLog`: starts, following, ends, and places that are gone."""

import datetime as dt
import shutil
import sqlite3
import threading
import time
from contextlib import closing

import pytest
from support.embedded_log import append, read
from support.list_source import drained

from iln_stream.errors import LostPlaceError, NoStreamError, SinkError, SourceError
from iln_stream.streams import NewRecord, Resume
from iln_stream.streams.sqlite import Retention, SqliteLog, create_topic, trim


def open_log(path, start=None, **more):
    return SqliteLog(path, "events", "log-events", start=start, **more)


def offsets(records):
    return [record.offset for record in records]


@pytest.mark.parametrize(
    ("start", "first"),
    [
        (None, 0),
        ("latest", 10),
        (dt.datetime.fromtimestamp(1004, dt.UTC), 4),
        (dt.datetime.fromtimestamp(5000, dt.UTC), 10),
        (Resume(7, None), 7),
    ],
)
def test_where_it_starts(path, start, first):
    """A log starts at its beginning, its end, a time or a saved position."""
    append(path, [NewRecord(b"%d" % n, timestamp=1000.0 + n) for n in range(10)])
    with closing(open_log(path, start, stop_at_end=True)) as log:
        assert log.positions == {("log-events", 0): first}
        assert log.lag == 10 - first
        assert offsets(drained(log)) == list(range(first, 10))
        assert log.lag == 0


def test_it_ends_where_it_should(path):
    """It ends at the end that it had when it was opened, at a given offset, or at `stop_here`."""
    append(path, [b"%d" % n for n in range(10)])
    with (
        closing(open_log(path, stop_at_end=True)) as whole,
        closing(open_log(path, stop_at=4)) as some,
        closing(open_log(path)) as endless,
    ):
        append(path, [b"later"])
        assert offsets(drained(whole)) == list(range(10))
        assert offsets(drained(some)) == list(range(4))
        assert offsets(list(endless.poll(1.0))) == list(range(11))
        assert not endless.exhausted
        endless.stop_here()
        assert endless.exhausted
        assert endless.poll(1.0) == []


def test_it_follows(path):
    """A waiting reader gets a record of another connection long before its time is over."""
    append(path, [b"first"])
    with closing(open_log(path)) as log:
        assert len(log.poll(0.0)) == 1
        assert log.poll(0.0) == []
        threading.Timer(0.2, append, [path, [b"second"]]).start()
        began = time.monotonic()
        (record,) = log.poll(30.0)
        assert (record.offset, record.payload) == (1, b"second")
        assert time.monotonic() - began < 10


def test_batches_are_bounded(path):
    """Many records, or a few large ones, come in several batches, so that memory stays bounded:
    after its first record a batch takes 8 MB at most."""
    append(path, [b"small"] * 12_000)
    append(path, [bytes(1 << 20)] * 20 + [bytes(5 << 20)] * 4)
    sizes = []
    with closing(open_log(path, stop_at_end=True)) as log:
        found = []
        while not log.exhausted:
            batch = log.poll(1.0)
            sizes.append(sum(len(record.payload or b"") for record in batch))
            found += offsets(list(batch))
    assert found == list(range(12_024))
    assert max(sizes) <= 10 << 20
    assert len(sizes) > 4


def test_a_missing_file_or_topic(path):
    """A missing file, topic or partition is an error that names the remedy, and no file appears."""
    with pytest.raises(NoStreamError, match="log create"):
        open_log(path)
    assert not path.exists()
    append(path, [b"x"], topic="others")
    with pytest.raises(NoStreamError, match=r"no topic 'events' \(its topics: others\)"):
        open_log(path)
    with pytest.raises(SourceError, match="has partitions 0, and no 2"):
        SqliteLog(path, "others", "log", 2)


def test_a_place_that_retention_deleted(path):
    """Resuming at a deleted record is refused, unless the user accepts the loss."""
    append(path, [b"%d" % n for n in range(10)])
    trim(path, "events", Retention(records=4))
    with pytest.raises(LostPlaceError, match="records 3 to 5 were deleted"):
        open_log(path, Resume(3, None))
    with closing(open_log(path, Resume(3, None, accept_loss=True), stop_at_end=True)) as log:
        assert offsets(drained(log)) == [6, 7, 8, 9]
    with closing(open_log(path, "earliest")) as log:
        assert log.positions == {("log-events", 0): 6}


@pytest.mark.parametrize("kept", [0, 3])
def test_retention_overtakes_a_reader(path, kept):
    """A reader whose next records are deleted while it runs stops, rather than skip them."""
    append(path, [b"%d" % n for n in range(5)])
    with closing(open_log(path)) as log:
        assert len(log.poll(1.0)) == 5
        append(path, [b"%d" % n for n in range(5, 10)])
        trim(path, "events", Retention(records=kept))
        with pytest.raises(LostPlaceError, match="retention"):
            log.poll(1.0)


def test_retention_overtakes_a_start(path, caplog):
    """A start at the beginning means the first record that is there; loss may be accepted later."""
    append(path, [b"%d" % n for n in range(10)])
    with (
        closing(open_log(path, "earliest")) as first,
        closing(open_log(path, Resume(5, None))) as strict,
        closing(open_log(path, Resume(5, None, accept_loss=True))) as lenient,
    ):
        trim(path, "events", Retention(records=3))
        assert offsets(list(first.poll(1.0))) == [7, 8, 9]
        with pytest.raises(LostPlaceError, match="--accept-loss"):
            strict.poll(1.0)
        assert offsets(list(lenient.poll(1.0))) == [7, 8, 9]
        assert "records 5 to 6 are lost" in caplog.text
        append(path, [b"%d" % n for n in range(10, 15)])
        trim(path, "events", Retention(records=0))
        with pytest.raises(LostPlaceError):
            first.poll(1.0)
        assert list(lenient.poll(0.0)) == []
        assert lenient.positions == {("log-events", 0): 15}


def test_another_topic_in_its_place(path):
    """Resuming in a log with another id, or one that ends before the position, is refused."""
    append(path, [b"a", b"b"])
    with closing(open_log(path)) as log:
        known = log.topic_id
    with pytest.raises(LostPlaceError, match="now ends at 2"):
        open_log(path, Resume(3, known))
    for each in path.parent.glob("log.db*"):
        each.unlink()
    append(path, [b"a", b"b"])
    with pytest.raises(LostPlaceError, match="deleted and recreated"):
        open_log(path, Resume(2, known))


@pytest.mark.parametrize("new", [True, False])
def test_a_file_that_is_replaced_while_it_is_read(path, new):
    """A reader notices that its file was deleted or replaced, rather than wait for ever."""
    append(path, [b"a"])
    with closing(open_log(path)) as log:
        assert len(log.poll(0.0)) == 1
        shutil.move(path, path.with_name("old.db"))
        if new:
            append(path, [b"b"])
        with pytest.raises(LostPlaceError, match="moved, deleted or replaced"):
            log.poll(0.1)


def test_a_waiting_reader_lets_the_log_be_emptied(path):
    """Readers hold no transaction while they wait, so that the write-ahead log stays small."""
    append(path, [b"a"])
    with closing(open_log(path)) as log:
        log.poll(0.1)
        for _ in range(15):
            append(path, [bytes(4096)] * 1000)
            log.poll(0.0)
        assert path.with_name("log.db-wal").stat().st_size < 40 << 20


def test_a_flipped_bit_is_never_read_as_another_record(path):
    """Of a page of records with a flipped bit, those before the damage are read as they were; then
    comes an error, which names the record and the remedy. Only a smaller number of records in the
    header of the last page can't be told from a shorter log."""
    records = [NewRecord(b'{"y": %d}' % n, key=f"k{n}", timestamp=1000.5 + n) for n in range(6)]
    append(path, records)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = path.read_bytes()
    expected = [(n, each.value, each.timestamp, each.key) for n, each in enumerate(records)]
    page = whole.index(records[0].value) // 4096 * 4096
    n_refused = 0
    for place in (place for place in range(page, page + 4096) if whole[place]):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        found = []
        try:
            with closing(open_log(path, stop_at_end=True)) as log:
                while not log.exhausted:
                    found += log.poll(0.0)
        except SourceError:
            n_refused += 1
            expected_here = expected[: len(found)]
        else:
            shorter = place - page in (3, 4) and changed[place] < whole[place]
            expected_here = expected[: changed[place] if shorter else None]
        assert [(each.offset, each.payload, each.timestamp, each.key) for each in found] == (
            expected_here
        ), place
    assert n_refused > 100
    changed = whole.replace(b'{"y": 3}', b'{"y": 8}')
    path.write_bytes(changed)
    with (
        closing(open_log(path, stop_at_end=True)) as log,
        pytest.raises(
            SourceError, match=r"record 3 .* damaged: .* --keep-records 2.* --accept-loss"
        ),
    ):
        drained(log)
    trim(path, "events", Retention(records=2))
    with closing(open_log(path, Resume(3, None, accept_loss=True), stop_at_end=True)) as log:
        assert offsets(drained(log)) == [4, 5]


def test_a_damaged_write_ahead_log_is_refused(path, tmp_path):
    """Where SQLite would drop acknowledged records without an error, each attempt to read or append
    is refused, except if the last transaction may be one that a crash has torn."""
    create_topic(path, "events")
    with closing(sqlite3.connect(path)) as reader:  # so that SQLite empties no log
        reader.execute("SELECT * FROM topics").fetchall()
        for n in range(4):
            append(path, [NewRecord(b'{"y": %d}' % n)])
        (copy := tmp_path / "copy").mkdir()
        for name in (path.name, f"{path.name}-wal"):
            shutil.copy(path.with_name(name), copy / name)
    file, wal = copy / path.name, copy / f"{path.name}-wal"
    whole = wal.read_bytes()
    frame = 24 + 4096
    for place in (9, 20, 25, 32 + 5, 32 + 9, 32 + 17, 32 + 24, 32 + frame + 1_000):
        wal.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        for use in (open_log, lambda path: append(path, [NewRecord(b"")])):
            with pytest.raises((SourceError, SinkError), match=r"-wal is damaged in page [12]"):
                use(file)
    wal.write_bytes(whole[:-1] + b"!")
    assert len(read(file)) == 3


@pytest.mark.parametrize(
    "damage", ["UPDATE partitions SET number = 3", "DELETE FROM partitions"], ids=["other", "none"]
)
def test_damaged_partitions_are_refused(path, damage):
    """A topic whose partitions are not 0, 1, ... is damaged, and is not read without them."""
    append(path, [NewRecord(b"{}")])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)
    with pytest.raises(SourceError, match="its partitions or their last records"):
        open_log(path)


def test_a_log_of_release_0_2_0(path):
    """A partition without checksums, as release 0.2.0 created it, is read and appended to."""
    create_topic(path, "events")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE records_1 DROP COLUMN checksum")
    append(path, [NewRecord(b"first", key="a", id="1"), b"second"])
    append(path, [NewRecord(b"again", id="1"), b"third"])
    assert [each.payload for each in read(path)] == [b"first", b"second", b"third"]
    with closing(sqlite3.connect(path)) as connection:  # a gap shows even there
        connection.execute("UPDATE records_1 SET offset = 7 WHERE offset = 2")
        connection.commit()
    with pytest.raises(SourceError, match="do not follow each other"):
        read(path)
