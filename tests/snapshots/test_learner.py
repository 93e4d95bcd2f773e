"""Learners as trees: ours without pickle, others with it if that is asked for."""

from dataclasses import dataclass

import numpy as np
import pytest
from river import datasets, linear_model, preprocessing
from support.own_parts import Mine, Signs
from support.prequential import learned

from iln_stream.errors import NotFiniteError, SnapshotError
from iln_stream.features import Erf, Mixture
from iln_stream.learners import restorable
from iln_stream.learners.estimators.pool import Pool
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.snapshots import learner_of, learner_state

EVENTS = list(datasets.TrumpApproval())


def ours():
    return ScaledTarget(WinsorisedScaler() | ShrinkingGradient(estimator=Pool(32), seed=3))


def rivers():
    return preprocessing.StandardScaler() | linear_model.LinearRegression()


def test_state_is_of_its_moment():
    """What is learned while the state is being written doesn't get into it."""
    model = learned(ours(), EVENTS[:300])
    x, _ = EVENTS[0]
    then = model.predict_one(x)
    state = learner_state(model, allow_pickle=False)
    learned(model, EVENTS[300:])
    assert model.predict_one(x) != then
    assert learner_of(state, allow_pickle=False).predict_one(x) == then


def test_pickle_has_to_be_asked_for():
    """Neither is a foreign learner pickled nor a pickle read unless the user says so."""
    with pytest.raises(
        SnapshotError, match="or set snapshot_pickle to save it as a pickle, which runs"
    ):
        learner_state(rivers(), allow_pickle=False)
    state = learner_state(rivers(), allow_pickle=True)
    with pytest.raises(SnapshotError, match="holds a pickle, which runs code when it is read"):
        learner_of(state, allow_pickle=False)


@restorable
@dataclass(frozen=True)
class Known(Signs):
    """A family of a user's own that a state can tell of."""

    scale: float = 1.0

    def psi(self, x, w):
        return np.tanh(self.scale * np.vecdot(w, x))


def with_own(**own):
    return ScaledTarget(WinsorisedScaler() | ShrinkingGradient(**own, draws=20, seed=1))


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"features": Signs()}, "features is a Signs"),
        ({"estimator": Mine()}, "estimator is a Mine"),
        ({"features": Mixture((Erf(), Signs()))}, "features is a Mixture"),
    ],
)
def test_what_could_not_be_restored_is_not_saved(own, said):
    """A family or estimator of the user's own is refused when there is nothing to lose yet, with
    both remedies, rather than when it should be restored."""
    with pytest.raises(SnapshotError, match=rf"^snapshots: {said}, .*@restorable.*snapshot_pickle"):
        learner_state(with_own(**own), allow_pickle=False)


@pytest.mark.parametrize(
    ("make", "allowed", "pickled"),
    [
        (ours, False, False),
        (ours, True, False),
        (rivers, True, True),
        (lambda: with_own(features=Known(2.0)), False, False),
        (lambda: with_own(features=Mixture((Erf(), Known(2.0)))), False, False),
        (lambda: with_own(features=Signs(), estimator=Mine()), True, True),
    ],
)
def test_restored_learner_goes_on(make, allowed, pickled):
    """Saved in mid-stream and restored, a learner ends where the uninterrupted one does. A class
    that is @restorable is saved without pickle, another one with it."""
    state = learner_state(learned(make(), EVENTS[:300]), allowed)
    assert ("pickle" in state) == pickled
    restored = learned(learner_of(state, allowed), EVENTS[300:])
    whole = learned(make(), EVENTS)
    assert [restored.predict_one(x) for x, _ in EVENTS[:20]] == [
        whole.predict_one(x) for x, _ in EVENTS[:20]
    ]


def test_unreadable_state_names_the_remedy():
    """A state of an unknown class or version says how to go on."""
    with pytest.raises(SnapshotError, match=r"state of 'Unheard'.*iln-stream rebuild"):
        learner_of({"class": "Unheard"}, allow_pickle=False)
    state = learner_state(ours(), allow_pickle=False) | {"version": 99}
    with pytest.raises(
        SnapshotError,
        match=r"iln_stream\.ScaledTarget has format 99, and release \S+ reads 2: use the "
        "release that wrote it; or learn again from the log with `iln-stream rebuild`",
    ):
        learner_of(state, allow_pickle=False)


@pytest.mark.parametrize(
    "wrap", [lambda model: model, ScaledTarget, lambda m: WinsorisedScaler() | m]
)
@pytest.mark.parametrize("allowed", [True, False])
def test_a_state_that_is_not_finite_is_not_saved(wrap, allowed):
    """Nor as a pickle; also if the learner is within another; the error names the numbers."""
    model = ShrinkingGradient(estimator=Pool(32), seed=3)
    model.learn_row(np.array([np.nan]), 0.5)
    with pytest.raises(NotFiniteError, match=r"not finite: ShrinkingGradient/f/theta"):
        learner_state(wrap(model), allowed)
