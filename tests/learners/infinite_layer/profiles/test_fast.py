import numpy as np
import pytest

from iln_stream.compiled.fast_event import N_LAGS
from iln_stream.learners.infinite_layer.profiles.fast import FIRST, MEMORY, FastEngine
from iln_stream.learners.random_key import random_key
from iln_stream.state import from_bytes, to_bytes


def products(n, seed=0):
    """Events whose target is a product of two of three inputs."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return [(dict(zip("abc", x, strict=True)), x[0] * x[1]) for x in X.tolist()]


def taught(events):
    engine = FastEngine(256, random_key(1))
    for x, y in events:
        engine.learn(x, y)
    return engine


def test_each_expert_is_reported_by_its_name():
    """There is no Algorithm 1 among them."""
    engine = taught(products(20))
    names = ["ridge", "running-mean", "persistence", "stretched-2", "stretched-4"]
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
    assert weights["stretched-2"] + weights["stretched-4"] > 0.8
    assert np.mean(np.abs(predictions[400:]) > 0.9) > 0.7


def test_units_are_redrawn_at_each_doubling_up_to_the_memory():
    """A candidate takes over when it has caught up, 64 stored events an event; then never again."""
    drawn, engine = [], taught([])
    for x, y in products(2 * MEMORY + 100):
        engine.learn(x, y)
        if engine.redrawn_at() != {"ridge": drawn[-1] if drawn else 0}:
            drawn.append(engine.redrawn_at()["ridge"])
    doublings = [FIRST * 2**i for i in range(5)]
    assert drawn == pytest.approx([n + (n - 1) // 64 for n in doublings], abs=1)


def amid_a_redraw(n=FIRST * 4):
    """An engine whose candidate has not caught up."""
    engine = taught(products(n))
    assert engine.state()["candidate"] is not None
    return engine


def test_a_new_column_widens_the_candidate():
    """Training continues, and units that use the column are drawn soon."""
    engine = amid_a_redraw()
    rng = np.random.default_rng(1)
    engine.learn({"a": 0.0, "b": 0.0, "c": 0.0, "new": 0.0}, 0.0)
    assert len(engine.state()["candidate"]["units"]) == N_LAGS + 4 + 1  # and b, below the weights
    for a, b, c, new in rng.normal(size=(300, 4)).tolist():
        engine.learn({"a": a, "b": b, "c": c, "new": new}, new)
    assert engine.redrawn_at()["ridge"] > 4 * FIRST + 10
    assert engine.relevance()["new"] > 0.6
    x = {"a": 0.0, "b": 0.0, "c": 0.0}
    assert engine.predict(x | {"new": 1.0}) > engine.predict(x | {"new": -1.0}) + 1.0


def test_restored_amid_a_redraw():
    """A state written as bytes has the candidate, which takes over at the same event."""
    engine, twin = amid_a_redraw(), taught([])
    twin.restore(from_bytes(to_bytes(engine.state())))
    for x, y in products(10, seed=3):
        assert twin.predict(x) == engine.predict(x)
        assert twin.interval(x, 0.8) == engine.interval(x, 0.8)
        twin.learn(x, y)
        engine.learn(x, y)
        assert twin.redrawn_at() == engine.redrawn_at()
    assert engine.state()["candidate"] is None


def test_the_state_stops_growing():
    """A thousand events after the memory is full, it has the same size."""
    engine = taught(products(2 * MEMORY))
    size = len(to_bytes(engine.state()))
    for x, y in products(1_000, seed=1):
        engine.learn(x, y)
    assert len(to_bytes(engine.state())) < 1.01 * size
