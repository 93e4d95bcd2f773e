"""Networks that replay past events, as an expert."""

import numpy as np
import pytest
from support.prequential import products, teach
from support.states import same

from iln_stream.errors import IlnWarning
from iln_stream.kernels.networks import LONG, MOMENTS, SHORT, WEIGHTS, Shape
from iln_stream.kernels.regression_event import FENCE
from iln_stream.learners.infinite_layer.engine import RegressionEngine
from iln_stream.learners.infinite_layer.experts.networks import RECOVERY, WAKES_AT, ReplayedNetworks
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.target import Target
from iln_stream.learners.restoring import random_key

SHAPES = {
    "bent": Shape(64, 32, 16, 2_000, 4e-3, 3e4),
    "smooth": Shape(64, 32, 0, 500, 3e-3, 3e4),
}
N = len(SHAPES) * 3


class Nets(RegressionEngine):
    """A learner of the networks alone, which predicts by one of the first network's averages."""

    def __init__(self, seed=1):
        inputs, target, memory = Inputs(256), Target(), Memory(64, 2)
        self.networks = ReplayedNetworks(
            SHAPES, {}, 2_000, inputs, target, memory, random_key(seed)
        )
        super().__init__(inputs, target, memory, self.networks)
        self._p = np.zeros(N)

    @property
    def predictions(self):
        """Of the event last predicted, on the target's scale."""
        return self._p.copy()


def taught(events, seed=1):
    return teach(Nets(seed), events)


def scaled(engine, y):
    """A target on the engine's scale."""
    return (y - engine.target.center) / engine.target.unit


def test_wakes_after_its_first_events():
    """What it predicts counts only after 64 events."""
    events = products(WAKES_AT)
    assert taught(events[:-1]).networks.asleep
    assert not taught(events).networks.asleep


def test_networks_differ_by_key_and_from_each_other():
    """Another key draws other weights, and two networks of a learner don't draw the same ones."""
    events = products(100)
    one, again, other = taught(events), taught(events), taught(events, seed=2)
    for engine in (one, again, other):
        engine.predict({"a": 0.3, "b": -0.2, "c": 1.0})
    assert (one.predictions == again.predictions).all()
    assert (one.predictions != other.predictions).all()
    assert len(set(one.predictions.tolist())) == N


def test_inputs_that_follow_events_without_any():
    """Networks are drawn with the first event: columns that come later find units that differ. Each
    network's averages then err by less than 0.6 of what the mean does."""
    engine = taught([({}, float(n % 3)) for n in range(20)] + products(2_500))
    errors, scale = [], []
    for x, y in products(300, seed=1):
        engine.predict(x)
        errors.append(np.abs(engine.predictions - scaled(engine, y)))
        scale.append(abs(scaled(engine, y)))
    assert (np.mean(errors, axis=0)[[1, 2, 4, 5]] < 0.6 * np.mean(scale)).all()


def hostile(kind, n):
    """Rows, where nan is absent, and targets."""
    r = np.random.default_rng(7)
    rows, y = r.normal(size=(n, 5)), r.normal(size=n)
    if kind == "cauchy":
        rows, y = r.standard_cauchy(size=(n, 5)), r.standard_cauchy(size=n)
    elif kind == "jumps":
        y += 1e6 * (np.arange(n) // 1_000 % 2)
        rows[:, 0] += 1e6 * (np.arange(n) // 3_000 % 2)
    elif kind == "constant":
        rows[:], y[:] = 3.0, 4.0
    elif kind == "absent":
        rows[r.random((n, 5)) < 0.9] = np.nan
        rows[: n // 2, 0] = np.nan
    elif kind == "indicators":
        rows = (rows > 2.5).astype(float)
        y = np.where(y > 3.0, 1.0, 0.0)
    elif kind == "extremes":
        rows *= 10.0 ** r.integers(-300, 299, size=(n, 5))
        y *= 10.0 ** r.integers(-300, 150, size=n)
    return rows.tolist(), y.tolist()


@pytest.mark.parametrize(
    "kind", ["cauchy", "jumps", "constant", "absent", "indicators", "extremes"]
)
def test_stays_finite(kind):
    """Over 6,000 events of every unkind stream, predictions are finite and within the fence."""
    engine = Nets()
    for row, y in zip(*hostile(kind, 6_000), strict=True):
        x = {name: value for name, value in zip("abcde", row, strict=True) if value == value}
        engine.predict(x)
        assert np.abs(engine.predictions).max() <= FENCE  # nan is not
        engine.learn(x, y)
    assert not any(engine.resets.values())
    assert np.isfinite(engine.networks.ring.encoding).all()


@pytest.mark.parametrize("row", [WEIGHTS, MOMENTS, SHORT, LONG])
def test_a_broken_weight_shows_in_the_next_prediction(row):
    """No activation or clip hides a weight that is not a number, nor a moment after a step: the
    first and the last unit of each array, W2 (64, 32), b1 (64,), b2 (32,), w3 (32,)."""
    *some, (x, y) = products(100)
    for place in (0, 2_047, 2_048, 2_111, 2_112, 2_143, 2_144, 2_175):
        engine = taught(some)
        engine.networks.networks["bent"].parameters[row, place] = np.nan
        if row == MOMENTS:
            engine.learn(x, y)
        engine.predict({"a": 1.0, "b": 1.0, "c": 1.0})
        assert not np.isfinite(engine.predictions[:3]).all()


def test_a_network_that_is_not_finite_is_drawn_anew():
    """At the next event it is counted and warned of; all networks sleep, and it learns again."""
    events = products(1_001 + RECOVERY)
    engine = taught(events[:1_000])
    engine.networks.networks["bent"].parameters[:] = np.nan
    before = engine.state()
    assert np.isfinite(engine.predict(events[1_000][0]))
    assert same(engine.state(), before)
    with pytest.warns(IlnWarning, match=r"bent was not finite.* after 1000 events"):
        engine.learn(*events[1_000])
    assert engine.resets["bent"] == 1
    assert engine.networks.asleep
    teach(engine, events[1_001:])
    assert engine.resets["bent"] == 1
    assert not engine.networks.asleep
    engine.predict({"a": 1.5, "b": 1.5, "c": 0.0})
    assert engine.predictions[:3] == pytest.approx(scaled(engine, 2.25), abs=0.4)


def test_networks_sleep_when_the_ring_lost_its_record():
    """It then begins with the memory's 64 events, and for 1,024 more the others predict."""
    engine = taught(products(1_200))
    engine.networks.wakes_at = 5_000  # as if one had been drawn anew at a much later event
    engine.networks.ring.record[:] = np.nan
    engine.networks.heal()
    assert engine.networks.ring.n == 64
    assert engine.networks.asleep
    assert engine.networks.wakes_at == 64 + RECOVERY


def test_counts_beyond_single_precision():
    """Steps and events are counted on beyond 2^24, where a single-precision count would stop."""
    engine, many = taught(products(20)), 2**24
    for network in engine.networks.networks.values():
        network.record[0] = many
    engine.networks.ring.record[0] = engine.target.stats[0, 0] = many
    teach(engine, products(3))
    assert [network.steps for network in engine.networks.networks.values()] == [many + 3] * 2
    assert engine.networks.ring.n == engine.target.stats[0, 0] == many + 3
