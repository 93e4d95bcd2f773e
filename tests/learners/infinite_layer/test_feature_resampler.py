import numpy as np
import pytest

from iln_stream.learners.infinite_layer.engine.inputs import Inputs
from iln_stream.learners.infinite_layer.engine.memory import Memory
from iln_stream.learners.infinite_layer.engine.target import Target
from iln_stream.learners.infinite_layer.experts.feature_resampler import (
    FIRST,
    SLICE,
    FeatureResampler,
)
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank, RLSSpec
from iln_stream.learners.infinite_layer.experts.weight_distribution import WeightDistribution

KEY = np.array([1, 2], dtype=np.uint64)
SIZE = 256  # of the memory


class Stand:
    """One expert, and what its redraws need."""

    def __init__(self, renewed):
        expert = RLSSpec("sharp", WeightDistribution("cos", 3.0, sparse=True), renewed=renewed)
        self.inputs, self.target = Inputs(3), Target()
        self.ridges = RLSBank((expert,), 32, n_lags=0)
        self.memory, self.redraws = Memory(SIZE, 0, 1), FeatureResampler(KEY, 1)
        self.ridges.widen(2)
        self.memory.widen(2)
        self.ridges.put(0, self.ridges.newborn(self.ridges.drawn(0, self.redraws.rng(0, 0))))
        self.replaced = []

    def learn(self, a, y, predicted, **more):
        """An event whose prediction, by the expert in place, is given."""
        row = self.inputs.admit({"a": a, "b": 1.0, **more})
        self.inputs.join(row)
        self.target.join(y)
        self.memory.put(row, np.zeros(0), y, np.array([predicted]))
        if self.redraws.work(self.ridges, self.inputs, self.target, self.memory) is not None:
            self.replaced.append(self.memory.n)


def replaced(renewed, n, error):
    """The events at which the expert was replaced, if its predictions always erred by `error`."""
    stand = Stand(renewed)
    rng = np.random.default_rng(0)
    for a in rng.normal(size=n).tolist():
        stand.learn(a, a, a + error)
    return stand.replaced


def test_all_history_is_learned_again_at_each_doubling():
    """While the memory holds all events, a candidate takes over without being scored."""
    doublings = [FIRST, 2 * FIRST, 4 * FIRST]
    # A candidate that needs more events than one slice holds takes over a few events later.
    wanted = [n + (n - 1) // SLICE for n in doublings]
    assert replaced(renewed=False, n=1_200, error=0.0) == pytest.approx(wanted, abs=1)


def test_later_a_newborn_takes_over_only_if_it_is_better():
    """A renewed expert that errs is replaced each time the memory is new; a good one is kept."""
    early = 3
    assert len(replaced(renewed=True, n=1_400, error=0.0)) == early
    assert len(replaced(renewed=True, n=1_400, error=5.0)) >= early + 3


def test_draws_are_a_function_of_the_event():
    """The same event and expert give the same draws; another event others."""
    redraws = FeatureResampler(KEY, 2)
    draws = [redraws.rng(n, k).random() for n, k in ((64, 0), (64, 0), (128, 0), (64, 1))]
    assert draws[0] == draws[1]
    assert len(set(draws)) == 3


def test_a_new_column_widens_what_is_being_built():
    """A candidate continues, wider, when a column is added, and a round of redraws follows."""
    stand = Stand(renewed=False)
    rng = np.random.default_rng(0)
    for a in rng.normal(size=2 * FIRST).tolist():
        stand.learn(a, a, a)
    assert stand.redraws.state()["newborn"] is not None
    stand.inputs.admit({"a": 0.0, "b": 1.0, "c": 0.0})
    stand.ridges.widen(1)
    stand.memory.widen(1)
    stand.redraws.columns_came(stand.ridges, stand.memory)
    assert len(stand.redraws.state()["newborn"]["omega"]) == 3
    assert stand.redraws.next_at <= 3 * FIRST
    n_replaced = len(stand.replaced)
    for _ in range(2):
        stand.learn(0.0, 0.0, 0.0, c=1.0)
    assert len(stand.replaced) == n_replaced + 1


def test_columns_that_keep_coming_are_no_end_of_redraws():
    """The next round comes at least a quarter of the memory after the last."""
    stand = Stand(renewed=False)
    for a in np.random.default_rng(0).normal(size=SIZE + 10).tolist():
        stand.learn(a, a, a)
    stand.redraws.columns_came(stand.ridges, stand.memory)
    assert stand.redraws.next_at == max(stand.memory.n + FIRST, stand.redraws.began_at + SIZE // 4)
