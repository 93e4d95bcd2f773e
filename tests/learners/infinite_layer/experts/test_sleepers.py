import numpy as np

from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.experts.sleepers import (
    AWAKE,
    SHARE,
    Sleeper,
    SleepingExperts,
)
from iln_stream.state import from_bytes, to_bytes


class Average(Sleeper):
    """Predicts the mean of its targets under two names, and notes what it is asked to do."""

    kept = ("mean", "n", "width")

    def __init__(self, *names):
        self.names = names
        self.mean, self.n, self.width = 0.0, 0, 0

    def widen(self, n_columns):
        self.width += n_columns

    def begin_anew(self):
        self.mean, self.n = 0.0, 0

    def predict(self, event, p):
        p[:] = self.mean

    def learn(self, event, t, p):
        assert (p == self.mean).all()  # its own predictions
        self.n += 1
        self.mean += (t - self.mean) / self.n


def averages():
    return {"one": Average("a"), "two": Average("b", "c")}


def taught(sleepers, n, t=1.0, share=0.0):
    """Predict and learn n targets t, each time with this share of the weight."""
    event, p = Observation(0, 1), sleepers_predictions(sleepers)
    for _ in range(n):
        sleepers.predict(event, p)
        sleepers.learn(event, t, p)
        if not sleepers.asleep:
            sleepers.weigh(share)
    return sleepers


def sleepers_predictions(sleepers):
    """The predictions for an event."""
    p = np.full(len(sleepers.names), 9.0)
    sleepers.predict(Observation(0, 1), p)
    return p


def test_they_sleep_once_others_do_without_them():
    """Not before 4,096 events; asleep they neither predict nor learn."""
    sleepers = taught(SleepingExperts(averages()), AWAKE - 1)
    assert sleepers.share < SHARE
    assert not sleepers.asleep
    taught(sleepers, 200)
    assert sleepers.asleep
    assert sleepers_predictions(sleepers).tolist() == [0.0, 0.0, 0.0]
    assert [expert.n for expert in sleepers.experts.values()] == [AWAKE, AWAKE]


def test_they_stay_awake_while_they_are_needed():
    """A share just above the limit is enough; a small one must last."""
    sleepers = taught(SleepingExperts(averages()), AWAKE + 2_000, share=1.2 * SHARE)
    assert not sleepers.asleep
    assert not taught(sleepers, 100).asleep
    assert taught(sleepers, 1_000).asleep


def test_restored_they_go_on():
    """Asleep, too."""
    sleepers, twin = taught(SleepingExperts(averages()), AWAKE + 50), SleepingExperts(averages())
    twin.restore(from_bytes(to_bytes(sleepers.state())))
    for each in (sleepers, twin):
        taught(each, 100, t=-0.3)
    assert twin.state() == sleepers.state()
