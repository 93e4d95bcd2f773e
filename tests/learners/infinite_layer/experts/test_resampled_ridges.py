import numpy as np
import pytest

from iln_stream.kernels.regression_event import center_and_unit, join_target, scaled
from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.experts.resampled_ridges import FIRST, ResampledRidges
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank, RLSSpec, WeightDistribution
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.target import Target
from iln_stream.learners.restoring import random_key

N_LAGS, N_UNITS, SIZE = 2, 16, 300
SPECS = (
    RLSSpec("smooth", WeightDistribution("cos", 1.0, sparse=False)),
    RLSSpec("recent", WeightDistribution("relu", 1.0, sparse=True, recent=True), recent=True),
)


class Stand:
    """The experts, and the parts of a learner that they use."""

    def __init__(self, *, resampled=True):
        self.inputs, self.target, self.memory = Inputs(4), Target(), Memory(SIZE, N_LAGS)
        self.bank = RLSBank(SPECS, N_UNITS, N_LAGS)
        self.ridges = ResampledRidges(
            self.bank, self.inputs, self.target, self.memory, random_key(1), resampled=resampled
        )
        self.p = np.zeros(len(SPECS))

    def learn(self, x, y, lags=(0.0, 0.0)):
        """Predict an event, whose last targets are given, and learn it."""
        known = len(self.inputs)
        row = self.inputs.admit(x)
        if len(row) > known:
            self.memory.widen(len(row) - known)
            self.ridges.widen(len(row) - known)
        self.event = event = Observation(N_LAGS, len(row))
        event.center, event.unit = center_and_unit(self.target.stats)
        event.v[:N_LAGS], event.n = lags, self.memory.n
        self.inputs.standardise(row, event.row, event.z)
        self.ridges.predict(event, self.p)
        self.inputs.join(row, self.memory.n)
        join_target(y, self.target.stats, self.memory.n)
        self.memory.put(row, y)
        self.ridges.learn(event, scaled(y, *center_and_unit(self.target.stats)), self.p)


def events(n, names="ab"):
    """Targets that depend on the first input alone; and last targets."""
    rng = np.random.default_rng(0)
    for values in rng.normal(size=(n, len(names))).tolist():
        yield dict(zip(names, values, strict=True)), np.sin(2.0 * values[0]), rng.normal(size=2)


def test_predictions_are_kept_for_comparison_with_a_candidate():
    """In units of the target, as of the event, in the slot of the memory that the event is in."""
    stand = Stand()
    wanted = []
    for i, (x, y, lags) in enumerate(events(SIZE + 30)):
        stand.learn(x, 1000.0 + i + y, lags)
        wanted.append(stand.event.center + stand.event.unit * stand.p)
    slots = np.arange(30, SIZE + 30) % SIZE
    assert stand.ridges.resampler.predictions[slots] == pytest.approx(np.array(wanted[30:]))


def test_new_columns_are_used_after_the_next_redraw():
    """The redraw is earlier because of them; until then they enter linearly."""
    stand = Stand()
    for event in events(140):
        stand.learn(*event)
    for event in events(80, "abc"):
        stand.learn(*event)
        drawn = stand.bank.drawn_at > 140
        assert (stand.bank.omega[:, -1].any(axis=1) == drawn).all()
    assert (stand.bank.drawn_at >= 140 + FIRST).all()


def test_new_columns_leave_what_was_learned_of_the_others():
    """The gradients' products stay, and a new column is as relevant as all were at first."""
    stand = Stand()
    for event in events(20):
        stand.learn(*event)
    before = stand.ridges.agop.copy()
    stand.ridges.widen(1)
    assert (stand.ridges.agop[:, :-1, :-1] == before).all()
    assert (stand.ridges.agop[:, -1] == np.eye(N_LAGS + 3)[-1]).all()


@pytest.mark.parametrize("resampled", [True, False])
def test_units_are_redrawn_unless_they_are_to_stay(resampled):
    """Without redraws, the first units stay, though columns come, and no gradients are averaged."""
    stand = Stand(resampled=resampled)
    for i, event in enumerate([*events(100), *events(FIRST, "abc")]):
        stand.learn(*event)
        if i == 0:
            first = stand.bank.omega.copy()
    changed = (stand.bank.omega[:, : N_LAGS + 2] != first).any()
    assert changed == resampled
    assert (stand.bank.drawn_at > 0).all() == resampled
    eye = np.eye(N_LAGS + 3)
    assert (stand.ridges.agop != eye).any() == resampled


def test_begun_anew_it_learns_later_events_only():
    """Units are drawn at once, and again after 64 and 128 events, from those since: earlier targets
    are made useless here.
    """
    stand = Stand()
    for x, y, lags in events(SIZE + 100):
        stand.learn(x, y, lags)
    stand.memory.y[:] = np.nan
    stand.bank.theta[0] = np.nan
    stand.ridges.heal()
    assert np.any(stand.ridges.asleep)
    stand.ridges.begin_anew()
    assert not np.any(stand.ridges.asleep)  # a restored expert would not sleep either
    n = stand.memory.n
    assert stand.bank.drawn_at.tolist() == [n, n]
    drawn = set()
    for x, y, lags in events(4 * FIRST):
        stand.learn(x, y, lags)
        drawn |= set((stand.bank.drawn_at - n).tolist())
        assert np.isfinite(stand.p).all()
    assert np.isfinite(stand.bank.theta).all()
    assert min(drawn - {0}) >= FIRST
    assert max(drawn) >= 2 * FIRST
    relevance = stand.ridges.relevance(0)
    assert relevance[0] > 10.0 * relevance[1]
