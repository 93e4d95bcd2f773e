"""`Trajectory`: a run's errors, losses and shrinks."""

import pytest
from river import datasets
from support.list_source import LIST

from iln_stream.cli.demo import Trajectory
from iln_stream.learners import find_shrinking_gradient
from iln_stream.loop import PrequentialLoop, Step
from iln_stream.service import shrinking_gradient
from iln_stream.streams.river import RiverDatasetSource


def test_trajectory_of_a_run():
    """A trajectory records the shrinks and ||alpha||_1 of Algorithm 1."""
    model = shrinking_gradient(seed=1, norm_bound=0.01, step=1.0)
    algorithm_1 = find_shrinking_gradient(model)
    trajectory = Trajectory(algorithm_1)
    source = RiverDatasetSource(datasets.TrumpApproval(), "TrumpApproval", limit=300)
    PrequentialLoop(source, model, [trajectory]).run()
    assert len(trajectory.shrinks) == algorithm_1.n_shrinks > 0
    assert trajectory.alpha_l1[-1] == algorithm_1.alpha_l1
    for event in trajectory.shrinks:
        assert trajectory.alpha_l1[event] == pytest.approx(trajectory.alpha_l1[event - 1] / 4)


def test_means_of_a_trajectory():
    """Means are over labelled events, and a loss is half a squared error."""
    trajectory = Trajectory()
    for y, y_pred in [(1.0, 3.0), (None, 9.0), (5.0, 4.0)]:
        trajectory.on_step(Step(LIST, 0, None, None, {}, y, y_pred, None, seconds=0.5))
    assert trajectory.absolute_errors == [2.0, 1.0]
    assert trajectory.mae == 1.5
    assert trajectory.running_loss == [0.5]  # from the second on
    assert trajectory.events_per_second == 2.0
    assert trajectory.alpha_l1 == []
