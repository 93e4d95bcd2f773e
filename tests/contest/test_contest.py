"""A contest predicts as its champion does alone, and a challenger disturbs nothing."""

import copy
import pickle

import numpy as np
import pytest
from river import base, checks, dummy, linear_model, naive_bayes, preprocessing, stats, tree
from support.states import same

from iln_stream import InfiniteLayerClassifier, InfiniteLayerRegressor, ShrinkingGradient
from iln_stream.contest import ContestClassifier, ContestRegressor
from iln_stream.errors import ContenderError, NotFiniteError, SnapshotError, StateError
from iln_stream.learners import model_of, state_of
from iln_stream.reporting import find_metrics, find_reporter
from iln_stream.snapshots import learner_of, learner_state
from iln_stream.state import from_bytes, to_bytes

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


def fast(seed):
    """One of ours."""
    return InfiniteLayerRegressor("fast", seed=seed)


def linear():
    """One of River's."""
    return preprocessing.StandardScaler() | linear_model.LinearRegression()


class Faulty(base.Regressor, base.Classifier):
    """Fails to predict or to learn from some event on, for a number of events, or changes x."""

    def __init__(self, predicts=range(0), learns=range(0), nan=range(0), meddles=False):
        self.predicts, self.learns, self.nan = predicts, learns, nan
        self.meddles = meddles
        self.n = 0

    def predict_one(self, x):
        if self.meddles:
            x["a"] = 1e9
        if self.n in self.predicts:
            self.n += 1
            raise RuntimeError("can't predict")
        return float("nan") if self.n in self.nan else 0.5

    def predict_proba_one(self, x):
        return {False: self.predict_one(x), True: 0.5}

    def learn_one(self, x, y):
        self.n += 1
        if self.meddles:
            x["a"] = 1e9
        if self.n - 1 in self.learns:
            raise RuntimeError("can't learn")

    @property
    def _multiclass(self):
        return True


def stream(n, seed=0, *, classes=False):
    """n events, with a category and an input that comes late."""
    rng = np.random.default_rng(seed)
    for t in range(n):
        a, b = rng.normal(size=2).tolist()
        x = {"a": a, "b": b, f"shop={t % 50}": 1.0} | ({"late": b} if t > n // 2 else {})
        y = a * b + a + 0.1 * float(rng.normal())
        yield x, ("low", "high", "peak")[(y > 0) + (y > 2)] if classes else y


def content(contest):
    """A contest's state; of River's learners, whose pickles may differ, only the class."""
    return contest.state(
        lambda each: state_of(each) if hasattr(each, "state") else {"river": type(each).__name__}
    )


def predict(model, x):
    """The prediction of the model's task."""
    if isinstance(model, ContestClassifier | InfiniteLayerClassifier):
        return model.predict_proba_one(x)
    return model.predict_one(x)


def run(model, events, delay=None):
    """The predictions of a model; with a delay labels come so many events later, by tokens."""
    found, waiting = [], []
    for x, y in events:
        if delay is None:
            found.append(predict(model, x))
            model.learn_one(x, y)
        else:
            prediction, token = model.predict_token(x)
            found.append(prediction)
            waiting.append((x, token, y))
            if len(waiting) > delay:
                model.learn_token(*waiting.pop(0))
    return found


def regressors(**kwargs):
    """A contest of ours and River's."""
    return ContestRegressor({"ours": fast(1), "other": fast(2), "linear": linear()}, **kwargs)


def classifiers(**kwargs):
    """A contest of ours and River's."""
    contenders = {
        "ours": InfiniteLayerClassifier(seed=1),
        "bayes": naive_bayes.GaussianNB(),
        "tree": tree.HoeffdingTreeClassifier(),
    }
    return ContestClassifier(contenders, **kwargs)


CONTESTS = {"regressors": regressors, "classifiers": classifiers}


@pytest.mark.parametrize("delay", [None, 0, 7])
@pytest.mark.parametrize("mixture", [False, True])
@pytest.mark.parametrize("task", CONTESTS)
def test_predicts_as_the_champion_alone(task, mixture, delay):
    """Predictions and the champion's state are those of its learner alone, bit for bit."""
    contest = CONTESTS[task](mixture=mixture)
    alone = contest.clone().contenders["ours"]
    events = list(stream(120, classes=task == "classifiers"))
    assert run(contest, events, delay) == run(alone, events, delay)
    assert same(state_of(contest.champion_learner), state_of(alone))


@pytest.mark.parametrize("delay", [None, 7])
@pytest.mark.parametrize("task", CONTESTS)
def test_a_restored_contest_goes_on_bit_for_bit(task, delay):
    """Saved after a promotion and restored from bytes, it repeats predictions, scores, all."""
    contest = CONTESTS[task](mixture=True, promotion="evidence")
    events = list(stream(240, classes=task == "classifiers"))
    run(contest, events[:60], delay)
    contest.promote("mixture")
    run(contest, events[60:120], delay)
    state = from_bytes(to_bytes(learner_state(contest, allow_pickle=True)))
    restored = learner_of(state, allow_pickle=True)
    assert same(content(restored), content(contest))
    copied = pickle.loads(pickle.dumps(contest))
    deep = copy.deepcopy(contest)
    expected = run(contest, events[120:], delay)
    final = content(contest)
    for other in (restored, copied, deep):
        assert run(other, events[120:], delay) == expected
        assert same(content(other), final)


FAULTS = {
    "predicting": Faulty(predicts=range(5, 40)),
    "learning": Faulty(learns=range(5, 40)),
    "nan": Faulty(nan=range(5, 10_000)),
    "meddling": Faulty(meddles=True),
}


@pytest.mark.parametrize("policy", ["skip", "restart"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("delay", [None, 3])
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


def test_too_many_failures_put_a_challenger_out_until_a_promotion():
    """It is not asked any more; after a promotion a clone that learned nothing takes part."""
    contest = ContestRegressor(
        {"a": dummy.StatisticRegressor(stats.Mean()), "b": Faulty(nan=range(9_999))}
    )
    run(contest, stream(99))
    assert contest.standings()[1].status == "challenger"
    run(contest, stream(51))
    standing = contest.standings()[1]
    assert (standing.status, standing.n_failures, standing.n_scored) == ("out", 100, 0)
    assert standing.last_failure == "ArithmeticError: it predicted nan"
    with pytest.raises(ValueError, match="b is out of the contest after 100 failures"):
        contest.promote("b")
    contest.add("c", linear())
    contest.promote("c")
    assert contest.standings()[1].status == "challenger"
    assert contest.contenders["b"].n == 0


def test_restart_begins_with_a_clone():
    """A challenger with the policy restart goes on as one that has learned nothing."""
    contest = ContestRegressor(
        {"a": fast(1), "b": Faulty(learns=[10])}, on_failure={"b": "restart"}
    )
    run(contest, stream(15))
    assert contest.contenders["b"].n == 4
    assert contest.standings()[1].n_failures == 1


def test_a_challenger_whose_numbers_are_lost_begins_anew():
    """It would never predict again, and no snapshot could be taken while it takes part."""
    contest = ContestRegressor(
        {"a": fast(1), "b": ShrinkingGradient(estimator="pool", seed=1), "c": linear()}
    )
    run(contest, stream(20))
    lost = contest.contenders["b"]
    lost._f._theta[:] = np.nan
    with pytest.raises(NotFiniteError):
        learner_state(contest, allow_pickle=True)
    run(contest, stream(1))
    assert contest.standings()[1].n_failures == 1
    assert contest.contenders["b"] is not lost
    learner_state(contest, allow_pickle=True)


def test_stop_raises():
    """The policy stop raises an error that names challenger, reason and remedy."""
    contest = ContestRegressor({"a": fast(1), "b": Faulty(learns=[3])}, on_failure="stop")
    with pytest.raises(ContenderError, match="challenger b failed"):
        run(contest, stream(5))


def test_the_champions_errors_are_its_own():
    """An event that the champion refuses is learned by nobody, and changes nothing."""
    contest = ContestRegressor({"bad": Faulty(learns=[3]), "ours": fast(1)}, mixture=True)
    run(contest, stream(3))
    before = to_bytes(state_of(contest.contenders["ours"])), contest.standings()
    x, y = next(stream(1))
    with pytest.raises(RuntimeError, match="can't learn"):
        contest.learn_one(x, y)
    assert (to_bytes(state_of(contest.contenders["ours"])), contest.standings()) == before


@pytest.mark.parametrize("delay", [0, 5])
@pytest.mark.parametrize("task", CONTESTS)
def test_scores_are_of_what_each_predicted(task, delay):
    """Scores of late labels are those of the predictions at the time, of every contender."""
    contest = CONTESTS[task](mixture=True)
    events = list(stream(80, classes=task == "classifiers"))
    waiting = []
    sums = dict.fromkeys((each.name for each in contest.standings()), 0.0)
    for x, y in events:
        own = {}
        for name, each in contest.contenders.items():
            own[name] = (
                predict(contest, x)
                if name == "ours"
                else (each.predict_one(x) if task == "regressors" else each.predict_proba_one(x))
            )
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


def test_error_probability_is_shared():
    """Each comparison gets its part of the error probability, less after every promotion."""
    contest = regressors(mixture=True)
    shares = [each.evidence.error for each in contest._contenders if each.evidence is not None]
    assert shares == pytest.approx([0.05 * 6 / np.pi**2 / 3] * 3)
    contest.promote("linear")
    shares = [each.evidence.error for each in contest._contenders if each.evidence is not None]
    assert shares == pytest.approx([0.05 * 6 / np.pi**2 / 4 / 3] * 3)


def test_the_old_champion_can_come_back():
    """Promoted away and back, it predicts as if it had been champion all the time."""
    contest, alone = regressors(), fast(1)
    events = list(stream(60))
    run(contest, events[:20])
    contest.promote("linear")
    linear_predictions = run(contest, events[20:40])
    contest.promote("ours")
    expected = run(alone, events)
    assert run(contest, events[40:]) == expected[40:]
    assert linear_predictions != expected[20:40]
    assert contest.n_promotions["command"] == 2


def test_to_promote_the_champion_changes_nothing():
    """A command that comes twice counts once."""
    contest = regressors()
    run(contest, stream(40))
    before = contest.standings()
    contest.promote("ours")
    assert contest.standings() == before
    with pytest.raises(ValueError, match="'x' takes no part: the contenders are ours, other"):
        contest.promote("x")


@pytest.mark.parametrize("task", CONTESTS)
def test_the_mixture_is_a_contender(task):
    """As champion it predicts the weighted mean, which is no worse than the worst contender."""
    contest = CONTESTS[task](mixture=True)
    contest.promote("mixture")
    events = list(stream(300, classes=task == "classifiers"))
    run(contest, events)
    *others, mixture = contest.standings()
    assert mixture.is_champion
    assert mixture.running_loss < max(each.running_loss for each in others)
    weights = contest.mixture_weights
    assert sum(weights.values()) == pytest.approx(1.0)
    x = events[-1][0]
    if task == "regressors":
        own = {name: each.predict_one(x) for name, each in contest.contenders.items()}
        assert contest.predict_one(x) == pytest.approx(sum(weights[k] * own[k] for k in own))
    else:
        assert sum(contest.predict_proba_one(x).values()) == pytest.approx(1.0)


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
    """Alone and as a step of a pipeline, a contest of our learners is restored by `model_of`."""
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
    assert specs["iln_contender_running_error"].read() == {
        each.name: each.running_error for each in standings
    }
    assert specs["iln_champion"].read() == {"linear": 0, "ours": 0, "other": 1, "mixture": 0}
    assert specs["iln_contender_evidence_lower"].read().keys() == {"linear", "ours", "mixture"}
    assert specs["iln_promotions_total"].read() == {"command": 1, "evidence": 0}
    weights = contest.contenders["ours"].expert_weights
    assert specs["iln_expert_weight"].read() == weights
    assert contest.report(0.0, 1.0)[0] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({},), "contenders is empty"),
        (({"": fast(1)},), "is named ''"),
        (({"mixture": fast(1)},), "is the name of the mixture"),
        (({"a": fast(1)}, "always"), "promotion = 'always' must be"),
        (({"a": fast(1)}, "never", 0.0), "promotion_error = 0.0 must be"),
        (({"a": fast(1)}, "never", 0.05, False, "ignore"), "on_failure of a = 'ignore'"),
        (({"a": fast(1)}, "never", 0.05, False, {"b": "skip"}), "on_failure names b"),
        (({"a": fast(1)}, "never", 0.05, False, "skip", 0), "window = 0 must be"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    """Each error names the argument and what it may be."""
    with pytest.raises(ValueError, match=message):
        ContestRegressor(*arguments)


def test_who_can_be_removed():
    """The champion and the mixture stay; a challenger goes with its weight in the mixture."""
    contest = regressors(mixture=True)
    run(contest, stream(50))
    with pytest.raises(ValueError, match="ours is the champion: promote another"):
        contest.remove("ours")
    with pytest.raises(ValueError, match="mixture can't be removed"):
        contest.remove("mixture")
    contest.promote("mixture")
    contest.remove("other")
    contest.add("new", fast(5))
    assert contest.champion == "mixture"
    assert list(contest.mixture_weights) == ["ours", "linear", "new"]
    run(contest, stream(50))
    assert [each.n_scored for each in contest.standings()] == [100, 100, 50, 100]


MODELS = [
    cls(**p) for cls in (ContestRegressor, ContestClassifier) for p in cls._unit_test_params()
]


@pytest.mark.parametrize(
    ("model", "check"),
    [
        pytest.param(model, check, id=f"{type(model).__name__}:{check.__name__}-{n}")
        for model in MODELS
        for n, check in enumerate(checks.yield_checks(model))
    ],
)
def test_rivers_checks(model, check):
    """A contest works wherever a River estimator does."""
    check(model.clone())
