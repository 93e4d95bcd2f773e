import copy

import numpy as np
import pytest
from support.prequential import engine_errors, products, teach

from iln_stream.errors import IlnWarning
from iln_stream.kernels.mixing import REGRET
from iln_stream.learners.infinite_layer.accurate import MEMORY, RANDOM, AccurateEngine
from iln_stream.learners.infinite_layer.plain_forecasts import PlainForecasts
from iln_stream.learners.restoring import random_key
from iln_stream.state import from_bytes, to_bytes

EXPERTS = [
    "dense", "sparse", "recent", "forgetting-rls", "linear", "linear-fast", "linear-recent",
    "first-order", "running-mean", "persistence", "net-piecewise-short", "net-piecewise-long",
    "net-smooth-short", "net-smooth-long", "net-recent", "net-recent-short", "krls-t",
    "median", "neighbours", "nearest-as-of",
    "last-value", "difference", "least-squares", "indicators", "seasonal", "leader",
]  # fmt: skip


def sharp_units(n, d=6):
    """Events whose target is a network of 30 units that are sharper than random ones."""
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(n, d)), 3.0 * rng.normal(size=(d, 30)) / np.sqrt(d)
    y = np.tanh(X @ W + rng.normal(size=30)) @ rng.normal(size=30)
    names = [f"x{j}" for j in range(d)]
    rows = [dict(zip(names, x, strict=True)) for x in X.tolist()]
    return list(zip(rows, (y / y.std()).tolist(), strict=True))


def taught(events):
    return teach(AccurateEngine(256, random_key(1)), events)


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


def size_without_ring(engine):
    """Bytes of the state but for the ring's, which fills for 65,536 events."""
    return len(to_bytes(engine.state())) - len(to_bytes(engine.networks.ring.state()))


@pytest.mark.thorough
def test_after_the_memory_is_full():
    """Only `sparse` is redrawn once the memory has lost history, if the stream turns over; and only
    the networks' ring grows.
    """
    engine = taught(products(MEMORY + 100))
    size = size_without_ring(engine)
    before = engine.redrawn_at()
    teach(engine, products(MEMORY + 200, seed=2, sign=-1.0))
    after = engine.redrawn_at()
    assert after["sparse"] > MEMORY + 100
    assert {name for name in after if after[name] != before[name]} == {"sparse"}
    assert size_without_ring(engine) < 1.01 * size


LONG = sharp_units(4_800)


@pytest.fixture(scope="module")
def long_run():
    """An engine after 4,300 events of a function that networks learn better than ridges, and the
    errors of its predictions."""
    engine = taught([])
    return engine, engine_errors(engine, LONG[:4_300])


@pytest.fixture
def long_taught(long_run):
    return long_run[0]


@pytest.mark.thorough
def test_goes_on_learning_after_the_last_redraw(long_run):
    """Thanks to the networks, the error of events 3,300 to 4,300 is below three quarters of that of
    an engine whose networks never wake.
    """
    without = taught([])
    without.networks.wakes_at = 10_000
    later = slice(3_300, 4_300)
    assert long_run[1][later].mean() < 3 / 4 * engine_errors(without, LONG[:4_300])[later].mean()


@pytest.mark.thorough
def test_ridges_sleep_once_networks_do_without_them(long_taught):
    """Algorithm 1 goes on, and the inputs' relevance is that of the networks."""
    assert long_taught.sleepers.asleep
    assert long_taught.first_order.state()["n_seen"] == long_taught.n
    relevance = long_taught.relevance()
    assert sum(relevance.values()) == pytest.approx(1.0)
    assert min(relevance.values()) > 0.02
    engine = copy.deepcopy(long_taught)
    engine_errors(engine, [({**x, "idle": x["x0"] ** 2}, y) for x, y in LONG[4_300:4_400]])
    assert engine.sleepers.asleep
    assert engine.relevance()["idle"] < 0.1 * relevance["x0"]


@pytest.mark.thorough
def test_ridges_begin_anew_when_the_target_turns_over(long_taught):
    """From the next event on, without weight or past; a copy and a restored twin go on alike."""
    engine, n = copy.deepcopy(long_taught), long_taught.n
    turned = [(x, -y) for x, y in LONG[n:]]
    engine.mean.rule.table[REGRET, :4] = 5.0  # which would give them weight
    while engine.sleepers.asleep:
        engine_errors(engine, turned[engine.n - n : engine.n - n + 1])
    assert engine.n < n + 100
    assert engine.sleepers.n_alarms == 1
    assert not engine.mean.weights_of("ridges").any()
    assert set(engine.redrawn_at().values()) == {engine.n}
    twin, copied = taught([]), copy.deepcopy(engine)
    twin.restore(from_bytes(to_bytes(engine.state())))
    expected = engine_errors(engine, turned[100:400])
    assert (engine_errors(twin, turned[100:400]) == expected).all()
    assert (engine_errors(copied, turned[100:400]) == expected).all()
    assert min(engine.redrawn_at().values()) > n + 128  # twice, on events since the alarm only
    assert long_taught.sleepers.asleep


@pytest.mark.thorough
def test_survives_a_network_that_is_not_finite():
    """Predictions stay finite and useful, also when what was stored meanwhile leaves the memory."""
    engine = taught([])
    engine_errors(engine, LONG[:600])
    engine.networks.networks["net-smooth"].parameters[:] = np.nan
    with pytest.warns(IlnWarning, match="networks was not finite.* after 600 events"):
        found = engine_errors(engine, LONG[600 : MEMORY + 800])
    assert engine.resets == dict.fromkeys(engine.resets, 0) | {"networks": 1}
    assert np.isfinite(found).all()
    assert found[-500:].mean() < 0.5


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
    for each in (engine, without):
        each.plain = PlainForecasts(counts_from=10**9)  # which would make up for it
    errors = np.zeros(2)
    for n, (x, y) in enumerate(growing(0)):
        without.mixture.experts["neighbours"].scaled[:] = 0.0  # all were average for their time
        if n > 200:
            errors += abs(engine.predict(x) - y), abs(without.predict(x) - y)
        engine.learn(x, y)
        without.learn(x, y)
    assert engine.expert_weights()["nearest-as-of"] > 0.2
    assert errors[0] < 0.9 * errors[1]
