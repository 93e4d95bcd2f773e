import numpy as np
import pytest

from iln_stream.errors import IlnWarning
from iln_stream.learners.infinite_layer.profiles.accurate import AccurateEngine
from iln_stream.learners.infinite_layer.profiles.long import NETWORKS, LongEngine
from iln_stream.learners.random_key import random_key
from iln_stream.state import from_bytes, to_bytes


def teacher(n, d=6, seed=0):
    """Events whose target is a network of 30 units that are sharper than random ones."""
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(n, d)), 3.0 * rng.normal(size=(d, 30)) / np.sqrt(d)
    y = np.tanh(X @ W + rng.normal(size=30)) @ rng.normal(size=30)
    names = [f"x{j}" for j in range(d)]
    rows = [dict(zip(names, x, strict=True)) for x in X.tolist()]
    return list(zip(rows, (y / y.std()).tolist(), strict=True))


def errors(engine, events):
    """The |error| of each prediction, made before its target was learned."""
    found = []
    for x, y in events:
        found.append(abs(engine.predict(x) - y))
        engine.learn(x, y)
    return np.array(found)


def test_networks_are_experts_of_the_first_rule():
    """Their nine predictions are weighed beside the others', and all weights sum to one."""
    engine = LongEngine(256, random_key(1))
    errors(engine, teacher(150))
    weights = engine.expert_weights()
    added = [
        name for name in weights if name not in AccurateEngine(256, random_key(1)).expert_weights()
    ]
    assert added == [f"{name}{end}" for name in NETWORKS for end in ("", "-short", "-long")]
    assert sum(weights.values()) == pytest.approx(1.0)


def test_it_is_accurate_while_the_networks_sleep():
    """The first 64 predictions are those of profile accurate."""
    events = teacher(65)
    long, accurate = LongEngine(256, random_key(1)), AccurateEngine(256, random_key(1))
    assert errors(long, events[:64]) == pytest.approx(errors(accurate, events[:64]), rel=1e-9)
    assert set(long.expert_weights()) > set(accurate.expert_weights())


def test_goes_on_learning_after_the_last_redraw():
    """Between 4,000 and 6,000 events it errs by less than two thirds of what accurate does."""
    events = teacher(6_000)
    long = errors(LongEngine(256, random_key(1)), events)[4_000:].mean()
    accurate = errors(AccurateEngine(256, random_key(1)), events)[4_000:].mean()
    assert long < 2 / 3 * accurate


def test_goes_on_from_its_bytes():
    """A restored engine predicts and learns as the original does, bit for bit."""
    events = teacher(1_100)
    engine, twin = LongEngine(256, random_key(1)), LongEngine(256, random_key(1))
    errors(engine, events[:1_000])
    twin.restore(from_bytes(to_bytes(engine.state())))
    assert errors(engine, events[1_000:]).tolist() == errors(twin, events[1_000:]).tolist()


def test_survives_a_network_that_is_not_finite():
    """Predictions stay finite and useful, also when what was stored meanwhile leaves the memory."""
    events = teacher(5_000)
    engine = LongEngine(256, random_key(1))
    errors(engine, events[:1_000])
    networks = engine.mean.experts["networks"]
    networks.networks["net-smooth"].parameters[:] = np.nan
    with pytest.warns(IlnWarning, match="not finite at event 1001"):
        found = errors(engine, events[1_000:])
    assert networks.n_reset == 1
    assert np.isfinite(found).all()
    assert found[-1_000:].mean() < 0.5
