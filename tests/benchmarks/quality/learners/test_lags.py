"""Peers that see the last two targets."""

import pytest
from river import base

from benchmarks.quality.learners import LAGGED, with_lags
from benchmarks.quality.learners.contender import Contender
from benchmarks.quality.learners.lags import LAGS, WithLags
from benchmarks.quality.streams import HELD_OUT, HELD_OUT_2, TEN


class Recorder(base.Regressor):
    """Keeps what it is shown."""

    def __init__(self):
        self.seen = []

    def learn_one(self, x, y):
        self.seen.append((x["a"], *(x[lag] for lag in LAGS), y))

    def predict_one(self, x):
        return x[LAGS[0]] - x[LAGS[1]]


def test_lags_are_the_last_two_targets_and_never_the_present_one():
    """Only at the first event, where no target is known, does it stand in for those before it."""
    recorder = Recorder()
    model = WithLags(recorder)
    for t, y in enumerate([5.0, 7.0, 11.0, 13.0]):
        model.learn_one({"a": t}, y)
    assert recorder.seen == [
        (0, 5.0, 5.0, 5.0),
        (1, 5.0, 5.0, 7.0),
        (2, 7.0, 5.0, 11.0),
        (3, 11.0, 7.0, 13.0),
    ]
    assert model.predict_one({"a": 4}) == 13.0 - 11.0


def test_the_inputs_given_are_not_changed():
    """The harness hands the same dict to measure and learner."""
    x = {"a": 1.0}
    model = WithLags(Recorder())
    model.learn_one(x, 2.0)
    model.predict_one(x)
    assert x == {"a": 1.0}


@pytest.mark.parametrize("stream", [*TEN, *HELD_OUT, *HELD_OUT_2], ids=lambda stream: stream.id)
def test_no_stream_has_inputs_of_these_names(stream):
    """A lag would otherwise replace an input."""
    assert not set(LAGS) & set(stream.events()[0][0])


def test_a_variant_has_an_id_of_its_own_and_all_else_of_its_peer():
    """Stored results of the two never mix."""
    peer = Contender("peer", "A peer", "batch", lambda seed: Recorder(), "k = 3", ("river",))
    variant = with_lags(peer)
    assert (variant.id, variant.title) == ("peer+lags", "A peer, with lags")
    assert (variant.family, variant.packages, variant.seeds) == ("batch", ("river",), (1,))
    assert isinstance(variant.make(1).regressor, Recorder)
    assert {c.id for c in LAGGED} >= {"river-ewa+lags", "batch-lightgbm+lags"}
