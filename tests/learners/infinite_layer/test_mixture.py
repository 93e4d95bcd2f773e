import copy
import math

import numpy as np
import pytest
from support.states import same

from iln_stream.errors import StateError
from iln_stream.kernels.mixing import mixed as weighted_mean
from iln_stream.learners.frozen.predictors import predict_target
from iln_stream.learners.infinite_layer.engine import RegressionEngine
from iln_stream.learners.infinite_layer.expert import Expert, Observation
from iln_stream.learners.infinite_layer.experts.naive import Persistence, RunningMean
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank, RLSSpec
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.mixing import ExpertMixture, MLPoly
from iln_stream.learners.infinite_layer.target import Target
from iln_stream.state import from_bytes, to_bytes


class Constant(Expert):
    """Predicts constants, and notes what it is asked to do."""

    def __init__(self, done=None, **constants):
        self.names, self.values = tuple(constants), list(constants.values())
        self.done = [] if done is None else done

    def widen(self, n_columns):
        self.done.append(("widen", self.names, n_columns))

    def predict(self, event, p):
        p[:] = self.values
        self.done.append(("predict", self.names))

    def learn(self, event, t, p):
        self.done.append(("learn", self.names, t, p.tolist()))


def nested(done=None):
    """A mixture of a mixture and an expert of two predictions."""
    inner = ExpertMixture(
        {"first": Constant(done, a=0.1), "second": Constant(done, b=-0.5, c=0.7)}, squared=True
    )
    return ExpertMixture({"inner": inner, "third": Constant(done, d=0.4, e=0.0)}, squared=False)


def taught(mixture, n, seed=0):
    """Predict and learn n targets around .3; return the predictions."""
    event, p, found = Observation(0, 1), np.zeros(1), []
    for t in (0.3 + 0.1 * np.random.default_rng(seed).normal(size=n)).tolist():
        mixture.predict(event, p)
        found.append(p[0])
        mixture.learn(event, t, p)
    return found


def test_experts_predict_and_learn_in_order():
    """Nested ones too, each with its own predictions; widening reaches all of them."""
    done = []
    mixture = nested(done)
    mixture.widen(3)
    assert done == [("widen", names, 3) for names in (("a",), ("b", "c"), ("d", "e"))]
    done.clear()
    event, p = Observation(0, 3), np.zeros(1)
    mixture.predict(event, p)
    assert done == [("predict", ("a",)), ("predict", ("b", "c")), ("predict", ("d", "e"))]
    done.clear()
    mixture.learn(event, 0.25, p)
    own = {("a",): [0.1], ("b", "c"): [-0.5, 0.7], ("d", "e"): [0.4, 0.0]}
    assert done == [("learn", names, 0.25, p) for names, p in own.items()]


def test_mixes_by_the_rule():
    """Predictions and weights are those of `MLPoly` on the experts' predictions."""
    mixture = ExpertMixture({"all": Constant(a=0.1, b=0.9)}, squared=True)
    rule, values = MLPoly(2, squared=True), np.array([0.1, 0.9])
    event, p = Observation(0, 1), np.zeros(1)
    for t in (0.3 + 0.1 * np.random.default_rng(0).normal(size=100)).tolist():
        mixture.predict(event, p)
        assert p[0] == mixture.value == weighted_mean(rule.table, values)
        rule.learn(values, weighted_mean(rule.table, values), t)
        mixture.learn(event, t, p)
        assert list(mixture.weights().values()) == rule.weights.tolist()


def test_weights_of_nested_mixtures_multiply():
    """They are of predictions by name, sum to one, and give the prediction."""
    mixture = nested()
    prediction = taught(mixture, 51)[-1]
    mixture = nested()
    taught(mixture, 50)
    weights = mixture.weights()
    assert list(weights) == ["a", "b", "c", "d", "e"]
    assert sum(weights.values()) == pytest.approx(1.0)
    inner = mixture.experts["inner"]
    share = mixture.rule.weights[0]
    assert 0.0 < share < 1.0
    for name, within in inner.weights().items():
        assert weights[name] == pytest.approx(share * within)
    values = np.array([0.1, -0.5, 0.7, 0.4, 0.0])
    assert np.array(list(weights.values())) @ values == pytest.approx(prediction)


def test_two_predictions_of_one_name_are_refused():
    """Weights are reported by name, so one of them would be lost; in nested mixtures, too."""
    inner = ExpertMixture({"first": Constant(a=0.1), "second": Constant(b=0.1)}, squared=True)
    with pytest.raises(ValueError, match=r"names of predictions must differ.* repeated: b"):
        ExpertMixture({"inner": inner, "third": Constant(b=0.4, c=0.5)}, squared=False)


def mixed(*names):
    """A mixture of an expert by each name."""
    return ExpertMixture({name: Constant(**{name: 0.1}) for name in names}, squared=True)


@pytest.mark.parametrize("names", [("a", "b", "c"), ("b", "a")])
def test_a_state_of_other_experts_is_refused(names):
    """An expert more or fewer, another one, or another order: each has its column in the table."""
    with pytest.raises(StateError, match=r"the state's experts are \['.*'\], not \['a', 'b'\]"):
        mixed("a", "b").restore(mixed(*names).state())


def test_a_table_of_another_width_is_refused():
    """An expert that now makes two predictions needs two columns of the rule's table."""
    state = ExpertMixture({"a": Constant(a=0.1)}, squared=True).state()
    with pytest.raises(StateError, match=r"MLPoly has table of shape \(4, 1\), not \(4, 2\)"):
        ExpertMixture({"a": Constant(a=0.1, b=0.2)}, squared=True).restore(state)


class Season(Expert):
    """An expert of a user's own: the target of three events ago."""

    names = ("season",)
    kept = ("last",)

    def __init__(self):
        self.last = np.zeros(3)

    def predict(self, event, p):
        p[0] = self.last[0]

    def learn(self, event, t, p):
        self.last = np.append(self.last[1:], t)

    def frozen(self, event):
        return [{"form": "constant", "value": self.last[0]}]


def seasonal(n):
    """A composition with that expert, which has learned n events with a season of three."""
    mixture = ExpertMixture(
        {
            "linear": RLSBank((RLSSpec("linear", None),), 0, n_lags=1),
            "running-mean": RunningMean(),
            "persistence": Persistence(),
            "season": Season(),
        },
        squared=True,
    )
    engine = RegressionEngine(Inputs(2), Target(), Memory(1, 1), mixture)
    for x, y in season(n):
        engine.learn(x, y)
    return engine


def season(n, seed=0):
    """Targets 10, 20, 90, 10.. with little noise, and an input without meaning."""
    rng = np.random.default_rng(seed)
    for i, noise in enumerate(rng.normal(size=n).tolist()):
        yield {"noise": noise}, (10.0, 20.0, 90.0)[i % 3] + 0.1 * noise


def test_an_expert_of_ones_own_is_one_class_and_one_line():
    """It is mixed, weighed, reported, frozen, kept and restored with the others."""
    engine = seasonal(300)
    weights = engine.expert.weights()
    assert list(weights) == ["linear", "running-mean", "persistence", "season"]
    assert weights["season"] > 0.9
    assert engine.predict({"noise": 0.0}) == pytest.approx(10.0, abs=2.0)
    frozen = predict_target(engine.frozen(), np.zeros((1, 1)))
    assert frozen[0] == pytest.approx(engine.predict({"noise": 0.0}))
    twin = seasonal(0)
    twin.restore(from_bytes(to_bytes(engine.state())))
    for x, y in season(60, seed=1):
        assert twin.predict(x) == engine.predict(x)
        twin.learn(x, y)
        engine.learn(x, y)
    assert twin.expert.weights() == engine.expert.weights()


class Sleeper(Constant):
    """A constant that sleeps until it is woken."""

    asleep = True


def test_sleepers_do_not_count():
    """While an expert sleeps, the mixture is that of the others, and its weight doesn't move; it is
    taught every target."""
    done = []
    sleeper = Sleeper(done, b=5.0)
    mixture = ExpertMixture({"awake": Constant(a=0.1, c=0.5), "asleep": sleeper}, squared=True)
    alone = ExpertMixture({"awake": Constant(a=0.1, c=0.5)}, squared=True)
    assert taught(mixture, 50) == pytest.approx(taught(alone, 50))
    assert [what for what, *_ in done] == 50 * ["predict", "learn"]
    weights = mixture.weights()
    rest = {name: weights[name] / (weights["a"] + weights["c"]) for name in ("a", "c")}
    assert rest == pytest.approx(alone.weights())
    event, p = Observation(0, 1), np.zeros(1)
    sleeper.asleep = False
    mixture.predict(event, p)
    assert p[0] == pytest.approx(mixture.rule.weights @ np.array([0.1, 0.5, 5.0]))


def test_a_mixture_of_sleepers_sleeps():
    """It predicts 0 for the rule above to leave out, and wakes with the first of its experts."""
    mixture = nested()
    inner = mixture.experts["inner"]
    event, p = Observation(0, 1), np.zeros(1)
    for expert in inner.experts.values():
        expert.asleep = True
    mixture.predict(event, p)
    assert inner.asleep
    assert p[0] == pytest.approx(0.2)  # of .4 and 0, the predictions of those awake
    mixture.learn(event, 0.3, p)
    assert (inner.rule.weights == inner.rule.weights[0]).all()
    inner.experts["second"].asleep = False
    mixture.predict(event, p)
    assert not inner.asleep
    assert inner.value == pytest.approx(0.1)


def test_what_is_forgotten_of_an_expert():
    """It weighs nothing, and the others as before among themselves; it can earn weight again."""
    mixture = ExpertMixture({"one": Constant(a=0.1, b=0.5), "two": Constant(c=0.2)}, squared=True)
    taught(mixture, 50)
    c = mixture.weights()["c"]
    assert c > 0.0
    mixture.forget("one")
    assert mixture.weights_of("one").tolist() == [0.0, 0.0]
    assert mixture.weights_of("two").tolist() == [c]
    assert taught(mixture, 1)[0] == pytest.approx(0.2)
    taught(mixture, 50)
    assert mixture.weights()["b"] > 0.0


def test_rules_score_earlier_outputs_by_their_present_weights():
    """Nested ones too; the experts learn by their own predictions, and later ones are as usual."""
    mixture, event, p = nested(), Observation(0, 1), np.zeros(1)
    taught(mixture, 20)
    mixture.predict(event, p)
    assert mixture.outputs() == [0.1, -0.5, 0.7, 0.4, 0.0]
    inner = mixture.experts["inner"]
    rules = [copy.deepcopy(each.rule) for each in (inner, mixture)]
    assert len(mixture.score(np.array([0.2, 0.3, 0.4, 0.5, math.nan, 9.0]))) == 1
    mixture.learn(event, 0.35, p)
    scored = np.array([0.2, 0.3, 0.4])
    value = weighted_mean(rules[0].table, scored)
    rules[0].learn(scored, value, 0.35)
    scored = np.array([value, 0.5, math.nan])
    value = rules[1].mixed_of(scored, np.isfinite(scored))
    rules[1].learn(scored, value, 0.35)
    for rule, each in zip(rules, (inner, mixture), strict=True):
        assert same(rule.state(), each.rule.state())
    assert inner.experts["second"].done[-1] == ("learn", ("b", "c"), 0.35, [-0.5, 0.7])
