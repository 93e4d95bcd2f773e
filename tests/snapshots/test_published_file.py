"""`VersionFile`: what is read is what was written, or an error that says why not."""

import errno
import resource
import zlib
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.states import ARRAYS, same

from iln_stream.errors import PublishingError
from iln_stream.snapshots.published_file import DamagedError, Header, VersionFile
from iln_stream.streams import StreamPartition

HEADER = Header(
    version=3,
    published_at=1.5,
    positions={StreamPartition("iln-events", 0): 7, StreamPartition("iln-labels", 2): 9},
    n_learned=16,
    task="regression",
    learner="infinite-layer",
    stream="iln-events",
    topic_id="abc",
    configuration="0123",
    form="state",
)
ARRAYS_OF = {"a/b": np.arange(5.0), "c": np.array([[True, False]]), "": np.zeros((0, 3))}


@pytest.fixture
def file(tmp_path):
    return VersionFile(tmp_path / "events-all.model")


@contextmanager
def no_file_longer_than(n_bytes):
    """Let writes beyond this length fail, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@settings(max_examples=50)
@given(st.dictionaries(st.text(), ARRAYS, max_size=5), st.text())
def test_any_arrays(tmp_path_factory, arrays, stream):
    """Any arrays and names come back in every bit, writable, as learners expect them."""
    file = VersionFile(tmp_path_factory.mktemp("any") / "x.model")
    header = Header(**{**vars(HEADER), "stream": stream})
    identity = file.write(header, arrays)
    found = file.read()
    assert found.header == file.read_header() == header
    assert found.identity == identity == file.identity()
    assert list(found.arrays) == list(arrays)
    assert all(same(found.arrays[name], array) for name, array in arrays.items())
    assert all(array.flags.writeable and array.flags.aligned for array in found.arrays.values())


def test_more_buffers_than_a_call_takes(file):
    """Thousands of arrays are written, though one call takes a thousand buffers."""
    arrays = {str(i): np.full(i % 7, i) for i in range(3000)}
    file.write(HEADER, arrays)
    found = file.read().arrays
    assert all(same(found[name], array) for name, array in arrays.items())


def test_arrays_that_are_not_contiguous(file):
    """Columns of an array are stored as they are read."""
    file.write(HEADER, {"a": np.arange(12.0).reshape(3, 4)[:, 1], "b": np.ones((2, 3), order="F")})
    assert file.read().arrays["a"].tolist() == [1.0, 5.0, 9.0]


def test_any_damaged_byte_is_noticed(file):
    """Whatever byte is changed, the file is not taken for what was written."""
    file.write(HEADER, ARRAYS_OF)
    whole = file.path.read_bytes()
    for at in range(len(whole)):
        file.path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(PublishingError):
            file.read()


def test_any_missing_end_is_noticed(file):
    """A file that ends early, or is empty, is damaged."""
    file.write(HEADER, ARRAYS_OF)
    whole = file.path.read_bytes()
    for length in range(len(whole)):
        file.path.write_bytes(whole[:length])
        with pytest.raises(DamagedError):
            file.read()


def test_a_newer_format(file):
    """A file of a later release says that a later release is needed."""
    file.write(HEADER, ARRAYS_OF)
    file.path.write_bytes(file.path.read_bytes().replace(b"model 001", b"model 002", 1))
    for read in (file.read, file.read_header):
        with pytest.raises(PublishingError, match="number 2, and this release reads 1") as raised:
            read()
        assert not isinstance(raised.value, DamagedError)


def test_a_header_of_something_else(file):
    """A right checksum of wrong contents is an error of ours, too."""
    file.write(HEADER, ARRAYS_OF)
    first, _, rest = file.path.read_bytes().partition(b"\n")
    for other in (rest.replace(b'"version"', b'"revision"', 1), b"[]\n", b"no end"):
        line = first[:-8] + b"%08x\n" % zlib.crc32(other)
        file.path.write_bytes(line + other)
        with pytest.raises(DamagedError, match="header"):
            file.read()


def test_a_missing_folder_is_made(tmp_path):
    """Folders are made, also when they vanish later."""
    file = VersionFile(tmp_path / "a" / "b" / "x.model")
    for _ in range(2):
        file.write(HEADER, ARRAYS_OF)
        assert file.read().header == HEADER
        file.path.unlink()
        file.path.parent.rmdir()


def test_a_full_disk(file):
    """If a version does not fit, the one before stays, and no remains are left."""
    file.write(HEADER, ARRAYS_OF)
    with no_file_longer_than(100_000), pytest.raises(OSError, match="File too large") as raised:
        file.write(HEADER, {"large": np.ones(100_000)})
    assert raised.value.errno == errno.EFBIG
    assert list(file.read().arrays) == list(ARRAYS_OF)
    assert [each.name for each in file.path.parent.iterdir()] == [file.path.name]


def test_remains_are_removed(file):
    """Unfinished files of killed processes are removed, and only those of this name."""
    other = file.path.with_name("events-all.model2.1.partial")
    for path in (file.path.with_name("events-all.model.123.partial"), other):
        path.write_bytes(b"half")
    file.remove_partial()
    assert list(file.path.parent.iterdir()) == [other]


def test_not_a_file(tmp_path):
    """A folder in place of the file is an error that says so."""
    (tmp_path / "x.model").mkdir()
    with pytest.raises(PublishingError, match="can't be read"):
        VersionFile(tmp_path / "x.model").read()
