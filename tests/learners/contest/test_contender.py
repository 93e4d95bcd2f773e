"""A contender passes on what its learner takes."""

import pytest
from river import dummy, stats

from iln_stream.learners.contest import ContestRegressor

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


class Weighed(dummy.StatisticRegressor):
    """Notes its weights."""

    def __init__(self):
        super().__init__(stats.Mean())
        self.weights = []

    def learn_one(self, x, y, w=1.0):
        self.weights.append(w)
        super().learn_one(x, y)


def test_weights_are_passed_on():
    """Contenders that take a weight get it, and the others learn without."""
    contest = ContestRegressor(
        {"ours": dummy.StatisticRegressor(stats.Mean()), "weighed": Weighed()}
    )
    contest.learn_one({"a": 1.0}, 2.0, w=3.0)
    _, token = contest.predict_token({"a": 1.0})
    contest.learn_token({"a": 1.0}, token, 2.0, w=4.0)
    assert contest.contenders["weighed"].weights == [3.0, 4.0]
    assert contest.standings()[0].n_failures == 0
