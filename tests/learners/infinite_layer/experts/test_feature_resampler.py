import numpy as np
import pytest

from iln_stream.kernels.regression_event import join_target
from iln_stream.learners.infinite_layer.experts.resampled_ridges import (
    FIRST,
    SLICE,
    FeatureResampler,
)
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank, RLSSpec, WeightDistribution
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.target import Target

KEY = np.array([1, 2], dtype=np.uint64)
SIZE = 256  # of the memory
SHARP = WeightDistribution("cos", 3.0, sparse=True)


class Stand:
    """One expert, and what its redraws need."""

    def __init__(self, renewed):
        self.inputs, self.target, self.memory = Inputs(3), Target(), Memory(SIZE, 0)
        self.bank = RLSBank((RLSSpec("sharp", SHARP, renewed=renewed),), 32, n_lags=0)
        self.resampler = FeatureResampler(self.bank, self.inputs, self.target, self.memory, KEY)
        self.bank.widen(2)
        self.memory.widen(2)
        self.agop = np.eye(2)[np.newaxis]
        self.resampler.draw_first(self.agop)
        self.replaced = []

    def learn(self, a, y, predicted, **more):
        """An event whose prediction, by the expert in place, is given."""
        row = self.inputs.admit({"a": a, "b": 1.0, **more})
        self.inputs.join(row, self.memory.n)
        join_target(y, self.target.stats, self.memory.n)
        self.resampler.predictions[self.memory.n % SIZE] = predicted
        self.memory.put(row, y)
        self.resampler.advance(self.agop)
        if self.bank.drawn_at[0] == self.memory.n:
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


def test_later_a_candidate_takes_over_only_if_it_is_better():
    """A renewed expert that errs is replaced each time the memory is new; a good one is kept."""
    early = 3
    assert len(replaced(renewed=True, n=1_400, error=0.0)) == early
    assert len(replaced(renewed=True, n=1_400, error=5.0)) >= early + 3


def first_units(key):
    """The first units of two experts of the same law."""
    bank = RLSBank((RLSSpec("one", SHARP), RLSSpec("two", SHARP)), 32, n_lags=0)
    bank.widen(2)
    resampler = FeatureResampler(bank, Inputs(2), Target(), Memory(SIZE, 0), np.array(key))
    resampler.draw_first(np.tile(np.eye(2), (2, 1, 1)))
    return bank.omega


def test_draws_are_a_function_of_key_event_and_expert():
    """The same ones give the same units; another key, expert or event gives others."""
    key = KEY.tolist()
    assert (first_units(key) == first_units(key)).all()
    one, two = first_units(key)
    assert (one != two).any()
    assert (one != first_units([3, 2])[0]).any()
    stand, twin = Stand(renewed=False), Stand(renewed=False)
    units = [stand.bank.omega.copy()]
    for a in np.random.default_rng(0).normal(size=200).tolist():
        for each in (stand, twin):
            each.learn(a, a, a)
        if stand.bank.drawn_at[0] == stand.memory.n:
            assert all((stand.bank.omega != others).any() for others in units)
            units.append(stand.bank.omega.copy())
    assert len(units) == 3
    assert (stand.bank.omega == twin.bank.omega).all()


def test_a_new_column_widens_the_candidate():
    """A candidate continues, wider, when a column is added, and a round of redraws follows."""
    stand = Stand(renewed=False)
    rng = np.random.default_rng(0)
    for a in rng.normal(size=2 * FIRST).tolist():
        stand.learn(a, a, a)
    assert stand.resampler.state()["candidate"] is not None
    stand.inputs.admit({"a": 0.0, "b": 1.0, "c": 0.0})
    stand.bank.widen(1)
    stand.memory.widen(1)
    stand.agop = np.eye(3)[np.newaxis]
    stand.resampler.schedule_redraw_for_new_columns()
    assert len(stand.resampler.state()["candidate"]["omega"]) == 3
    assert stand.resampler.next_at <= 3 * FIRST
    n_replaced = len(stand.replaced)
    for _ in range(2):
        stand.learn(0.0, 0.0, 0.0, c=1.0)
    assert len(stand.replaced) == n_replaced + 1


def test_a_discarded_candidate_is_drawn_again():
    """After `start_over` the expert that was being redrawn is the next to be redrawn."""
    stand = Stand(renewed=False)
    for a in np.random.default_rng(0).normal(size=2 * FIRST).tolist():
        stand.learn(a, a, a)
    stand.resampler.start_over()
    state = stand.resampler.state()
    assert (state["candidate"], state["waiting"]) == (None, [0])
    for _ in range(4):
        stand.learn(0.0, 0.0, 0.0)
    assert stand.replaced[-1] > 2 * FIRST


@pytest.mark.parametrize("shifted", [False, True])
def test_an_expert_without_weights_takes_any_candidate(shifted):
    """Though the memory has lost history and the old expert's stored predictions were perfect, and
    although the target's level changed lately, the candidate takes over as soon as it has learned.
    """
    stand, rng = Stand(renewed=False), np.random.default_rng(0)
    level = 0.0
    for n, a in enumerate(rng.normal(size=1_300).tolist()):
        if shifted and n == 1_150:
            level = 1e4
        if n == 1_200:
            stand.resampler.rebuild([0])
        stand.learn(a, a + level, a + level)
    assert stand.target.changed_at == (pytest.approx(1_155, abs=10) if shifted else 0)
    assert 1_200 < stand.replaced[-1] < 1_220
    assert stand.resampler.rebuilding == []
