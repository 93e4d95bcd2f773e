"""Networks that replay past events: one with its ring, and several as an expert."""

import numpy as np
import pytest
from support.states import same

from iln_stream.errors import IlnWarning
from iln_stream.kernels.columns import ABSENT, join, no_statistics
from iln_stream.kernels.networks import LONG, MOMENTS, SHORT, WEIGHTS, Shape
from iln_stream.kernels.regression_event import FENCE, center_and_unit, join_target
from iln_stream.learners.infinite_layer.engine import RegressionEngine
from iln_stream.learners.infinite_layer.experts.networks import (
    PREDICTIONS,
    RECOVERY,
    WAKES_AT,
    ReplayedNetwork,
    ReplayedNetworks,
    ReplayRing,
)
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.target import Target
from iln_stream.learners.restoring import random_key

WIDE = Shape(128, 32, 64, 4000, 4e-3, 3e4)
"""Few units, but every kind of them."""


class Learner:
    """A ring, a network, and the statistics that a learner's other parts keep."""

    def __init__(self, d, shape=WIDE, size=2048, key=1):
        self.ring = ReplayRing(size)
        self.network = ReplayedNetwork(shape, self.ring, key)
        self.stats, self.target = no_statistics(0), no_statistics(1)
        self.widen(d)

    def widen(self, n_columns):
        self.ring.widen(n_columns)
        self.network.widen(n_columns)
        self.stats = np.concatenate([self.stats, no_statistics(n_columns)], axis=1)

    def predict(self, row):
        p = np.empty(len(PREDICTIONS))
        self.ring.look(row)
        self.network.predict(p)
        return p

    def learn(self, row, y):
        join(row, self.stats, 0)
        join_target(y, self.target, 0)
        self.ring.put(row, y, self.stats, self.target)
        self.network.learn(self.target)

    def run(self, rows, targets):
        """Return the predictions, (n, 3), each made before its target was learned."""
        predictions = np.empty((len(rows), len(PREDICTIONS)))
        for i, (row, y) in enumerate(zip(rows, targets, strict=True)):
            predictions[i] = self.predict(row)
            self.learn(row, y)
        return predictions


def bent(n, d=4, seed=0):
    """A target that no linear function follows: a product and a kink."""
    r = np.random.default_rng(seed)
    rows = r.normal(size=(n, d))
    return rows, rows[:, 0] * rows[:, 1] + np.abs(rows[:, 2]) + 0.1 * r.normal(size=n)


def errors(predictions, targets, learner):
    """Mean |error| of each kind of prediction, in sd of the target."""
    center, unit = center_and_unit(learner.target)
    return np.abs(predictions - ((targets - center) / unit)[:, None]).mean(axis=0) * 3


def test_learns_what_is_not_linear():
    """After 3,000 events the error is less than half of a linear function's; averages help."""
    rows, y = bent(4_000)
    learner = Learner(4)
    weights, short, long = errors(learner.run(rows, y)[3_000:], y[3_000:], learner)
    linear = np.abs(y - y.mean()).mean() / y.std()
    assert max(weights, short, long) < linear / 2
    assert max(short, long) < weights


def test_an_offset_costs_no_digits():
    """Inputs and targets far from 0 are learned as well as those around 0."""
    (rows, y), offset = bent(2_000), -1e12
    near, far = Learner(4), Learner(4)
    expected = errors(near.run(rows, y)[1_000:], y[1_000:], near)
    y = y + offset
    found = errors(far.run(rows + offset, y)[1_000:], y[1_000:], far)
    assert found == pytest.approx(expected, rel=0.05)


def test_new_columns():
    """They change no prediction until they are learned, and then are used."""
    more = 20
    rows, y = bent(4_000, d=4 + more)
    y += 3 * rows[:, 4]
    learner = Learner(4)
    learner.run(rows[:1_000, :4], y[:1_000])
    before = learner.predict(rows[0, :4])
    learner.widen(more)
    np.testing.assert_array_equal(
        learner.predict(np.append(rows[0, :4], np.full(more, ABSENT))), before
    )
    late = learner.run(rows[1_000:], y[1_000:])[2_000:]
    assert errors(late, y[3_000:], learner).max() < 0.4


def test_absent_and_constant_columns_do_no_harm():
    """Constant columns, and one absent half of the time, leave the error near the other's."""
    rows, y = bent(3_000)
    holes = np.where(np.random.default_rng(1).random(3_000) < 0.5, ABSENT, 5.0)
    spoilt = np.column_stack([rows, np.zeros(3_000), np.full(3_000, 1e9), holes])
    clean, other = Learner(4), Learner(7)
    expected = errors(clean.run(rows, y)[2_000:], y[2_000:], clean)
    found = errors(other.run(spoilt, y)[2_000:], y[2_000:], other)
    assert (found < 1.15 * expected).all()


def hostile(kind, n):
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
        rows[r.random((n, 5)) < 0.9] = ABSENT
        rows[: n // 2, 0] = ABSENT
    elif kind == "indicators":
        rows = (rows > 2.5).astype(float)
        y = np.where(y > 3.0, 1.0, 0.0)
    elif kind == "extremes":
        rows *= 10.0 ** r.integers(-300, 299, size=(n, 5))
        y *= 10.0 ** r.integers(-300, 150, size=n)
    return rows, y


@pytest.mark.parametrize(
    "kind", ["cauchy", "jumps", "constant", "absent", "indicators", "extremes"]
)
def test_stays_finite(kind):
    """Over 7,000 events of every unkind stream, predictions are finite and within the fence."""
    rows, y = hostile(kind, 7_000)
    learner = Learner(5)
    predictions = learner.run(rows, y)
    assert np.isfinite(predictions).all()
    assert abs(predictions).max() <= FENCE
    assert np.isfinite(learner.network.parameters).all()
    assert np.isfinite(learner.ring.encoding).all()


# In WIDE: W2 (128, 32), b1 (128,), b2 (32,), w3 (32,), the first and last unit of each.
@pytest.mark.parametrize("row", [WEIGHTS, MOMENTS, SHORT, LONG])
def test_a_broken_weight_shows_in_the_next_prediction(row):
    """No activation or clip hides a weight that is not a number, nor a moment after a step."""
    rows, y = bent(100)
    for place in (0, 4_095, 4_096, 4_096 + 127, 4_224, 4_224 + 31, 4_256, 4_256 + 31):
        learner = Learner(4)
        learner.run(rows[:99], y[:99])
        learner.network.parameters[row, place] = np.nan
        if row == MOMENTS:
            learner.learn(rows[99], y[99])
        assert not np.isfinite(learner.predict(np.ones(4))).all()


def test_counts_beyond_single_precision():
    """Steps and events are counted on beyond 2^24, where a single-precision count would stop."""
    learner, many = Learner(4), 2**24
    learner.run(*bent(20))
    learner.network.record[0] = learner.ring.record[0] = learner.target[0, 0] = many
    learner.run(*bent(3))
    assert learner.network.steps == learner.ring.n == learner.target[0, 0] == many + 3


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


def products(n, seed=0):
    """Events whose target is a product of two of three inputs."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return [(dict(zip("abc", x, strict=True)), x[0] * x[1]) for x in X.tolist()]


def taught(events, seed=1):
    engine = Nets(seed)
    for x, y in events:
        engine.learn(x, y)
    return engine


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
    for x, y in events[1_001:]:
        engine.learn(x, y)
    assert engine.resets["bent"] == 1
    assert not engine.networks.asleep
    engine.predict({"a": 1.5, "b": 1.5, "c": 0.0})
    assert engine.predictions[:3] == pytest.approx(scaled(engine, 2.25), abs=0.4)


def test_inputs_that_follow_events_without_any():
    """Networks are drawn with the first event: columns that come later find units that differ."""
    engine = taught([({}, float(n % 3)) for n in range(20)] + products(2_500))
    errors, scale = [], []
    for x, y in products(300, seed=1):
        engine.predict(x)
        errors.append(np.abs(engine.predictions - scaled(engine, y)))
        scale.append(abs(scaled(engine, y)))
    assert (np.mean(errors, axis=0)[[1, 2, 4, 5]] < 0.6 * np.mean(scale)).all()


def test_networks_sleep_when_the_ring_lost_its_record():
    """It then begins with the memory's 64 events, and for 1,024 more the others predict."""
    engine = taught(products(1_200))
    engine.networks.wakes_at = 5_000  # as if one had been drawn anew at a much later event
    engine.networks.ring.record[:] = np.nan
    engine.networks.heal()
    assert engine.networks.ring.n == 64
    assert engine.networks.asleep
    assert engine.networks.wakes_at == 64 + RECOVERY
