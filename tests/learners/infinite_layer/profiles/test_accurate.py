import copy

import numpy as np
import pytest

from iln_stream.errors import IlnWarning
from iln_stream.kernels.mixing import REGRET
from iln_stream.learners.infinite_layer.accurate import MEMORY, RANDOM, AccurateEngine
from iln_stream.learners.restoring import random_key
from iln_stream.state import from_bytes, to_bytes

EXPERTS = [
    "dense", "sparse", "recent", "forgetting-rls", "linear", "linear-fast", "linear-recent",
    "first-order", "running-mean", "persistence", "net-piecewise-short", "net-piecewise-long",
    "net-smooth-short", "net-smooth-long", "net-recent", "net-recent-short", "krls-t",
    "median", "neighbours", "nearest-as-of",
]  # fmt: skip


def products(n, seed=0, sign=1.0):
    """Events whose target is a product of two of three inputs."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return [(dict(zip("abc", x, strict=True)), sign * x[0] * x[1]) for x in X.tolist()]


def sharp_units(n, d=6):
    """Events whose target is a network of 30 units that are sharper than random ones."""
    rng = np.random.default_rng(0)
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
    expert = taught(products(63)).sleepers.experts["forgetting-rls"]
    assert expert.followed_at == 0
    engine = taught(products(64))
    expert = engine.sleepers.experts["forgetting-rls"]
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
    weights = engine.mean.weights_of("ridges")[: len(RANDOM)]
    mean = sum(w * engine.ridges.relevance(k) for k, w in enumerate(weights))
    assert list(engine.relevance().values()) == pytest.approx(mean / mean.sum(), abs=1e-6)
    assert list(engine.relevance()) == ["a", "b", "c"]


def size_without_ring(engine):
    """Bytes of the state but for the ring's, which fills for 65,536 events."""
    return len(to_bytes(engine.state())) - len(to_bytes(engine.networks.ring.state()))


def test_after_the_memory_is_full():
    """Only `sparse` is redrawn once the memory has lost history, if the stream turns over; and only
    the networks' ring grows.
    """
    engine = taught(products(MEMORY + 200))
    size = size_without_ring(engine)
    before = engine.redrawn_at()
    for x, y in products(2 * MEMORY + 200, seed=2, sign=-1.0):
        engine.learn(x, y)
    after = engine.redrawn_at()
    assert after["sparse"] > 2 * MEMORY
    assert {name for name in after if after[name] != before[name]} == {"sparse"}
    assert size_without_ring(engine) < 1.01 * size


def test_goes_on_learning_after_the_last_redraw():
    """Thanks to the networks, the error of events 4,000 to 6,000 is below two thirds of that of an
    engine whose networks never wake.
    """
    events, without = sharp_units(6_000), taught([])
    without.networks.wakes_at = 10_000
    assert (
        errors(taught([]), events)[4_000:].mean() < 2 / 3 * errors(without, events)[4_000:].mean()
    )


LONG = sharp_units(4_800)


@pytest.fixture(scope="module")
def long_taught():
    """An engine after 4,300 events of a function that networks learn better than ridges."""
    return taught(LONG[:4_300])


def test_ridges_sleep_once_networks_do_without_them(long_taught):
    """Algorithm 1 goes on, and the inputs' relevance is that of the networks."""
    assert long_taught.sleepers.asleep
    assert long_taught.first_order.state()["n_seen"] == long_taught.n
    relevance = long_taught.relevance()
    assert sum(relevance.values()) == pytest.approx(1.0)
    assert min(relevance.values()) > 0.02
    engine = copy.deepcopy(long_taught)
    errors(engine, [({**x, "idle": x["x0"] ** 2}, y) for x, y in LONG[4_300:4_400]])
    assert engine.sleepers.asleep
    assert engine.relevance()["idle"] < 0.1 * relevance["x0"]


def test_ridges_begin_anew_when_the_target_turns_over(long_taught):
    """From the next event on, without weight or past; a copy and a restored twin go on alike."""
    engine, n = copy.deepcopy(long_taught), long_taught.n
    turned = [(x, -y) for x, y in LONG[n:]]
    engine.mean.rule.table[REGRET, :4] = 5.0  # which would give them weight
    while engine.sleepers.asleep:
        errors(engine, turned[engine.n - n : engine.n - n + 1])
    assert engine.n < n + 100
    assert engine.sleepers.n_alarms == 1
    assert not engine.mean.weights_of("ridges").any()
    assert set(engine.redrawn_at().values()) == {engine.n}
    twin, copied = taught([]), copy.deepcopy(engine)
    twin.restore(from_bytes(to_bytes(engine.state())))
    expected = errors(engine, turned[100:400])
    assert (errors(twin, turned[100:400]) == expected).all()
    assert (errors(copied, turned[100:400]) == expected).all()
    assert min(engine.redrawn_at().values()) > n + 128  # twice, on events since the alarm only
    assert long_taught.sleepers.asleep


def test_survives_a_network_that_is_not_finite():
    """Predictions stay finite and useful, also when what was stored meanwhile leaves the memory."""
    events, engine = sharp_units(5_000), taught([])
    errors(engine, events[:1_000])
    engine.networks.networks["net-smooth"].parameters[:] = np.nan
    with pytest.warns(IlnWarning, match="networks was not finite.* after 1000 events"):
        found = errors(engine, events[1_000:])
    assert engine.resets == dict.fromkeys(engine.resets, 0) | {"networks": 1}
    assert np.isfinite(found).all()
    assert found[-1_000:].mean() < 0.5


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
