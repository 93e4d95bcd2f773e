import numpy as np
import pytest

from iln_stream.learners.infinite_layer.profiles.accurate import MEMORY, RANDOM, AccurateEngine
from iln_stream.learners.random_key import random_key
from iln_stream.state import from_bytes, to_bytes

EXPERTS = [
    "dense", "sparse", "recent", "linear", "linear-fast", "linear-recent", "forgetting-rls",
    "first-order", "running-mean", "persistence", "median", "neighbours", "nearest-as-of",
]  # fmt: skip


def products(n, seed=0, sign=1.0):
    """Events whose target is a product of two of three inputs."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return [(dict(zip("abc", x, strict=True)), sign * x[0] * x[1]) for x in X.tolist()]


def taught(events):
    engine = AccurateEngine(256, random_key(1))
    for x, y in events:
        engine.learn(x, y)
    return engine


def test_each_expert_is_reported_by_its_name():
    """The weights of a new engine and of a taught one have the names that the README lists."""
    for engine in (taught([]), taught(products(30))):
        assert list(engine.expert_weights()) == EXPERTS
        assert list(engine.redrawn_at()) == [spec.name for spec in RANDOM]


def test_units_use_inputs_that_follow_an_event_without_any():
    """Units are drawn with the first columns, not with the first event."""
    engine = taught([({}, 1.0), ({"a": 1.0, "b": 2.0}, 1.0)])
    assert engine.ridges.bank.omega.any(axis=(1, 2)).all()
    assert set(engine.redrawn_at().values()) == {0}


def test_forgetting_rls_is_on_the_units_of_dense():
    """It restarts when these are redrawn, after 64 events, and its first weights are dense's."""
    expert = taught(products(63)).mean.experts["forgetting-rls"]
    assert expert.followed_at == 0
    engine = taught(products(64))
    expert = engine.mean.experts["forgetting-rls"]
    assert expert.followed_at == engine.redrawn_at()["dense"] == 64
    D = expert.n_features
    assert (expert.theta[:D] == engine.ridges.bank.theta[0, :D]).all()


def test_first_order_is_the_expert():
    """Algorithm 1's report is of the learner that learns the events, restored with the others."""
    engine = taught(products(50))
    assert engine.first_order.state()["n_seen"] == 50
    twin = taught([])
    twin.restore(engine.state())
    twin.learn(*products(1)[0])
    assert twin.first_order.state()["n_seen"] == 51


def test_relevance_is_of_the_ridges_by_their_weights():
    """It follows the experts in use, and shares sum to one."""
    engine = taught(products(200))
    weights = engine.mean.rule.weights[: len(RANDOM)]
    mean = sum(w * engine.ridges.relevance(k) for k, w in enumerate(weights))
    assert list(engine.relevance().values()) == pytest.approx(mean / mean.sum(), abs=1e-6)
    assert list(engine.relevance()) == ["a", "b", "c"]


def test_after_the_memory_is_full():
    """Only `sparse` is redrawn once the memory has lost history, if the stream turns over; and the
    state grows no more.
    """
    engine = taught(products(MEMORY + 200))
    size = len(to_bytes(engine.state()))
    before = engine.redrawn_at()
    for x, y in products(2 * MEMORY + 200, seed=2, sign=-1.0):
        engine.learn(x, y)
    after = engine.redrawn_at()
    assert after["sparse"] > 2 * MEMORY
    assert {name for name in after if after[name] != before[name]} == {"sparse"}
    assert len(to_bytes(engine.state())) < 1.01 * size


def test_state_can_be_stored():
    """Written as bytes and read back, it goes on bit for bit: amid the first redraws."""
    engine = taught(products(131))
    twin = taught([])
    twin.restore(from_bytes(to_bytes(engine.state())))
    for x, y in products(10, seed=3):
        assert twin.predict(x) == engine.predict(x)
        assert twin.interval(x, 0.8) == engine.interval(x, 0.8)
        twin.learn(x, y)
        engine.learn(x, y)
