"""A contest is saved and restored to the last bit, with a pickle only where it is allowed."""

import copy
import pickle

import pytest
from support.contests import CONTESTS, content, fast, regressors, run, stream
from support.states import same

from iln_stream.errors import SnapshotError, StateError
from iln_stream.learners import model_of, state_of
from iln_stream.learners.contest import ContestRegressor
from iln_stream.snapshots import learner_of, learner_state
from iln_stream.state import from_bytes, to_bytes

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


@pytest.mark.parametrize("delay", [None, 7])
@pytest.mark.parametrize("task", CONTESTS)
def test_a_restored_contest_goes_on_bit_for_bit(task, delay):
    """Saved after a promotion and restored from bytes, it repeats predictions, scores, all."""
    contest = CONTESTS[task](mixture=True, promotion="evidence")
    events = list(stream(150, classes=task == "classifiers"))
    run(contest, events[:40], delay)
    contest.promote("mixture")
    run(contest, events[40:100], delay)
    state = from_bytes(to_bytes(learner_state(contest, allow_pickle=True)))
    restored = learner_of(state, allow_pickle=True)
    assert same(content(restored), content(contest))
    copied = pickle.loads(pickle.dumps(contest))
    deep = copy.deepcopy(contest)
    expected = run(contest, events[100:], delay)
    final = content(contest)
    for other in (restored, copied, deep):
        assert run(other, events[100:], delay) == expected
        assert same(content(other), final)


def test_a_pickle_needs_permission():
    """A contender of River's is saved and read as a pickle only when that is allowed."""
    contest = regressors()
    with pytest.raises(SnapshotError, match="snapshot_pickle"):
        learner_state(contest, allow_pickle=False)
    with pytest.raises(StateError, match="StandardScaler has no state"):
        state_of(contest)
    state = learner_state(contest, allow_pickle=True)
    with pytest.raises(SnapshotError, match="snapshot_pickle"):
        learner_of(state, allow_pickle=False)
    with pytest.raises(StateError):
        model_of(state)


def test_contests_of_ours_need_no_pickle():
    """A contest of our learners is saved without a pickle, and `model_of` restores it."""
    contest = ContestRegressor({"a": fast(1), "b": fast(2)}, mixture=True)
    events = list(stream(60))
    run(contest, events[:30])
    restored = model_of(from_bytes(to_bytes(state_of(contest))))
    assert run(restored, events[30:]) == run(contest, events[30:])
    learned = learner_of(learner_state(contest, allow_pickle=False), allow_pickle=False)
    assert same(state_of(learned), state_of(contest))


def test_a_state_of_another_contest_is_refused():
    """Other settings, contenders or learners are an error that names both."""
    state = learner_state(regressors(), allow_pickle=True)
    load = lambda each: learner_of(each, allow_pickle=True)  # noqa: E731
    for other, message in (
        (regressors(window=5), "'window': 1000"),
        (ContestRegressor({"ours": fast(1)}), "of the contenders"),
        (ContestRegressor({"ours": fast(1), "other": fast(1), "linear": fast(1)}), "linear is a"),
    ):
        with pytest.raises(StateError, match=message):
            other.restore(state, load)


def test_a_clone_with_attributes():
    """It has learned what the contest has learned, and goes on alone."""
    contest = ContestRegressor({"a": fast(1), "b": fast(2)})
    for t in range(20):
        contest.learn_one({"a": float(t % 5)}, float(t % 3))
    clone = contest.clone(include_attributes=True)
    before = contest.predict_one({"a": 2.5})
    assert clone.predict_one({"a": 2.5}) == before
    clone.learn_one({"a": 2.5}, 100.0)
    assert contest.predict_one({"a": 2.5}) == before
    assert contest.contenders["a"].n_learned == 20
