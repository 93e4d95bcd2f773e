import copy
import itertools
import math
import pickle
from typing import NamedTuple

import numpy as np
import pytest
from support.states import same

from iln_stream.kernels.columns import ABSENT
from iln_stream.learners.infinite_layer.accurate import AccurateEngine
from iln_stream.learners.infinite_layer.classes import ClassificationEngine
from iln_stream.learners.infinite_layer.engine import Engine
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSSpec, WeightDistribution
from iln_stream.learners.infinite_layer.fast import FastEngine
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.single_ridge import SingleRidgeEngine
from iln_stream.learners.restoring import random_key


class Recording(Engine):
    """An engine that only notes what it is asked to do."""

    def __init__(self, max_columns=256):
        super().__init__(Inputs(max_columns))
        self.done = []

    def _widen(self, n_columns):
        self.done.append(("widen", n_columns))

    def _predict_row(self, x):
        self.done.append(("predict", x.tolist()))

    def predict(self, x):
        row = self.inputs.row(x)
        self._predict_row(row)
        self._predicted = row.tobytes()

    def learn(self, x, y):
        self._require_prediction(self._admit(x))
        self.done.append(("learn", y))

    def took(self):
        """What was done since it was last asked."""
        done, self.done = self.done, []
        return done


def recording():
    """A recording engine that knows the names a and b."""
    engine = Recording()
    engine.learn({"a": 1.0, "b": 2.0}, 0.0)
    engine.took()
    return engine


def test_an_event_that_was_just_predicted_is_not_predicted_again():
    """Nor is it after other events were predicted before it."""
    engine = recording()
    engine.predict({"a": 5.0, "b": 6.0})
    engine.predict({"a": 3.0, "b": 4.0})
    engine.took()
    engine.learn({"b": 4.0, "a": 3.0}, 1.0)
    assert engine.took() == [("learn", 1.0)]


def test_an_event_is_predicted_before_it_is_learned():
    """Learning predicts what was never predicted, or is no longer the last that was."""
    engine = recording()
    x = {"a": 3.0, "b": 4.0}
    wanted = [("predict", [3.0, 4.0]), ("learn", 1.0)]
    engine.learn(x, 1.0)
    assert engine.took() == wanted
    engine.predict(x)
    engine.predict({"a": 5.0, "b": 6.0})
    engine.took()
    engine.learn(x, 1.0)
    assert engine.took() == wanted


def test_a_prediction_is_outdated_by_learning():
    """The same event twice: what was predicted before the first is not what precedes the second."""
    engine = recording()
    x = {"a": 3.0, "b": 4.0}
    engine.predict(x)
    engine.learn(x, 1.0)
    engine.took()
    engine.learn(x, 2.0)
    assert engine.took() == [("predict", [3.0, 4.0]), ("learn", 2.0)]


def test_a_prediction_is_outdated_by_restoring():
    """A restored engine predicts the event it is to learn, whatever was predicted before."""
    engine = recording()
    engine.predict({"a": 3.0, "b": 4.0})
    engine.restore(engine.state())
    engine.took()
    engine.learn({"a": 3.0, "b": 4.0}, 1.0)
    assert engine.took() == [("predict", [3.0, 4.0]), ("learn", 1.0)]


def test_a_new_name_is_predicted_with_once_it_is_learned():
    """Predicting leaves a new name out; learning makes room first, and predicts the wider row."""
    engine = recording()
    x = {"a": 3.0, "c": 5.0}
    engine.predict(x)
    assert engine.took() == [("predict", [3.0, ABSENT])]
    engine.learn(x, 1.0)
    assert engine.took() == [("widen", 1), ("predict", [3.0, ABSENT, 5.0]), ("learn", 1.0)]
    engine.learn({"b": 1.0, "d": 0.0, "e": 0.0}, 2.0)
    assert engine.took()[0] == ("widen", 2)


def test_names_beyond_the_limit_are_counted():
    """They get no column, and predicting does not count."""
    engine = Recording(max_columns=1)
    engine.learn({"a": 1.0}, 0.0)
    with pytest.warns(UserWarning, match="'b' is left out"):
        engine.learn({"a": 1.0, "b": 2.0}, 0.0)
    engine.predict({"a": 1.0, "c": 2.0})
    assert engine.n_overflowed == 1
    assert engine.took()[-1] == ("predict", [1.0])


class Kind(NamedTuple):
    """An engine, and the label that it is given for a number."""

    engine: type
    label: type = float

    def new(self):
        key = random_key(1)
        if self.engine is not SingleRidgeEngine:
            return self.engine(256, key)
        spec = RLSSpec("ridge", WeightDistribution("cos", 0.7, sparse=False))
        return SingleRidgeEngine(spec, 16, 0.1, 2.0, resampled=True, max_columns=256, key=key)

    def events(self, n):
        """Events of which some lack a name, and from the 40th and 45th on have one more."""
        rng = np.random.default_rng(0)
        for i in range(n):
            values = rng.normal(size=4).tolist()
            x = dict(zip("abcd"[: 2 + (i >= 40) + (i >= 45)], values, strict=False))
            if i % 7 == 3:
                del x["b"]
            number = x["a"] * x.get("b", 1.0) + x.get("d", 0.0)
            yield x, number if self.label is float else f"class {number > 0} {i > 30}"


KINDS = [
    Kind(AccurateEngine),
    Kind(FastEngine),
    Kind(SingleRidgeEngine),
    Kind(ClassificationEngine, str),
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.engine.__name__)
def test_predicting_changes_nothing(kind):
    """Not a bit of the state: before the first event, with new names, and amid redraws."""
    engine = kind.new()
    for x, y in kind.events(140):
        before = engine.state()
        engine.predict(x)
        engine.predict({"never learned": 1.0, "a": -1.0})
        if kind.engine in (AccurateEngine, FastEngine):
            engine.interval({"b": 2.0}, 0.9)
        assert same(engine.state(), before)
        engine.learn(x, y)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.engine.__name__)
def test_what_is_predicted_in_between_does_not_matter(kind):
    """Whether an event, others, or both in any order are predicted before it is learned; at new
    columns, redraws and repeated events: the state is that of an engine that is only
    taught.
    """
    asked, silent = kind.new(), kind.new()
    rng = np.random.default_rng(5)
    seen = [{}]
    events = [[event] * (1 + (i % 3 == 0)) for i, event in enumerate(kind.events(140))]
    for x, y in itertools.chain(*events):
        others = [seen[i] for i in rng.integers(len(seen), size=2)]
        for asking in ([], [x], [x, others[0]], [others[0], x], others)[rng.integers(5)]:
            asked.predict(asking)
        asked.learn(x, y)
        silent.learn(x, y)
        seen.append(x)
    assert same(asked.state(), silent.state())


@pytest.mark.parametrize("bad", [math.nan, math.inf, None, "clear"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.engine.__name__)
def test_a_refused_event_changes_nothing(kind, bad):
    """Neither its new name nor its new class is known after it, and the next event is learned as if
    it had not been there.
    """
    engine, spared = kind.new(), kind.new()
    events = list(kind.events(60))
    for x, y in events[:50]:
        engine.learn(x, y)
        spared.learn(x, y)
    engine.predict(events[50][0])
    before = engine.state()
    for x in ({"a": bad}, {"new": 1.0, "a": bad}, {"a": 1.0, "new": bad}):
        with pytest.raises(ValueError, match=r"x\['(a|new)'\] is "):
            engine.learn(x, kind.label(7))
    assert same(engine.state(), before)
    for x, y in events[50:]:
        engine.learn(x, y)
        spared.learn(x, y)
    assert same(engine.state(), spared.state())


def restored(engine, kind):
    twin = kind.new()
    twin.restore(engine.state())
    return twin


MADE = [
    restored,
    lambda engine, _: copy.deepcopy(engine),
    lambda engine, _: pickle.loads(pickle.dumps(engine)),
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.engine.__name__)
@pytest.mark.parametrize("made", MADE, ids=["restored", "copied", "pickled"])
@pytest.mark.parametrize("n", [0, 30, 42, 66])
def test_another_made_of_it_goes_on_bit_for_bit(kind, made, n):
    """Before new columns, after the first of them, or amid a redraw; neither changes the other."""
    engine = kind.new()
    events = list(kind.events(n + 40))
    for x, y in events[:n]:
        engine.learn(x, y)
    if n:
        engine.predict(events[n][0])
    before = engine.state()
    twin = made(engine, kind)
    assert same(twin.state(), before)
    predicted = []
    for x, y in events[n:]:
        predicted.append(twin.predict(x))
        twin.learn(x, y)
    assert same(engine.state(), before)
    for x, y in events[n:]:
        assert engine.predict(x) == predicted.pop(0)
        engine.learn(x, y)
    assert same(twin.state(), engine.state())
