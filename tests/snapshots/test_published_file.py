"""`VersionFile`: what is read is what was written, or an error that says why not."""

import dataclasses
import errno

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams.test_journal import room_for

from iln_stream.snapshots import CorruptSnapshotError
from iln_stream.snapshots.file import write_container
from iln_stream.snapshots.published_file import VersionFile, VersionHeader
from iln_stream.streams import StreamPartition

HEADER = VersionHeader(
    version=3,
    published_at=1.5,
    positions={StreamPartition("iln-events", 0): 7, StreamPartition("iln-labels", 2): 9},
    n_learned=16,
    task="regression",
    learner="infinite-layer",
    stream="iln-events",
    topic_id="abc",
    configuration="0123",
)
STATE = {"a": 1, "b": np.arange(5.0)}


@pytest.fixture
def file(tmp_path):
    return VersionFile(tmp_path / "events-all.model")


@given(st.text(), st.text().filter(lambda text: "\x00" not in text))
def test_any_names(tmp_path_factory, stream, learner):
    """Header and state come back, whatever is in the names; the container has tests of its own."""
    file = VersionFile(tmp_path_factory.mktemp("any") / "x.model")
    positions = {StreamPartition(stream, 3): 7}
    header = dataclasses.replace(HEADER, stream=stream, learner=learner, positions=positions)
    identity = file.write(header, STATE)
    found = file.read()
    assert found.header == file.read_header() == header
    assert found.identity == identity == file.identity()
    assert found.learner["b"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("change", [{"version": None}, {"positions": {"": 5}}, {"positions": []}])
def test_a_header_of_something_else(file, change):
    """A right checksum of wrong contents is an error of ours, too."""
    fields = dataclasses.asdict(HEADER) | {"positions": {}} | change
    with file.path.open("w+b") as opened:
        write_container(opened, {k: v for k, v in fields.items() if v is not None}, STATE)
    for read in (file.read, file.read_header):
        with pytest.raises(CorruptSnapshotError, match="header"):
            read()


def test_a_missing_folder_is_made(tmp_path):
    """Folders are made, also when they vanish later."""
    file = VersionFile(tmp_path / "a" / "b" / "x.model")
    for _ in range(2):
        file.write(HEADER, STATE)
        assert file.read().header == HEADER
        file.path.unlink()
        file.path.parent.rmdir()


def test_a_full_disk(file):
    """If a version does not fit, the one before stays, and no remains are left."""
    file.write(HEADER, STATE)
    with room_for(100_000), pytest.raises(OSError, match="File too large") as raised:
        file.write(HEADER, {"large": np.ones(100_000)})
    assert raised.value.errno == errno.EFBIG
    assert file.read().learner.keys() == STATE.keys()
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
    with pytest.raises(OSError, match="not a regular file"):
        VersionFile(tmp_path / "x.model").read()
