"""Copying records from and to embedded logs."""

import datetime as dt
import json
from decimal import Decimal

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.embedded_log import append, read

from iln_stream.errors import SinkError, SourceError
from iln_stream.streams import NewRecord, Resume, StreamOptions, stream_at
from iln_stream.streams.copying import CopyProgress, export_records, import_records
from iln_stream.streams.sqlite import Retention, create_topic, partition_of_key, topics, trim

END = StreamOptions(stop_at_end=True)


def at(path, topic="events", options=END):
    return stream_at(f"sqlite:{path}#{topic}", options)


def lines(path, n):
    path.write_text("".join(f'{{"x": {{"a": {i}}}}}\n' for i in range(n)))
    return stream_at(str(path), StreamOptions())


def contents(path, topic="events"):
    """What is in each partition: values, keys and times."""
    (state,) = [each for each in topics(path) if each.topic.name == topic]
    return [
        [(r.payload, r.key, r.timestamp) for r in read(path, topic, each.number)]
        for each in state.partitions
    ]


def fill(path, n=30, topic="events", n_partitions=3, first=0):
    """Append records with keys, or without, and times that jump."""
    if not path.exists():
        create_topic(path, topic, n_partitions)
    append(
        path,
        [
            NewRecord(b"%d" % i, None if i % 5 == 0 else f"k{i}", None, 1e9 + 7 * i % 11)
            for i in range(first, first + n)
        ],
        topic,
    )


class StoppedAfter(CopyProgress):
    """Stops a copy once this many records are stored."""

    def __init__(self, n):
        super().__init__(lambda now: now.stop() if now.n_records >= n else None)


def test_a_log_is_copied_whole(tmp_path):
    """Partitions, order, keys and times are those of the source; a copy of the copy, too."""
    fill(tmp_path / "a.db")
    done = import_records(at(tmp_path / "a.db"), at(tmp_path / "b.db", "copy"))
    assert (done.n_records, done.total) == (30, 30)
    assert contents(tmp_path / "b.db", "copy") == contents(tmp_path / "a.db")
    export_records(at(tmp_path / "b.db", "copy"), at(tmp_path / "c.db"))
    assert contents(tmp_path / "c.db") == contents(tmp_path / "a.db")


def test_a_log_is_imported_once(tmp_path):
    """Another import has what came since; with "again", everything."""
    fill(tmp_path / "a.db")
    import_records(at(tmp_path / "a.db"), at(tmp_path / "b.db"))
    fill(tmp_path / "a.db", 12, first=30)
    done = import_records(at(tmp_path / "a.db"), at(tmp_path / "b.db"))
    assert (done.n_records, done.total) == (12, 12)
    assert contents(tmp_path / "b.db") == contents(tmp_path / "a.db")
    assert import_records(at(tmp_path / "a.db"), at(tmp_path / "b.db")).n_records == 0
    assert import_records(at(tmp_path / "a.db"), at(tmp_path / "b.db"), how="again").total == 42


def test_an_interrupted_import_of_a_log_continues(tmp_path):
    """Nothing is missing or twice, wherever it was interrupted."""
    create_topic(tmp_path / "a.db", "events", 2)
    append(tmp_path / "a.db", [NewRecord(b"%d" % i, f"k{i}") for i in range(12_000)])
    first = import_records(
        at(tmp_path / "a.db"), at(tmp_path / "b.db"), progress=StoppedAfter(5_000)
    )
    assert 5_000 <= first.n_records < 12_000
    rest = import_records(at(tmp_path / "a.db"), at(tmp_path / "b.db"))
    assert first.n_records + rest.n_records == 12_000
    assert contents(tmp_path / "b.db") == contents(tmp_path / "a.db")


def test_a_topic_made_again_is_another_one(tmp_path):
    """Its records are imported from the beginning."""
    fill(tmp_path / "a.db", 3)
    import_records(at(tmp_path / "a.db"), at(tmp_path / "b.db"))
    for file in tmp_path.glob("a.db*"):
        file.unlink()
    fill(tmp_path / "a.db", 4)
    assert import_records(at(tmp_path / "a.db"), at(tmp_path / "b.db")).n_records == 4


def test_records_that_are_gone_before_they_were_imported(tmp_path):
    """The error says so; "again" imports what there is."""
    fill(tmp_path / "a.db", 3, n_partitions=1)
    import_records(at(tmp_path / "a.db"), at(tmp_path / "b.db"))
    fill(tmp_path / "a.db", 7, first=3)
    trim(tmp_path / "a.db", "events", Retention(records=2))
    with pytest.raises(SourceError, match="from offset 3 on are gone, and were not imported"):
        import_records(at(tmp_path / "a.db"), at(tmp_path / "b.db"))
    assert import_records(at(tmp_path / "a.db"), at(tmp_path / "b.db"), how="again").n_records == 2


def test_import_from_a_time(tmp_path):
    """Older records are left out."""
    append(tmp_path / "a.db", [NewRecord(b"%d" % i, None, None, 1e9 + i) for i in range(9)])
    start = dt.datetime.fromtimestamp(1e9 + 5, dt.UTC)
    import_records(at(tmp_path / "a.db"), at(tmp_path / "b.db"), start)
    assert [r.payload for r in read(tmp_path / "b.db")] == [b"5", b"6", b"7", b"8"]


def test_files(tmp_path):
    """Lines stay as they are, rows become objects of texts; a file comes again only if asked."""
    import_records(lines(tmp_path / "e.jsonl", 3), at(tmp_path / "a.db"))
    with pytest.raises(SourceError, match=r"3 records of .* were imported before"):
        import_records(lines(tmp_path / "e.jsonl", 3), at(tmp_path / "a.db"))
    import_records(lines(tmp_path / "e.jsonl", 1), at(tmp_path / "a.db"), how="again")
    assert [r.payload for r in read(tmp_path / "a.db")] == [
        b'{"x": {"a": %d}}' % i for i in (0, 1, 2, 0)
    ]
    (tmp_path / "t.csv").write_text("price,town\n1.5,Graz\n2,Linz\n")
    import_records(stream_at(str(tmp_path / "t.csv"), StreamOptions()), at(tmp_path / "a.db", "t"))
    assert [json.loads(r.payload) for r in read(tmp_path / "a.db", "t")] == [
        {"price": "1.5", "town": "Graz"},
        {"price": "2", "town": "Linz"},
    ]


def test_an_endless_stream_needs_a_limit(tmp_path):
    """A synthetic stream would fill the disk; with a limit it is imported."""
    endless = stream_at("synthetic:Friedman", StreamOptions())
    with pytest.raises(SourceError, match="limit: synthetic:Friedman never ends"):
        import_records(endless, at(tmp_path / "a.db"))
    assert not (tmp_path / "a.db").exists()
    some = stream_at("synthetic:Friedman", StreamOptions(limit=7))
    assert import_records(some, at(tmp_path / "a.db")).n_records == 7


def test_an_interrupted_import_of_a_file(tmp_path):
    """The file may have changed, so the user says whether to skip what was imported."""
    source = lines(tmp_path / "e.jsonl", 50_000)
    progress = import_records(source, at(tmp_path / "a.db"), progress=StoppedAfter(1))
    n = progress.n_records
    assert 0 < n < 50_000
    with pytest.raises(SourceError, match=rf"{n:,} records of .* were imported before"):
        import_records(source, at(tmp_path / "a.db"))
    rest = import_records(source, at(tmp_path / "a.db"), how="continue")
    assert rest.n_records == 50_000 - n
    expected = (tmp_path / "e.jsonl").read_bytes().splitlines()
    assert [r.payload for r in read(tmp_path / "a.db")] == expected


def test_keys_choose_among_more_partitions(tmp_path):
    """A log with one partition may become one of several: records of a key keep their order."""
    keys = [f"k{i % 7}" for i in range(40)]
    append(tmp_path / "a.db", [NewRecord(b"%d" % i, key) for i, key in enumerate(keys)])
    create_topic(tmp_path / "b.db", "events", 3)
    import_records(at(tmp_path / "a.db"), at(tmp_path / "b.db"))
    append(tmp_path / "b.db", [NewRecord(b"-1", "k3")])
    for partition in contents(tmp_path / "b.db"):
        for key in {key for _, key, _ in partition}:
            found = [int(value) for value, k, _ in partition if k == key]
            extra = [-1] if key == "k3" else []
            assert found == [i for i, k in enumerate(keys) if k == key] + extra


@pytest.mark.parametrize("copy", [import_records, export_records])
def test_other_partitions(tmp_path, copy):
    """Records can't be spread without changing their order, so this is refused."""
    fill(tmp_path / "a.db")
    create_topic(tmp_path / "b.db", "events", 2)
    with pytest.raises(SinkError, match=r"has 3 partitions and .* has 2: choose a topic that"):
        copy(at(tmp_path / "a.db"), at(tmp_path / "b.db"))


def test_export_to_a_file(tmp_path):
    """Partitions are merged by time, each in its own order."""
    create_topic(tmp_path / "a.db", "events", 2)
    a, b = (next(k for k in "abcdef" if partition_of_key(k, 2) == p) for p in (0, 1))
    records = [(a, 0), (b, 1), (b, 5), (b, 2), (a, 4), (a, 6)]
    append(
        tmp_path / "a.db",
        [NewRecord(f"{key}{when}".encode(), key, None, when) for key, when in records],
    )
    assert {len(each) for each in contents(tmp_path / "a.db")} == {3}
    out = stream_at(str(tmp_path / "out.jsonl"), StreamOptions())
    done = export_records(at(tmp_path / "a.db"), out)
    assert (tmp_path / "out.jsonl").read_text().split() == [
        f"{key}{when}" for key, when in ((a, 0), (b, 1), (a, 4), (b, 5), (b, 2), (a, 6))
    ]
    assert (done.n_records, done.total) == (6, 6)


def test_an_interrupted_export_says_how_far_it_was(tmp_path):
    """Another one from there has the others."""
    append(tmp_path / "a.db", [b"%d" % i for i in range(12_000)])
    out = stream_at(str(tmp_path / "out.jsonl"), StreamOptions())
    first = export_records(at(tmp_path / "a.db"), out, progress=StoppedAfter(1))
    assert first.positions == {0: first.n_records}
    assert 0 < first.n_records < 12_000
    export_records(at(tmp_path / "a.db"), out, {0: Resume(first.positions[0], None)})
    assert (tmp_path / "out.jsonl").read_text().split() == [str(i) for i in range(12_000)]


class FailingSink:
    """Stores to a list; fails after a number of messages."""

    def __init__(self, stored, most):
        self.stored, self.most, self.waiting = stored, most, []

    def write(self, key, value, timestamp=None):
        self.waiting.append(value)

    def flush(self):
        if len(self.stored) + len(self.waiting) > self.most:
            raise SinkError("full")
        self.stored += self.waiting
        self.waiting.clear()

    def close(self):
        pass


def test_a_failing_export_says_how_far_it_was(tmp_path, monkeypatch):
    """The positions are those of what the target has stored, at least."""
    append(tmp_path / "a.db", [b"%d" % i for i in range(12_000)])
    stored, out, progress = [], at(tmp_path / "b.db"), CopyProgress()
    monkeypatch.setattr(out, "sink", lambda partition=0: FailingSink(stored, 10_000))
    with pytest.raises(SinkError, match="full"):
        export_records(at(tmp_path / "a.db"), out, progress=progress)
    assert progress.positions == {0: len(stored)}
    assert progress.n_records == len(stored) == 10_000


def test_records_without_a_value(tmp_path):
    """A log stores them; to a file they are counted and left out."""
    source = at(tmp_path / "a.db")
    sink = source.sink()
    for value in (b"1", None, b"2"):
        sink.write("k", value)
    sink.close()
    export_records(source, at(tmp_path / "b.db"))
    import_records(source, at(tmp_path / "c.db"))
    for name in ("b.db", "c.db"):
        assert [r.payload for r in read(tmp_path / name)] == [b"1", None, b"2"]
    out = stream_at(str(tmp_path / "out.jsonl"), StreamOptions())
    done = export_records(source, out)
    assert (done.n_records, done.n_without_value) == (2, 1)
    assert (tmp_path / "out.jsonl").read_text() == "1\n2\n"


def test_line_breaks(tmp_path):
    """A record of several lines is one line in a file, and the same JSON; a log keeps it."""
    value = b'{"x":\n {"a": 1}}'
    append(tmp_path / "a.db", [value, b"", b"2"])
    done = export_records(
        at(tmp_path / "a.db"), stream_at(str(tmp_path / "out.jsonl"), StreamOptions())
    )
    assert (tmp_path / "out.jsonl").read_bytes() == b'{"x":  {"a": 1}}\n2\n'
    assert (done.n_records, done.n_with_line_breaks, done.n_without_value) == (2, 1, 1)
    done = export_records(at(tmp_path / "a.db"), at(tmp_path / "b.db"))
    assert [r.payload for r in read(tmp_path / "b.db")] == [value, b"", b"2"]
    assert (done.n_with_line_breaks, done.n_without_value) == (0, 0)


def test_a_source_that_does_not_exist(tmp_path):
    """No log is created for it."""
    with pytest.raises(SourceError, match="can't read"):
        import_records(
            stream_at(str(tmp_path / "absent.jsonl"), StreamOptions()), at(tmp_path / "a.db")
        )
    assert list(tmp_path.iterdir()) == []


def test_a_parquet_file(tmp_path):
    """Rows of a table become JSON that a log keeps, with null for NaN, and dates as text."""
    table = pa.table(
        {
            "x": [1.5, float("nan"), None],
            "n": [1, None, 3],
            "price": pa.array([Decimal("2.50")] * 3, pa.decimal128(8, 2)),
            "day": [dt.date(2026, 1, 31)] * 3,
            "hash": [b"\x01\xff"] * 3,
        }
    )
    parquet.write_table(table, tmp_path / "a.parquet")
    source = stream_at(str(tmp_path / "a.parquet"), StreamOptions())
    import_records(source, at(tmp_path / "a.db"))
    same = {"price": 2.5, "day": "2026-01-31", "hash": "01ff"}
    assert [json.loads(r.payload, parse_constant=pytest.fail) for r in read(tmp_path / "a.db")] == [
        {"x": 1.5, "n": 1, **same},
        {"x": None, "n": None, **same},
        {"x": None, "n": 3, **same},
    ]
