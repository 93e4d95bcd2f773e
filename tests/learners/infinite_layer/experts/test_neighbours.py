import numpy as np
import pytest

from iln_stream.kernels.nearest import N_NEAR, N_SIMILAR
from iln_stream.learners.infinite_layer.accurate import AccurateEngine
from iln_stream.learners.infinite_layer.engine import RegressionEngine
from iln_stream.learners.infinite_layer.experts.naive import Persistence
from iln_stream.learners.infinite_layer.experts.neighbours import METRIC_EVERY, Neighbours
from iln_stream.learners.infinite_layer.experts.resampled_ridges import ResampledRidges
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank, RLSSpec
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.mixing import Mixture
from iln_stream.learners.infinite_layer.target import Target
from iln_stream.learners.restoring import random_key

N_LAGS, SIZE = 1, 50


class Seen(Neighbours):
    """Neighbours, whose last predictions can be read."""

    def predict(self, event, p):
        super().predict(event, p)
        self.predictions = event.center + event.unit * p


def engine_of_neighbours():
    """An engine whose mean is the last target; its ridges find the input a relevant."""
    inputs, target, memory = Inputs(8), Target(), Memory(SIZE, N_LAGS)
    bank = RLSBank((RLSSpec("linear", None),), 0, N_LAGS)
    ridges = ResampledRidges(bank, inputs, target, memory, random_key(1), resampled=False)
    ridges.agop = np.diag([50.0, 4.0, 1.0, 0.0])[np.newaxis]
    mean = Mixture({"persistence": Persistence()}, squared=True)
    near = Seen(mean, ridges, 0, inputs, memory)
    mixture = Mixture({"mean": mean, "neighbours": near}, squared=False)
    return RegressionEngine(inputs, target, memory, mixture), near


def test_predicts_targets_of_the_events_that_resemble_the_new_one():
    """Once the memory has been refilled, they are those found by sorting its events."""
    engine, near = engine_of_neighbours()
    X = np.random.default_rng(0).normal(size=(3 * SIZE, 3)) * [1.0, 10.0, 1.0]
    y = np.sin(2.0 * X[:, 0]) + 0.01 * X[:, 1]
    for i in range(len(X)):
        x = dict(zip("abc", X[i].tolist(), strict=True))
        if i >= 2 * SIZE:
            engine.predict(x)
            last = np.arange(i - SIZE, i)
            # The mean was predicted to be the target before, and is clipped to the scale.
            similar = np.argsort(np.abs(y[last - 1] - y[i - 1]))[:N_SIMILAR]
            assert near.predictions[0] == pytest.approx(np.median(y[last][similar]))
            apart = ((X[last] - X[i]) * near.metric) ** 2
            nearest = np.argsort(apart.sum(axis=1))[:N_NEAR]
            assert near.predictions[1] == pytest.approx(np.median(y[last][nearest]))
        engine.learn(x, float(y[i]))


def test_a_difference_counts_by_relevance_and_scale():
    """The metric is updated every 16 events, with the root of the relevance over the sd; a little
    of it is uniform, and what is constant, or not measured yet, does not count.
    """
    engine, near = engine_of_neighbours()
    X = np.random.default_rng(0).normal(size=(40, 2)) * [1.0, 10.0]
    for i, (a, b) in enumerate(X.tolist()):
        engine.learn({"a": a, "b": b, "constant": 3.0}, a)
        n = (i + 1) // METRIC_EVERY * METRIC_EVERY
        if n == 0:
            assert not near.metric.any()
            continue
        level = np.array([4.0, 1.0]) / (5.0 / 3.0)
        wanted = np.sqrt(0.97 * level + 0.03) / X[:n].std(axis=0)
        assert near.metric == pytest.approx([*wanted, 0.0])


def test_restored_goes_on_bit_for_bit():
    """From a state with a full memory, a new expert predicts what the original does."""
    (engine, near), (twin, near_twin) = engine_of_neighbours(), engine_of_neighbours()
    X = np.random.default_rng(0).normal(size=(2 * SIZE, 3)).tolist()
    events = [(dict(zip("abc", row, strict=True)), row[0] * row[1]) for row in X]
    for x, y in events[: SIZE + 10]:
        engine.learn(x, y)
    twin.restore(engine.state())
    for x, y in events[SIZE + 10 :]:
        assert twin.predict(x) == engine.predict(x)
        assert near_twin.predictions.tolist() == near.predictions.tolist()
        twin.learn(x, y)
        engine.learn(x, y)


def growing(seed):
    """A population that grows sixfold as a whole, in which each keeps its rank."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(np.linspace(0.5, 1.5, 25))
    for day in range(1, 21):
        for who, place in enumerate(places):
            yield {"day": day, "who": who}, place * 1.1**day


def test_nearest_as_of_knows_who_was_large_before():
    """In a growing population `nearest-as-of` gets weight, and lowers the error."""
    engine, without = (AccurateEngine(256, random_key(1)) for _ in range(2))
    errors = np.zeros(2)
    for n, (x, y) in enumerate(growing(0)):
        without.mixture.experts["neighbours"].scaled[:] = 0.0  # all were average for their time
        if n > 200:
            errors += abs(engine.predict(x) - y), abs(without.predict(x) - y)
        engine.learn(x, y)
        without.learn(x, y)
    assert engine.expert_weights()["nearest-as-of"] > 0.2
    assert errors[0] < 0.9 * errors[1]
