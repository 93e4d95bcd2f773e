"""Blocks of a state: stored once, before the snapshot that needs them, and removed late."""

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from iln_stream.errors import SnapshotError
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.snapshots import SnapshotFolder, learner_state, read_snapshot
from iln_stream.snapshots.loading import load
from iln_stream.state import ArrayBlock


@pytest.fixture
def folder(tmp_path):
    opened = SnapshotFolder(tmp_path / "events-0", keep=2)
    opened.lock()
    yield opened
    opened.unlock()


def blocks(folder):
    return sorted((folder.path / "blocks").glob("*.*"))


def copies(folder):
    return sorted((folder.path / "blocks" / "copies").glob("*.*"))


def with_blocks(snapshot, *values):
    """The snapshot with a state of these blocks."""
    state = {"blocks": [ArrayBlock(np.full(1_000, value)) for value in values]}
    return snapshot._replace(state=state)


def aged(folder):
    """Make all blocks look as if they were stored two hours ago."""
    for file in blocks(folder) + copies(folder):
        os.utime(file, (time.time() - 7_200,) * 2)


def test_a_block_is_written_once(folder, make):
    """The second snapshot writes its new block and its copy only, and both are read as they
    were."""
    first = folder.write(with_blocks(make(1), 1.0, 2.0))
    second = folder.write(with_blocks(make(2), 2.0, 3.0))
    assert first > 32_000
    assert 16_000 < second < 18_000
    assert len(blocks(folder)) == 3
    read = [folder.read(place).state["blocks"] for place in reversed(folder.places())]
    assert [[block[0] for block in each] for each in read] == [[1.0, 2.0], [2.0, 3.0]]


def test_blocks_go_with_the_last_snapshot_that_needs_them(folder, make):
    """Neither before that, nor within an hour of having been stored or needed again."""
    for offset in (1, 2, 3):  # two snapshots are kept
        folder.write(with_blocks(make(offset), offset, offset + 1))
    assert len(blocks(folder)) == 4
    aged(folder)
    folder.write(with_blocks(make(4), 1, 4))
    assert len(blocks(folder)) == len(copies(folder)) == 3  # 2 is gone; 1 was needed again
    assert [block[0] for block in folder.newest().state["blocks"]] == [1, 4]


def test_no_block_is_removed_while_a_snapshot_cannot_be_read(folder, make):
    """It may need any of them."""
    folder.write(with_blocks(make(1), 1))
    (folder.path / folder.places()[0].name).write_bytes(b"damaged")
    aged(folder)
    folder.write(with_blocks(make(2), 2))
    assert len(blocks(folder)) == 2


@pytest.mark.parametrize("harm", ["missing", "damaged"])
def test_a_snapshot_without_its_block_is_corrupt(folder, make, harm):
    """The run falls back to the one before."""
    folder.write(with_blocks(make(1), 1))
    (kept,) = blocks(folder)
    folder.write(with_blocks(make(2), 1, 2))
    (lost,) = set(blocks(folder)) - {kept}
    for file in (lost, lost.parent / "copies" / lost.name):
        if harm == "missing":
            file.unlink()
        else:
            data = bytearray(file.read_bytes())
            data[-1] ^= 1
            file.write_bytes(data)
    assert folder.newest().header == make(1).header
    with pytest.raises(SnapshotError, match="block"):
        folder.read(folder.places()[0])


HARMS = [
    Path.unlink,
    lambda file: file.write_bytes(b"damaged"),
    lambda file: (file.unlink(), os.mkfifo(file)),
    lambda file: (file.unlink(), file.symlink_to(file.name)),
]


@pytest.mark.parametrize("which", [blocks, copies])
@pytest.mark.parametrize("harm", HARMS, ids=["missing", "damaged", "a pipe", "a link to itself"])
def test_one_bad_block_spoils_no_snapshot(folder, make, which, harm):
    """All snapshots that need it are read by its copy, and the next one writes it again."""
    for offset in (1, 2):
        folder.write(with_blocks(make(offset), 1))
    (file,) = which(folder)
    whole = file.read_bytes()
    harm(file)
    assert [folder.read(place).state["blocks"][0][0] for place in folder.places()] == [1.0, 1.0]
    folder.write(with_blocks(make(3), 1))
    assert file.read_bytes() == whole
    file.unlink()
    file.mkdir()
    with pytest.raises(SnapshotError, match=rf"{file.name}: Is a directory; mend"):
        folder.write(with_blocks(make(4), 1))


def test_a_copy_of_a_snapshot_alone_says_what_it_lacks(folder, make, tmp_path):
    """With the folder of blocks beside it, it can be read."""
    folder.write(with_blocks(make(1), 1))
    alone = tmp_path / "alone" / "copy.snapshot"
    alone.parent.mkdir()
    shutil.copy(folder.path / folder.places()[0].name, alone)
    with pytest.raises(SnapshotError, match="needs a copy of the folder blocks beside it"):
        read_snapshot(alone)
    shutil.copytree(folder.path / "blocks", alone.parent / "blocks")
    assert read_snapshot(alone).state["blocks"][0][0] == 1.0


@pytest.mark.thorough
def test_a_learner_does_not_write_its_past_events_again(folder, make):
    """A snapshot 200 events later writes its last block of past events only; what is loaded
    predicts the same to the last bit, and goes on so.
    """
    learner, rng = InfiniteLayerRegressor(seed=1), np.random.default_rng(0)
    X = rng.normal(size=(8_400, 2))
    written = []
    for n, (a, b) in enumerate(X.tolist()):
        if n in (8_192, 8_392):
            state = {"learner": learner_state(learner, allow_pickle=False)}
            written.append(folder.write(make(n)._replace(state=state)))
        learner.learn_one({"a": a, "b": b}, a * b)
        if n == 8_391:
            taught = learner.predict_one({"a": 1.0, "b": 1.0})
    ring = 8_192 * (2 * 4 + 8)
    assert written[0] - written[1] > 0.9 * ring
    loaded = load(folder.path)
    assert loaded.predict_one({"a": 1.0, "b": 1.0}) == taught
    for a, b in X[8_392:].tolist():
        loaded.learn_one({"a": a, "b": b}, a * b)
    assert loaded.predict_one({"a": 1.0, "b": 1.0}) == learner.predict_one({"a": 1.0, "b": 1.0})
