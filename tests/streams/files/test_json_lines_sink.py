"""`JsonLinesSink`: it stores every message, or raises an error."""

import io
import os
import re
from pathlib import Path

import pytest

from iln_stream.errors import SinkError
from iln_stream.streams.files import JsonLinesSink

FULL = Path("/dev/full")
"""A device of Linux that acts like a full disk."""

needs_full_disk = pytest.mark.skipif(not FULL.exists(), reason=f"there is no {FULL} here")


def test_lines_in_order(tmp_path):
    """Each message is a line, in the given order, after those of earlier runs; keys are ignored,
    and missing folders made."""
    file = tmp_path / "a" / "b" / "out.jsonl"
    for lines in ((b'{"a": 1}', b'{"a": 2}'), (b"3",)):
        sink = JsonLinesSink(file)
        for line in lines:
            sink.write("key", line)
        sink.close()
    assert file.read_bytes() == b'{"a": 1}\n{"a": 2}\n3\n'


@pytest.mark.parametrize(
    ("end", "left"),
    [
        (b'{"a": 2, "b', b""),
        (b"\0" * 4096, b""),
        (b'{"a": 2}', b'{"a": 2}\n'),
        (b"a note", b"a note\n"),
    ],
    ids=["cut", "page without content", "line break cut", "no line of ours"],
)
def test_a_cut_last_line(tmp_path, caplog, end, left):
    """A line that a crash or a full disk cut is removed when the file is opened again, with a
    warning, so that each line is whole; nothing else is lost."""
    file = tmp_path / "out.jsonl"
    file.write_bytes(b'{"a": 1}\n' + end)
    sink = JsonLinesSink(file)
    sink.write(None, b'{"a": 3}')
    sink.close()
    assert file.read_bytes() == b'{"a": 1}\n' + left + b'{"a": 3}\n'
    assert ("its last line was cut" in caplog.text) == (left == b"")


def test_flush_reaches_the_disk(tmp_path, monkeypatch):
    """`flush` syncs the file after writing all data, so that it survives a power failure."""
    file, fsync, sizes = tmp_path / "out.jsonl", os.fsync, []

    def watched(descriptor):
        sizes.append(os.fstat(descriptor).st_size)
        fsync(descriptor)

    sink = JsonLinesSink(file)
    monkeypatch.setattr(os, "fsync", watched)
    sink.write(None, b"12345")
    assert sizes == []
    sink.flush()
    assert sizes == [6]
    sink.close()


@needs_full_disk
def test_full_disk():
    """A full disk is an error with the file's name, once the buffer is full, or at `flush`."""
    sink = JsonLinesSink(FULL)
    sink.write(None, b"lost?")
    with pytest.raises(SinkError, match=r"can't write /dev/full: No space left"):
        sink.flush()
    with pytest.raises(SinkError, match=r"can't write /dev/full: No space left"):
        sink.close()
    sink = JsonLinesSink(FULL)
    with pytest.raises(SinkError, match=r"can't write /dev/full: No space left"):
        sink.write(None, b"x" * 1_000_000)


@pytest.mark.parametrize("name", ["taken/out.jsonl", ".", "/proc/self/out.jsonl"])
def test_impossible_path(tmp_path, name):
    """A file that can't be opened, not even by root, is an error at once, not at the first
    message."""
    (tmp_path / "taken").touch()
    with pytest.raises(SinkError, match=re.escape(f"can't write {tmp_path / name}: ")):
        JsonLinesSink(tmp_path / name)


def test_a_device_and_a_pipe_take_lines(tmp_path):
    """What is no file on a disk takes lines, too, although it can't be synced."""
    JsonLinesSink(os.devnull).close()
    os.mkfifo(tmp_path / "pipe")
    with os.fdopen(os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        sink = JsonLinesSink(tmp_path / "pipe")
        sink.write(None, b"{}")
        sink.close()
        assert reader.read() == b"{}\n"


def test_open_stream_stays_open():
    """A stream that the caller opened is flushed but not closed."""
    stream = io.BytesIO()
    sink = JsonLinesSink(stream)
    sink.write("k", b"{}")
    sink.close()
    assert not stream.closed
    assert stream.getvalue() == b"{}\n"


def test_reader_that_left():
    """A pipe whose reader has closed it is an error with a message."""
    read_end, write_end = os.pipe()
    stream = os.fdopen(write_end, "wb")
    sink = JsonLinesSink(stream)
    os.close(read_end)
    sink.write(None, b"{}")
    with pytest.raises(SinkError, match="can't write standard output: Broken pipe"):
        sink.flush()
    with pytest.raises(BrokenPipeError):
        stream.close()
