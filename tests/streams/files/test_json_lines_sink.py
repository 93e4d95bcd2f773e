"""`JsonLinesSink`: it stores every message, or raises an error."""

import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import environment

from iln_stream.errors import SinkError
from iln_stream.streams.files import JsonLinesSink

FULL = Path("/dev/full")
"""A device of Linux that acts like a full disk."""

needs_full_disk = pytest.mark.skipif(not FULL.exists(), reason=f"there is no {FULL} here")


def test_lines_in_order(tmp_path):
    """Each message is a line, in the given order; keys are ignored."""
    sink = JsonLinesSink(tmp_path / "out.jsonl")
    sink.write("key", b'{"a": 1}')
    sink.write(None, b'{"a": 2}')
    sink.close()
    assert (tmp_path / "out.jsonl").read_bytes() == b'{"a": 1}\n{"a": 2}\n'


def test_appends(tmp_path):
    """A second run appends to the lines of the first."""
    for line in (b"1", b"2"):
        sink = JsonLinesSink(str(tmp_path / "out.jsonl"))
        sink.write(None, line)
        sink.close()
    assert (tmp_path / "out.jsonl").read_bytes() == b"1\n2\n"


def test_makes_the_folder(tmp_path):
    """The sink creates missing folders."""
    JsonLinesSink(tmp_path / "a" / "b" / "out.jsonl").close()
    assert (tmp_path / "a" / "b" / "out.jsonl").exists()


def test_flush_survives_a_kill(tmp_path):
    """A process that is killed after `flush` loses nothing."""
    file = tmp_path / "out.jsonl"
    program = (
        "import os, signal, sys\n"
        "from iln_stream.streams.files import JsonLinesSink\n"
        "sink = JsonLinesSink(sys.argv[1])\n"
        "sink.write(None, b'kept')\n"
        "sink.flush()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(file)], env=environment(), timeout=60, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert file.read_bytes() == b"kept\n"


def test_flush_reaches_the_disk(tmp_path, monkeypatch):
    """`flush` syncs the file after writing all data, so that it survives a power failure."""
    file, fsync, sizes = tmp_path / "out.jsonl", os.fsync, []

    def watched(descriptor):
        sizes.append(os.fstat(descriptor).st_size)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    sink = JsonLinesSink(file)
    sink.write(None, b"12345")
    assert sizes == []
    sink.flush()
    assert sizes == [6]
    sink.close()


@needs_full_disk
def test_full_disk():
    """A full disk is an error with the file's name, at the latest at `flush`."""
    sink = JsonLinesSink(FULL)
    sink.write(None, b"lost?")
    with pytest.raises(SinkError, match=r"can't write /dev/full: No space left"):
        sink.flush()
    with pytest.raises(SinkError, match=r"can't write /dev/full: No space left"):
        sink.close()


@needs_full_disk
def test_full_disk_while_writing():
    """Without `flush`, a full disk is an error once the buffer is full."""
    sink = JsonLinesSink(FULL)
    with pytest.raises(SinkError, match=r"can't write /dev/full: No space left"):
        sink.write(None, b"x" * 1_000_000)


@pytest.mark.parametrize("name", ["taken/out.jsonl", "."], ids=["below a file", "a folder"])
def test_impossible_path(tmp_path, name):
    """A file that can't be opened is an error at once, not at the first message."""
    (tmp_path / "taken").touch()
    with pytest.raises(SinkError, match=re.escape(f"can't write {tmp_path / name}: ")):
        JsonLinesSink(tmp_path / name)


def test_read_only_folder():
    """A folder where even root can't write is an error with the file's name."""
    if not Path("/proc/self").exists():
        pytest.skip("there is no /proc here")
    with pytest.raises(SinkError, match=r"can't write /proc/self/out\.jsonl: "):
        JsonLinesSink("/proc/self/out.jsonl")


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
