import numpy as np
import pytest
from support.prequential import engine_errors, products, teach

from iln_stream.kernels.fast import (
    N_FAST_LAGS,
)
from iln_stream.learners.infinite_layer.fast import MEMORY, FastEngine
from iln_stream.learners.infinite_layer.plain_forecasts import NAMES
from iln_stream.learners.restoring import random_key
from iln_stream.state import to_bytes


def taught(events):
    return teach(FastEngine(256, random_key(1)), events)


def test_each_expert_is_reported_by_its_name():
    """There is no Algorithm 1 among them."""
    engine = taught(products(20))
    names = ["ridge", "running-mean", "persistence", "stretched-2", "stretched-4", *NAMES]
    assert list(engine.expert_weights()) == names
    assert engine.first_order is None


def test_the_median_of_two_valued_targets_is_a_value():
    """Where the sign of a noisy sum is the target, stretched ridges get the weight, and most
    predictions are close to one of the two values.
    """
    rng = np.random.default_rng(0)
    engine, predictions = taught([]), []
    for a, b, noise in rng.normal(size=(800, 3)).tolist():
        x = {"a": a, "b": b}
        predictions.append(engine.predict(x))
        engine.learn(x, 1.0 if a + b + 0.3 * noise > 0.0 else -1.0)
    weights = engine.expert_weights()
    plain = sum(weights[name] for name in NAMES)  # the leader, which follows the engine
    assert weights["stretched-2"] + weights["stretched-4"] > 0.8 * (1.0 - plain)
    assert weights["leader"] > 0.9 * plain
    assert np.mean(np.abs(predictions[400:]) > 0.9) > 0.7


def waves(n, seed=0):
    """Events whose target is a wave along a direction that no unit was drawn for."""
    X = np.random.default_rng(seed).normal(size=(n, 4))
    y = np.sin(2.0 * X.sum(axis=1))
    return [
        (dict(zip("abcd", x, strict=True)), t) for x, t in zip(X.tolist(), y.tolist(), strict=True)
    ]


def mean_errors(engine, events, size):
    """Mean absolute errors of so many events each."""
    return engine_errors(engine, events).reshape(-1, size).mean(axis=1)


def test_it_goes_on_learning():
    """Units move: the error falls long after the ridge has fitted those that were drawn."""
    first, *_, last = mean_errors(taught([]), waves(10_000), 2_000)
    assert last < 0.5 * first


@pytest.mark.parametrize("seed", range(2))
def test_it_is_no_seed_lottery(seed):
    """Whatever units are drawn, products are learned."""
    engine = FastEngine(256, random_key(seed))
    assert mean_errors(engine, products(2_000), 1_000)[-1] < 0.2


def test_a_new_column_is_learned():
    """Its weights begin at 0, and the ridge and gradients move them."""
    engine = taught(products(256))
    rng = np.random.default_rng(1)
    x = {"a": 0.3, "b": -0.2, "c": 0.5}
    before = engine.predict(x)
    engine.learn({"a": 0.0, "b": 0.0, "c": 0.0, "new": 0.0}, 0.0)
    assert len(engine.state()["mean_squares"]) == N_FAST_LAGS + 4
    assert engine.predict(x) == pytest.approx(before, abs=0.2)
    for a, b, c, new in rng.normal(size=(300, 4)).tolist():
        engine.learn({"a": a, "b": b, "c": c, "new": new}, new)
    assert engine.relevance()["new"] > 0.6
    assert engine.predict(x | {"new": 1.0}) > engine.predict(x | {"new": -1.0}) + 1.0


def test_the_state_stops_growing():
    """A thousand events after the memory is full, it has the same size, below 3 MB."""
    engine = taught(products(MEMORY))
    size = len(to_bytes(engine.state()))
    teach(engine, products(1_000, seed=1))
    assert len(to_bytes(engine.state())) < 1.01 * size < 3e6
