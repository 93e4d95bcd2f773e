import numpy as np
import pytest
from compiled import plain

from iln_stream.compiled.fast_event import (
    AGOP_EVERY,
    DRIFT,
    FEATURES,
    FORGETTING,
    HUBER,
    HUBER_RECORD,
    INPUTS,
    LAGS,
    N_EXPERTS,
    N_LAGS,
    PREDICTIONS,
    RIDGE,
    ROW,
    learn_event,
    predict_event,
    replay_blocks,
    update_agop,
)
from iln_stream.compiled.standardise import ABSENT
from iln_stream.learners.infinite_layer.engine.inputs import no_statistics
from iln_stream.learners.infinite_layer.engine.intervals import Intervals

d, R, B, MEMORY, N = 4, 20, 16, 50, 130
L, n_blocks = N_LAGS + d, 2
D = n_blocks * B
ONES = np.ones(L)


class Fast:
    """The arrays of the compiled loops."""

    def __init__(self, units):
        self.stats, self.target = no_statistics(d), no_statistics(1)
        self.record, self.table = np.zeros(9), np.zeros((4, N_EXPERTS))
        self.table[3] = 1.0 / N_EXPERTS
        self.units, self.theta = units, np.zeros(D)
        self.P = np.tile(np.eye(B) / RIDGE, (n_blocks, 1, 1))
        self.agop, self.memory = np.eye(L), np.zeros((MEMORY, L + 1))
        self.look, self.intervals = np.zeros((5, D)), Intervals()

    def predict(self, x):
        return predict_event(
            x, self.stats, self.target, self.record, self.table, self.units, self.theta, self.look
        )

    def learn(self, x, y):
        return learn_event(
            x, y, self.stats, self.target, self.record, self.table, self.units, self.theta,
            self.P, self.agop, self.memory, self.look, self.intervals.plain,
        )  # fmt: skip


class Plain:
    """The same, recomputed from all events before."""

    def __init__(self, units):
        self.omega, self.b = units[:L], units[L]
        self.events, self.rows = plain.Events(d, N_LAGS), []
        self.rule, self.intervals = plain.Rule(N_EXPERTS, squared=False), plain.Intervals()
        self.ridge = plain.Blocks(n_blocks, B, FORGETTING, RIDGE, HUBER)
        self.agop, self.missed = np.eye(L), []

    def predict(self, x):
        events = self.events
        events.describe(x)
        ys, scale = events.ys, events.scale
        self.phi = plain.features(self.omega, self.b, True, ONES, events.v, D)
        ridge = np.clip(self.ridge.theta @ self.phi, -2.0, 2.0)
        low, high = (plain.scaled(f(ys), scale) if ys else 0.0 for f in (min, max))
        middle = (low + high) / 2
        stretched = [np.clip(middle + s * (ridge - middle), low, high) for s in (2.0, 4.0)]
        if not ys:
            stretched = [0.0, 0.0]
        self.p = np.array([ridge, 0.0, events.lags[0], *stretched])
        self.mixture = self.rule.weights @ self.p
        return scale[0] + scale[1] * self.mixture

    def learn(self, x, y):
        events = self.events
        center, unit = events.scale
        prediction = center + unit * self.mixture
        self.rows.append([*events.last_targets(missing=0.0), *events.row, y])
        self.intervals.learn(prediction, y)
        self.missed.append(min(abs(y - prediction) / unit, 2.0))
        t = events.join(x, y)
        self.rule.update(self.p, self.mixture, t)
        n = len(events.ys)
        if n % AGOP_EVERY == 0:
            g = plain.gradient(self.omega, self.b, True, ONES, self.ridge.theta, events.v)
            rate = 1.0 / min(1.0 + n / 32, 62.5)
            self.agop = (1.0 - rate) * self.agop + rate * np.outer(g, g)
        self.ridge.learn(self.phi, t, self.p[0])


def some_units():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(L, R)) / 2, rng.random(R)]).astype(np.float32)


def some_events(kind):
    """Rows with a column that lacks values, a constant one and a wild one; and their targets."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(N, d))
    x[:, 1] = np.where(rng.random(N) < 0.3, ABSENT, x[:, 1])
    x[:, 2] = 1e6
    x[70, 3] = 1e9
    y = 5.0 + np.sin(2.0 * x[:, 0]) + 0.3 * rng.normal(size=N)
    if kind == "two-valued":
        y = (y > 5.0).astype(float)
    elif kind == "wild":
        y[[40, 80, 81]] = 1e6, -1e150, 300.0
    elif kind == "constant":
        y[:] = -3.0
    return x, y


@pytest.mark.parametrize("kind", ["normal", "two-valued", "wild", "constant"])
def test_events_are_predicted_and_learned_as_recomputed(kind):
    """From the first event on, predictions and all state are as recomputed from all events."""
    units = some_units()
    fast, reference = Fast(units), Plain(units)
    for n, (x, y) in enumerate(zip(*some_events(kind), strict=True)):
        expected = reference.predict(x)
        events, unit = reference.events, reference.events.scale[1]
        assert fast.predict(x) == pytest.approx(expected, abs=2e-4 * unit)
        assert fast.look[PREDICTIONS, :N_EXPERTS] == pytest.approx(reference.p, abs=2e-4)
        assert fast.look[ROW, :d].tolist() == events.row
        assert fast.look[INPUTS, :L] == pytest.approx(events.v, abs=1e-6)
        assert fast.look[FEATURES] == pytest.approx(reference.phi, abs=2e-5)
        assert fast.learn(x, y) == n + 1
        reference.learn(x, y)
    assert fast.memory[np.arange(N - MEMORY, N) % MEMORY].tolist() == reference.rows[-MEMORY:]
    assert fast.table[3] == pytest.approx(reference.rule.weights, abs=2e-3)
    assert fast.agop == pytest.approx(reference.agop, rel=1e-3, abs=1e-3)
    for block, information in zip(fast.P, reference.ridge.A, strict=True):
        assert block @ information == pytest.approx(np.eye(B), abs=1e-3)
    drift = [N, *(plain.running_mean(reference.missed, horizon) for horizon in (50, 1000))]
    assert fast.record[DRIFT:LAGS] == pytest.approx(drift, abs=1e-4)
    assert fast.record[LAGS:HUBER_RECORD].tolist() == events.last_targets(missing=None)
    expected, errors = np.array(reference.intervals.errors), fast.intervals.errors[0, : N - 1]
    assert errors == pytest.approx(expected, rel=1e-9, abs=1e-3 * unit)


def test_agop_is_a_mean_of_outer_products():
    """The outer product of the gradient at v joins the average at the given rate."""
    units, rng = some_units(), np.random.default_rng(2)
    theta, v = rng.normal(size=D), rng.normal(size=L)
    g = plain.gradient(units[:L], units[L], True, ONES, theta, v)
    for rate in (1.0, 0.25, 0.0):
        agop = np.eye(L)
        update_agop(units, theta, v, rate, agop)
        expected = (1.0 - rate) * np.eye(L) + rate * np.outer(g, g)
        assert agop == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("first", "last"), [(3, 3), (0, 40), (30, 75)], ids=["none", "some", "ring"]
)
def test_candidate_blocks_learn_the_memory(first, last):
    """They have then learned events first..last - 1 of a ring, by the given statistics."""
    rng, units = np.random.default_rng(3), some_units()
    memory, scale = rng.normal(size=(MEMORY, L + 1)), np.array([0.3, 2.0])
    memory[::4, N_LAGS + 1] = ABSENT
    memory[5, 0], memory[6, L] = 1e9, -1e9
    fast, columns = Fast(units), [plain.Column() for _ in range(d)]
    for event in memory:
        x = event[N_LAGS:L].copy()
        plain.joined(columns, x)
        fast.predict(x)
        fast.learn(x, 0.0)
    theta, P, record = np.zeros(D), np.tile(np.eye(B) / RIDGE, (n_blocks, 1, 1)), np.zeros(2)
    replay_blocks(memory, first, last, fast.stats, scale, units, theta, P, record)
    ridge = plain.Blocks(n_blocks, B, FORGETTING, RIDGE, HUBER)
    for i in range(first, last):
        lags, x, y = np.split(memory[i % MEMORY], [N_LAGS, L])
        z = [c.deviation(value, c.joined) for c, value in zip(columns, x, strict=True)]
        v = np.array([3.0 * plain.scaled(lag, scale) for lag in lags] + z)
        phi = plain.features(units[:L], units[L], True, ONES, v, D)
        ridge.learn(phi, plain.scaled(y[0], scale), np.clip(ridge.theta @ phi, -2.0, 2.0))
    assert theta == pytest.approx(ridge.theta, abs=1e-4)
    for block, information in zip(P, ridge.A, strict=True):
        assert block @ information == pytest.approx(np.eye(B), abs=1e-3)
