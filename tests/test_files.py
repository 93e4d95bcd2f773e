"""`write_whole`: a file is written whole, or an error leaves what was there."""

import errno
import os

import pytest
from streams.test_journal import room_for

from iln_stream import files
from iln_stream.files import LARGEST_STORED, read_stored, write_whole


def test_a_full_disk_changes_nothing(tmp_path):
    """What does not fit leaves the former file as it was, and nothing half-written."""
    path = tmp_path / "file"
    write_whole(path, lambda file: file.write(b"before"))
    with room_for(5_000), pytest.raises(OSError, match="too large"):
        write_whole(path, lambda file: file.write(bytes(20_000)))
    assert read_stored(path) == b"before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("call", ["fsync", "rename"])
def test_a_failing_call_changes_nothing(tmp_path, monkeypatch, call, code):
    """An error of the disk after the last byte, or of the rename, has no effect either."""
    path = tmp_path / "file"
    write_whole(path, lambda file: file.write(b"before"))

    def fail(*_):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync" if call == "fsync" else "pathlib.Path.rename", fail)
        with pytest.raises(OSError, match=os.strerror(code)):
            write_whole(path, lambda file: file.write(b"after"))
    assert read_stored(path) == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_an_absurd_length(tmp_path, monkeypatch):
    """A file that seems longer than any that is stored is refused, rather than read into memory;
    nor is one written that could not be read."""
    path = tmp_path / "file"
    path.touch()
    os.truncate(path, LARGEST_STORED + 1)  # a hole, which takes no space
    with pytest.raises(OSError, match="4,294,967,297 bytes; at most 4,294,967,296"):
        read_stored(path)
    monkeypatch.setattr(files, "LARGEST_STORED", 1_000)
    write_whole(path, lambda file: file.write(bytes(1_000)))
    with pytest.raises(OSError, match="1,001 bytes; at most 1,000"):
        write_whole(path, lambda file: file.write(bytes(1_001)))
    assert read_stored(path) == bytes(1_000)
