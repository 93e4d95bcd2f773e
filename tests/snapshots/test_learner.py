"""Learners as trees: ours without pickle, others with it if that is asked for."""

import pytest
from river import datasets, linear_model, preprocessing

from iln_stream import Pool, ScaledTarget, ShrinkingGradient, WinsorisedScaler
from iln_stream.errors import SnapshotError
from iln_stream.snapshots import learner_of, learner_state

EVENTS = list(datasets.TrumpApproval())


def ours():
    return ScaledTarget(WinsorisedScaler() | ShrinkingGradient(estimator=Pool(32), seed=3))


def rivers():
    return preprocessing.StandardScaler() | linear_model.LinearRegression()


def learn(model, events):
    for x, y in events:
        model.learn_one(x, y)
    return model


@pytest.mark.parametrize(("make", "allowed"), [(ours, False), (ours, True), (rivers, True)])
def test_restored_learner_goes_on(make, allowed):
    """Saved in mid-stream and restored, a learner ends where the uninterrupted one does."""
    state = learner_state(learn(make(), EVENTS[:300]), allowed)
    restored = learn(learner_of(state, allowed), EVENTS[300:])
    whole = learn(make(), EVENTS)
    assert [restored.predict_one(x) for x, _ in EVENTS[:20]] == [
        whole.predict_one(x) for x, _ in EVENTS[:20]
    ]


def test_state_is_of_its_moment():
    """What is learned while the state is being written doesn't get into it."""
    model = learn(ours(), EVENTS[:300])
    x, _ = EVENTS[0]
    then = model.predict_one(x)
    state = learner_state(model, allow_pickle=False)
    learn(model, EVENTS[300:])
    assert model.predict_one(x) != then
    assert learner_of(state, allow_pickle=False).predict_one(x) == then


def test_pickle_has_to_be_asked_for():
    """Neither is a foreign learner pickled nor a pickle read unless the user says so."""
    with pytest.raises(
        SnapshotError, match="set snapshot_pickle to save it as a pickle, which runs"
    ):
        learner_state(rivers(), allow_pickle=False)
    state = learner_state(rivers(), allow_pickle=True)
    with pytest.raises(SnapshotError, match="holds a pickle, which runs code when it is read"):
        learner_of(state, allow_pickle=False)


def test_unreadable_state_names_the_remedy():
    """A state of an unknown class or version says how to go on."""
    with pytest.raises(SnapshotError, match="iln-stream rebuild"):
        learner_of({"class": "Unheard"}, allow_pickle=False)
