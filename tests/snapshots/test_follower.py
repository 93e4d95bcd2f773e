"""`Follower`: has the newest version, and says why it has none."""

import errno
import os
import shutil
import subprocess
import sys
from unittest.mock import Mock

import pytest
from river import linear_model
from support.command_line import environment

from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.snapshots.follower import Follower
from iln_stream.snapshots.publisher import Publisher


def model():
    return InfiniteLayerRegressor(profile="fast", seed=1)


def publish(path, learner, n=1, **values):
    """Learn n events and publish a version."""
    with Publisher(path, learner, seconds=3600.0, **values) as publisher:
        for k in range(n):
            learner.learn_one({"a": float(k)}, 1.0)
            publisher._due = float("inf")
            publisher.learned()


def test_nothing_there(path):
    """Without a file there is no version, and the reason says how to get one."""
    follower = Follower(path)
    assert follower.problem is not None
    assert follower.refresh() is False
    assert follower.current is None
    assert str(path) in follower.problem
    assert f"iln-stream run --publish {path.parent}" in follower.problem


def test_it_follows(path):
    """Each new version is read once; one that was current stays usable."""
    follower, learner = Follower(path), model()
    publish(path, learner)
    assert follower.refresh() is True
    assert follower.problem is None
    first = follower.current
    assert follower.refresh() is False
    assert follower.current is first
    before = first.learner.predict_one({"a": 0.5})
    publish(path, learner, 50)
    assert follower.refresh() is True
    assert follower.current.header.version == first.header.version + 1
    assert follower.current.learner.predict_one({"a": 0.5}) == learner.predict_one({"a": 0.5})
    assert first.learner.predict_one({"a": 0.5}) == before


def test_a_damaged_file(path):
    """A damaged file leaves the version before in place, with the reason; the next one is read."""
    follower, learner = Follower(path), model()
    publish(path, learner)
    follower.refresh()
    first = follower.current
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    for _ in range(2):
        assert follower.refresh() is False
        assert follower.current is first
        assert "checksum" in follower.problem
    publish(path, learner)
    assert follower.refresh() is True
    assert follower.problem is None


def test_a_failing_read_is_tried_again(path, monkeypatch):
    """A disk that fails once leaves a version unread only until the next refresh."""
    publish(path, model())
    follower = Follower(path)
    with monkeypatch.context() as patch:
        patch.setattr(
            "iln_stream.snapshots.published_file.read_container",
            Mock(side_effect=OSError(errno.EIO, "Input/output error")),
        )
        for _ in range(3):
            assert follower.refresh() is False
    assert follower.problem == f"{path}: it can't be read: Input/output error"
    assert follower.n_unreadable == 1
    assert follower.refresh() is True


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_no_regular_file(path, make):
    """A pipe or a folder in place of the file is told, and does not block; once it is gone, a
    version is read."""
    path.parent.mkdir()
    make(path)
    follower = Follower(path)
    assert follower.refresh() is False
    assert "it is not a regular file" in follower.problem
    path.rename(path.with_suffix(".other"))
    publish(path, model())
    assert follower.refresh() is True


def test_a_learner_of_a_newer_release(path, monkeypatch):
    """A state of a version that this release can't read is a problem, not a crash."""
    monkeypatch.setattr(InfiniteLayerRegressor, "state_version", 99)
    publish(path, model())
    monkeypatch.undo()
    follower = Follower(path)
    assert follower.refresh() is False
    assert "use the release that wrote it" in follower.problem


def test_a_pickle_that_is_not_allowed(path):
    """A pickle is not read unless allowed."""
    publish(path, linear_model.LinearRegression(), allow_pickle=True)
    follower = Follower(path)
    assert follower.refresh() is False
    assert "allow_pickle" in follower.problem
    assert Follower(path, allow_pickle=True).refresh() is True


def test_a_file_that_vanishes(path):
    """If the file is gone, the version stays, with the reason; the same file is read again."""
    publish(path, model())
    follower = Follower(path)
    follower.refresh()
    kept = path.with_name("kept")
    path.rename(kept)
    assert follower.refresh() is False
    assert follower.current is not None
    assert "no published version" in follower.problem
    kept.rename(path)
    assert follower.refresh() is True
    assert follower.problem is None
    shutil.rmtree(path.parent)
    assert follower.refresh() is False


def test_the_first_prediction_is_quick(path):
    """What a process has to load to predict is loaded before a version becomes current."""
    publish(path, InfiniteLayerRegressor(seed=1), 70)
    program = (
        "import sys\n"
        "from time import perf_counter\n"
        "from iln_stream.snapshots.follower import Follower\n"
        "follower = Follower(sys.argv[1])\n"
        "begin = perf_counter()\n"
        "assert follower.refresh()\n"
        "began = perf_counter()\n"
        "follower.current.learner.predict_interval({'a': 1.0})\n"
        "print((perf_counter() - began) / (began - begin))\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, str(path)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    assert float(done.stdout) < 0.3


class Failing(linear_model.LinearRegression):
    """A learner that can't be unpickled."""

    def __setstate__(self, state):
        raise ZeroDivisionError("no luck")


def test_a_pickle_that_fails(path):
    """Whatever a pickle raises is a problem with its reason, and the follower goes on."""
    publish(path, Failing(), allow_pickle=True)
    follower = Follower(path, allow_pickle=True)
    assert follower.refresh() is False
    assert "no luck" in follower.problem
    publish(path, model())
    assert follower.refresh() is True
