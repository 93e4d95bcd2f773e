"""Kills of a process that publishes: readers see no half of a file, and never an older version."""

import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest
from support.command_line import environment

from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.snapshots.follower import Follower
from iln_stream.snapshots.publisher import Publisher

PROGRAM = Path(__file__).parents[1] / "support" / "publishes_forever.py"
N_KILLS = 3


@pytest.mark.thorough
def test_versions_never_go_back(tmp_path):
    """A learner is killed at any moment, again and again, and starts over each time."""
    path = tmp_path / "s-0.model"
    follower, seen = Follower(path), []
    for kill in range(N_KILLS):
        process = subprocess.Popen([sys.executable, str(PROGRAM), str(path)], env=environment())
        try:
            deadline, wanted = monotonic() + 120.0, len(seen) + 6
            while len(seen) < wanted:
                assert monotonic() < deadline
                assert process.poll() is None
                if follower.refresh():
                    now = follower.current.header
                    seen.append((now.version, now.n_learned, now.positions["", 0]))
                assert follower.problem is None or follower.current is None, follower.problem
                sleep(0.001)  # leaves the learner some of the processor
            sleep(0.0007 * kill)
        finally:
            process.kill()
            process.wait()
    versions, learned, positions = zip(*seen, strict=True)
    assert list(versions) == sorted(set(versions))
    assert list(learned) == sorted(learned)
    assert positions == learned
    learner = InfiniteLayerRegressor(profile="fast", seed=1)
    with Publisher(path, learner):  # the next start removes what kills have left
        assert [each.name for each in tmp_path.iterdir()] == [path.name]
