"""`JsonLinesSource`: events from files and pipes."""

import io
import os
import time

import pytest

from iln_stream.streams import Record, StreamPartition
from iln_stream.streams.files import JsonLinesSource

PIPE = StreamPartition("pipe", 0)


def drain(source, timeout=0.2, seconds=20.0):
    """Return all records of the source."""
    records, deadline = [], time.monotonic() + seconds
    while not source.exhausted:
        assert time.monotonic() < deadline, "the source does not end"
        records += source.poll(timeout)
    return records


@pytest.fixture
def pipe():
    """A real pipe: its writing end, and a source that reads from the other end."""
    read_end, write_end = os.pipe()
    source = JsonLinesSource(os.fdopen(read_end, "rb"), stream="pipe")
    with os.fdopen(write_end, "wb", buffering=0) as writer:
        yield writer, source
    source.close()


@pytest.mark.parametrize(
    ("content", "records"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(b"\n\n \n", [], id="only blank lines"),
        pytest.param(b"a\nb\n", [(0, b"a"), (1, b"b")], id="lines"),
        pytest.param(b"a\nb", [(0, b"a"), (1, b"b")], id="no newline at the end"),
        pytest.param(b"a\r\nb\r\n", [(0, b"a"), (1, b"b")], id="CRLF"),
        pytest.param(b"a\n\n  \nb\n\n", [(0, b"a"), (3, b"b")], id="blank lines"),
        pytest.param(b"\na", [(1, b"a")], id="first line blank"),
    ],
)
def test_file(tmp_path, content, records):
    """Each line is a record with the line's number; blank lines are skipped, but counted."""
    file = tmp_path / "events.jsonl"
    file.write_bytes(content)
    source = JsonLinesSource(file)
    assert [(r.offset, r.payload) for r in drain(source)] == records
    assert source.exhausted
    assert source.poll(0.0) == []
    source.close()


def test_long_lines_and_many_lines(tmp_path):
    """Lines longer than a read, and lines across reads, are complete and in order."""
    lines = [bytes([65 + i % 26]) * (i * 37 % 1000) + b"." for i in range(3000)]
    lines[1234] = b"x" * 3_000_000
    file = tmp_path / "events.jsonl"
    file.write_bytes(b"\n".join(lines))
    records = drain(JsonLinesSource(file))
    assert [record.payload for record in records] == lines
    assert [record.offset for record in records] == list(range(3000))


def test_limit_ends_an_open_pipe():
    """The source ends after `limit` lines, not counting blank ones, even if the pipe stays open."""
    read_end, write_end = os.pipe()
    source = JsonLinesSource(os.fdopen(read_end, "rb"), limit=2)
    with os.fdopen(write_end, "wb", buffering=0) as writer:
        writer.write(b"a\n\nb\nc\n")
        assert [record.payload for record in drain(source)] == [b"a", b"b"]
    source.close()


def test_pipe_waits_for_data_no_longer_than_told(pipe):
    """If a pipe has no data, `poll` returns after the timeout, and the source is not exhausted;
    written lines are returned at once, without waiting for more."""
    writer, source = pipe
    started = time.monotonic()
    assert source.poll(0.1) == []
    assert 0.05 < time.monotonic() - started < 5
    assert not source.exhausted
    writer.write(b"a\nb\n")
    started = time.monotonic()
    assert [record.payload for record in source.poll(30.0)] == [b"a", b"b"]
    assert time.monotonic() - started < 10


def test_partial_lines_in_a_pipe(pipe):
    """A line that comes in pieces is one record once its newline has come, which may be in two
    pieces itself."""
    writer, source = pipe
    writer.write(b'{"x"')
    assert source.poll(1.0) == []
    writer.write(b": {}}")
    assert source.poll(1.0) == []
    writer.write(b"\n{")
    assert source.poll(1.0) == [Record(0, b'{"x": {}}', PIPE)]
    writer.write(b"}\r")
    assert source.poll(1.0) == []
    writer.write(b"\n")
    assert source.poll(1.0) == [Record(1, b"{}", PIPE)]


def test_pipe_filled_while_nobody_read(pipe):
    """No lines stay in a buffer that `select` can't see."""
    writer, source = pipe
    lines = [b"%05d" % i for i in range(10_000)]  # less than Linux keeps in a pipe
    writer.write(b"\n".join(lines) + b"\n")
    seen = []
    while len(seen) < len(lines):
        records = source.poll(0.0)
        assert records, "poll says nothing is there"
        seen += [record.payload for record in records]
    assert seen == lines


def test_names(tmp_path):
    """A stream has the name of its file, or its number; one without either is standard input."""
    (tmp_path / "events.jsonl").write_bytes(b"a")
    assert JsonLinesSource(str(tmp_path / "events.jsonl")).stream == "events.jsonl"
    assert JsonLinesSource(io.BytesIO()).stream == "stdin"
    with (tmp_path / "events.jsonl").open("rb") as file:
        source = JsonLinesSource(os.fdopen(os.dup(file.fileno()), "rb"))
    assert source.stream.isdigit()
    source.close()
