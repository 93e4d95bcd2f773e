"""A contest predicts as its champion does alone, and a challenger disturbs nothing."""

import copy

import pytest
from river import dummy, linear_model, stats
from support.contests import CONTESTS, Faulty, fast, linear, regressors, run, stream
from support.states import same

from iln_stream.learners import InfiniteLayerClassifier, state_of
from iln_stream.learners.contest import ContestClassifier, ContestRegressor
from iln_stream.reporting import find_metrics, find_reporter
from iln_stream.snapshots import learner_of, learner_state
from iln_stream.state import to_bytes

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


@pytest.mark.parametrize(("mixture", "delay"), [(False, None), (True, 0), (True, 7)])
@pytest.mark.parametrize("task", CONTESTS)
def test_predicts_as_the_champion_alone(task, mixture, delay):
    """Predictions and the champion's state are those of its learner alone, bit for bit."""
    contest = CONTESTS[task](mixture=mixture)
    alone = contest.clone().contenders["ours"]
    events = list(stream(100, classes=task == "classifiers"))
    assert run(contest, events, delay) == run(alone, events, delay)
    assert same(state_of(contest.champion_learner), state_of(alone))


FAULTS = {
    "predicting": Faulty(predicts=range(5, 40)),
    "learning": Faulty(learns=range(5, 40)),
    "nan": Faulty(nan=range(5, 10_000)),
    "meddling": Faulty(meddles=True),
}


@pytest.mark.parametrize(("policy", "delay"), [("skip", 3), ("restart", None)])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_challenger_disturbs_nothing(fault, policy, delay):
    """With it, predictions, states and scores of all others are the same bits as without."""
    contenders = {"ours": fast(1), "bad": FAULTS[fault].clone(), "other": fast(2)}
    contest = ContestRegressor(contenders, on_failure={"bad": policy})
    quiet = ContestRegressor({"ours": fast(1), "other": fast(2)})
    events = list(stream(150))
    before = copy.deepcopy(events)
    assert run(contest, events, delay) == run(quiet, events, delay)
    assert events == before
    for name in ("ours", "other"):
        assert same(state_of(contest.contenders[name]), state_of(quiet.contenders[name]))
    ours, bad, other = contest.standings()
    for found, expected in zip((ours, other), quiet.standings(), strict=True):
        assert found[:8] == expected[:8]
    assert (bad.n_failures > 0) == (fault != "meddling")
    if fault == "predicting":  # also where the label comes later
        assert bad.last_failure.startswith("RuntimeError")


def test_the_champions_errors_are_its_own():
    """An event that the champion refuses is learned by nobody, and changes nothing."""
    contest = ContestRegressor({"bad": Faulty(learns=[3]), "ours": fast(1)}, mixture=True)
    run(contest, stream(3))
    before = to_bytes(state_of(contest.contenders["ours"])), contest.standings()
    x, y = next(stream(1))
    with pytest.raises(RuntimeError, match="can't learn"):
        contest.learn_one(x, y)
    assert (to_bytes(state_of(contest.contenders["ours"])), contest.standings()) == before


@pytest.mark.parametrize("task", CONTESTS)
def test_scores_are_of_what_each_predicted(task):
    """Scores of late labels are those of the predictions at the time, of every contender."""
    contest, delay = CONTESTS[task](mixture=True), 5
    events = list(stream(80, classes=task == "classifiers"))
    waiting = []
    sums = dict.fromkeys((each.name for each in contest.standings()), 0.0)
    for x, y in events:
        own = {
            name: each.predict_one(x) if task == "regressors" else each.predict_proba_one(x)
            for name, each in contest.contenders.items()
        }
        _, token = contest.predict_token(x)
        waiting.append((x, token, y, own))
        if len(waiting) > delay:
            x, token, y, own = waiting.pop(0)
            for name, p in own.items():
                if task == "regressors":
                    sums[name] += abs(p - y)
                else:
                    sums[name] += not p or max(p, key=p.__getitem__) != y
            contest.learn_token(x, token, y)
    for each in contest.standings():
        assert each.n_scored == 80 - delay
        if each.name != "mixture":
            assert each.running_error == sums[each.name] / (80 - delay)


def test_a_contender_that_was_added_meanwhile_learns_late_labels():
    """It learns events predicted before it came, and is not scored on them."""
    contest = regressors()
    events = list(stream(20))
    tokens = [contest.predict_token(x)[1] for x, _ in events]
    contest.add("new", fast(3))
    contest.remove("linear")
    for (x, y), token in zip(events, tokens, strict=True):
        contest.learn_token(x, token, y)
    standings = {each.name: each for each in contest.standings()}
    assert list(standings) == ["ours", "other", "new"]
    assert standings["new"].n_scored == 0
    assert standings["other"].n_scored == 20
    assert contest.contenders["new"].n_learned == 20


def test_a_token_that_the_first_contender_made_alone_is_understood():
    """Events that waited when challengers were added are learned with the learner's own token."""
    alone, events = fast(1), list(stream(30))
    run(alone, events[:10])
    contest = ContestRegressor({"ours": copy.deepcopy(alone), "other": linear()})
    tokens = [alone.predict_token(x)[1] for x, _ in events[10:]]
    for (x, y), token in zip(events[10:], tokens, strict=True):
        alone.learn_token(x, token, y)
        contest.learn_token(x, token, y)
    assert same(state_of(contest.champion_learner), state_of(alone))


def test_evidence_promotes_at_the_same_event_after_a_restart():
    """The rule promotes the better one, once, also in a contest restored before that event."""
    make = lambda: ContestRegressor(  # noqa: E731
        {"mean": dummy.StatisticRegressor(stats.Mean()), "ours": fast(1)}, promotion="evidence"
    )
    contest, events = make(), list(stream(2_000))
    champions = []
    for t, (x, y) in enumerate(events):
        contest.predict_one(x)
        contest.learn_one(x, y)
        champions.append(contest.champion)
        if t == 300:
            saved = learner_state(contest, allow_pickle=True)
    assert champions[300] == "mean"
    assert champions[-1] == "ours"
    assert contest.n_promotions == {"command": 0, "evidence": 1}
    restored = learner_of(saved, allow_pickle=True)
    again = []
    for x, y in events[301:]:
        restored.predict_one(x)
        restored.learn_one(x, y)
        again.append(restored.champion)
    assert again == champions[301:]


def test_a_two_class_learner_fails_on_other_classes():
    """Labels follow the first contender; a challenger that can't learn them is counted."""
    contest = ContestClassifier(
        {"ours": InfiniteLayerClassifier(seed=1), "logistic": linear_model.LogisticRegression()}
    )
    assert contest._multiclass
    for t in range(20):
        contest.learn_one({"a": t % 2}, "even" if t % 2 == 0 else "odd")
    standing = contest.standings()[1]
    assert (standing.n_failures, standing.n_scored) == (20, 0)
    assert "it knows two classes" in standing.last_failure
    contest.learn_one({"a": 1.0}, 1)
    assert contest.standings()[1].n_scored == 1


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


@pytest.mark.parametrize("task", CONTESTS)
def test_the_mixture_is_a_contender(task):
    """As champion it predicts the weighted mean, in which a better contender weighs more."""
    contest = CONTESTS[task](mixture=True)
    contest.promote("mixture")
    events = list(stream(200, classes=task == "classifiers"))
    run(contest, events)
    *others, mixture = contest.standings()
    assert mixture.is_champion
    assert mixture.running_loss < max(each.running_loss for each in others)
    weights = contest.mixture_weights
    assert sum(weights.values()) == pytest.approx(1.0)
    best, *_, worst = sorted(others, key=lambda each: each.running_loss)
    assert weights[best.name] > weights[worst.name]
    x = events[-1][0]
    if task == "regressors":
        own = {name: each.predict_one(x) for name, each in contest.contenders.items()}
        assert contest.predict_one(x) == pytest.approx(sum(weights[k] * own[k] for k in own))
    else:
        assert sum(contest.predict_proba_one(x).values()) == pytest.approx(1.0)


def test_metrics_are_of_contenders_and_of_the_first_that_reports():
    """Values are those of the standings; the learner's own metrics follow its clone."""
    contest = ContestRegressor(
        {"linear": linear(), "ours": fast(1), "other": fast(2)}, mixture=True
    )
    assert find_reporter(contest) is contest
    specs = {each.name: each for each in find_metrics(contest)}
    run(contest, stream(50))
    contest.promote("other")
    standings = contest.standings()
    found = specs["iln_error"].read()
    for each in standings:
        assert found["mae", "all", each.name] == each.running_error
        assert found["loss", "window", each.name] == each.windowed_loss
    assert specs["iln_champion"].read() == {"linear": 0, "ours": 0, "other": 1, "mixture": 0}
    bounds = specs["iln_contender_evidence"].read()
    assert {name for bound, name in bounds if bound == "lower"} == {"linear", "ours", "mixture"}
    assert specs["iln_promotions_total"].read() == {"command": 1, "evidence": 0}
    weights = contest.contenders["ours"].expert_weights
    assert specs["iln_expert_weight"].read() == weights
    assert contest.report(0.0, 1.0)[0] is None
