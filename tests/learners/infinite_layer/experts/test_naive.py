import numpy as np
import pytest

from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.experts.naive import Persistence, RunningMean


def predicted(expert, *last_targets):
    """The prediction after these scaled targets, the last one first, and one input of 1."""
    event, p = Observation(len(last_targets), 1), np.full(1, np.nan)
    event.v[:] = *(3.0 * t for t in last_targets), 1.0
    expert.predict(event, p)
    return float(p[0])


@pytest.mark.parametrize("last", [-2.0, 0.0, 0.7])
def test_persistence_predicts_the_last_target(last):
    """On the target's scale, for any earlier target and any input."""
    assert predicted(Persistence(), last, 1.5) == pytest.approx(last)


def test_running_mean_predicts_the_center():
    """The scale's center is the running mean, so its prediction is 0 at any event."""
    assert predicted(RunningMean(), 0.7, 1.5) == predicted(RunningMean()) == 0.0


def test_they_keep_nothing():
    """All that they use is in the event, so that their states are empty."""
    assert (Persistence().state(), RunningMean().state()) == ({}, {})
