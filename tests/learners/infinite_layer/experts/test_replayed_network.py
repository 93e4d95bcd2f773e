"""A ring and a network of it, event by event, as a learner uses them."""

import numpy as np
import pytest

from iln_stream.kernels.columns import ABSENT, join, no_statistics
from iln_stream.kernels.networks import LONG, MOMENTS, SHORT, WEIGHTS, Shape
from iln_stream.kernels.regression_event import FENCE, center_and_unit, join_target
from iln_stream.learners.infinite_layer.experts.networks import (
    PREDICTIONS,
    ReplayedNetwork,
    ReplayRing,
)
from iln_stream.state import to_bytes

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

    def state(self):
        return {
            "ring": self.ring.state(), "network": self.network.state(),
            "stats": self.stats.copy(), "target": self.target.copy(),
        }  # fmt: skip

    def restore(self, state):
        self.ring.restore(state["ring"])
        self.network.restore(state["network"])
        self.stats, self.target = state["stats"].copy(), state["target"].copy()


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
    """After 4,000 events the error is less than half of a linear function's; averages help."""
    rows, y = bent(6_000)
    learner = Learner(4)
    weights, short, long = errors(learner.run(rows, y)[4_000:], y[4_000:], learner)
    linear = np.abs(y - y.mean()).mean() / y.std()
    assert max(weights, short, long) < linear / 2
    assert max(short, long) < weights


@pytest.mark.parametrize("offset", [1e9, -1e12])
def test_an_offset_costs_no_digits(offset):
    """Inputs and targets far from 0 are learned as well as those around 0."""
    rows, y = bent(2_000)
    near, far = Learner(4), Learner(4)
    expected = errors(near.run(rows, y)[1_000:], y[1_000:], near)
    y = y + offset
    found = errors(far.run(rows + offset, y)[1_000:], y[1_000:], far)
    assert found == pytest.approx(expected, rel=0.05)


def test_restores_bit_for_bit():
    """A learner restored after 3,000 events goes on as the one that never stopped."""
    rows, y = bent(4_000)
    rows[:, 3] = np.where(rows[:, 3] < 0.5, 0.0, 1.0)
    rows[::7, 2] = ABSENT
    one = Learner(4)
    one.run(rows[:3_000], y[:3_000])
    state = one.state()
    other = Learner(4, key=1)
    other.restore(state)
    expected = one.run(rows[3_000:], y[3_000:])
    np.testing.assert_array_equal(other.run(rows[3_000:], y[3_000:]), expected)
    np.testing.assert_array_equal(other.network.parameters, one.network.parameters)
    assert to_bytes(other.ring.state()) == to_bytes(one.ring.state())


def test_a_state_is_a_copy():
    """Learning goes on without changing a state that was returned before."""
    rows, y = bent(400)
    learner = Learner(4, size=128)
    learner.run(rows[:300], y[:300])
    state, again = learner.state(), learner.state()
    learner.run(rows[300:], y[300:])
    for part in ("ring", "network"):
        for name, value in state[part].items():
            np.testing.assert_equal(value, again[part][name])


def test_the_key_decides():
    """The same key gives the same bits, another key others."""
    rows, y = bent(200)
    first, again, other = (Learner(4, key=key).run(rows, y) for key in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first[100:] != other[100:]).all()


def test_predicting_changes_nothing():
    """However often and wherever one asks, what is learned is the same."""
    rows, y = bent(300)
    one, other = Learner(4), Learner(4)
    for row, target in zip(rows, y, strict=True):
        one.predict(row)
        one.learn(row, target)
        other.predict(row[::-1].copy())
        other.predict(np.full(4, ABSENT))
        other.learn(row, target)
    np.testing.assert_array_equal(one.network.parameters, other.network.parameters)


@pytest.mark.parametrize("more", [1, 20])
def test_new_columns(more):
    """They change no prediction until they are learned, and then are used."""
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
    elif kind == "offset":
        rows, y = rows + 1e9, y - 1e9
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
    "kind", ["cauchy", "jumps", "constant", "offset", "absent", "indicators", "extremes"]
)
def test_stays_finite(kind):
    """Over 20,000 events of every unkind stream, predictions are finite and within the fence."""
    rows, y = hostile(kind, 20_000)
    learner = Learner(5)
    predictions = learner.run(rows, y)
    assert np.isfinite(predictions).all()
    assert abs(predictions).max() <= FENCE
    assert np.isfinite(learner.network.parameters).all()
    assert np.isfinite(learner.ring.encoding).all()


# In WIDE: W2 (128, 32), b1 (128,), b2 (32,), w3 (32,), the first and last unit of each.
@pytest.mark.parametrize(
    "place", [0, 5, 4_095, 4_096, 4_096 + 127, 4_224, 4_224 + 31, 4_256, 4_256 + 31]
)
@pytest.mark.parametrize("row", [WEIGHTS, MOMENTS, SHORT, LONG])
def test_a_broken_weight_shows_in_the_next_prediction(row, place):
    """No activation or clip hides a weight that is not a number, nor a moment after a step."""
    rows, y = bent(100)
    learner = Learner(4)
    learner.run(rows[:99], y[:99])
    learner.network.parameters[row, place] = np.nan
    if row == MOMENTS:
        learner.learn(rows[99], y[99])
    assert not np.isfinite(learner.predict(np.ones(4))).all()


def test_heals():
    """After `begin` a broken network learns again from the events of the ring."""
    rows, y = bent(4_000)
    learner = Learner(4)
    learner.run(rows[:2_000], y[:2_000])
    learner.network.parameters[0, 5] = np.nan
    learner.network.begin()
    assert np.isfinite(learner.network.parameters).all()
    assert learner.network.steps == 0
    healed = errors(learner.run(rows[2_000:], y[2_000:])[1_000:], y[3_000:], learner)
    assert healed.max() < 0.5


def test_memory_is_bounded():
    """A state holds the last events only, apart from the weights."""
    rows, y = bent(700)
    learner = Learner(4, size=256)
    sizes = []
    for first in range(0, 700, 100):
        learner.run(rows[first : first + 100], y[first : first + 100])
        events = learner.ring.state()["events"]
        sizes.append(sum(len(block["targets"]) for block in events))
        assert sum(len(block["rows"]) for block in events) == sizes[-1] == len(learner.ring)
    assert sizes == [100, 200, 252, 256, 244, 248, 252]
    assert learner.ring.n == 700
    assert learner.network.state()["parameters"].shape == learner.network.parameters.shape


def test_counts_beyond_single_precision():
    """Steps and events are counted on beyond 2^24, where a single-precision count would stop."""
    learner, many = Learner(4), 2**24
    learner.run(*bent(20))
    learner.network.record[0] = learner.ring.record[0] = learner.target[0, 0] = many
    learner.run(*bent(3))
    assert learner.network.steps == learner.ring.n == learner.target[0, 0] == many + 3
