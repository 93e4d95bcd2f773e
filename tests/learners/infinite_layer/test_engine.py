import itertools
from typing import NamedTuple

import numpy as np
import pytest
from support.states import same

from iln_stream.learners.infinite_layer.accurate import AccurateEngine
from iln_stream.learners.infinite_layer.classes import ClassificationEngine
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSSpec, WeightDistribution
from iln_stream.learners.infinite_layer.fast import FastEngine
from iln_stream.learners.infinite_layer.single_ridge import SingleRidgeEngine
from iln_stream.learners.restoring import random_key


class Counting(ClassificationEngine):
    """Counts the rows that it predicts."""

    n_predicted = 0

    def _predict_row(self, x):
        self.n_predicted += 1
        super()._predict_row(x)


def test_an_event_that_was_just_predicted_is_not_predicted_again():
    """Nor is it after other events were predicted before it; but the same event once more is."""
    engine, x = Counting(256, random_key(1)), {"a": 3.0, "b": 4.0}
    for label in ("no", "yes"):
        engine.learn(x, label)
    engine.predict({"a": 5.0, "b": 6.0})
    engine.predict(x)
    before = engine.n_predicted
    engine.learn(dict(reversed(x.items())), "no")
    assert engine.n_predicted == before
    engine.learn(x, "no")
    assert engine.n_predicted == before + 1


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
