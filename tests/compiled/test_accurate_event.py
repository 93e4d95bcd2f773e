import numpy as np
import pytest
from compiled import plain
from iln_stream.compiled.accurate_event import (
    MEAN,
    MEDIAN,
    N_NEAR,
    N_SIMILAR,
    NEIGHBOURS,
    STANDING,
    describe,
    judge,
    keep,
    mix,
)

from iln_stream.compiled.standardise import ABSENT
from iln_stream.learners.infinite_layer.aggregation.ml_poly import MLPoly
from iln_stream.learners.infinite_layer.engine.inputs import no_statistics
from iln_stream.learners.infinite_layer.engine.intervals import Intervals
from iln_stream.learners.infinite_layer.engine.memory import Memory
from iln_stream.learners.infinite_layer.experts.neighbours import Neighbours

d, K, N_KEPT, N_LAGS, SIZE, N = 3, 4, 2, 2, 60, 150
"""Columns, experts, those whose predictions are kept, last targets, places in the ring, events."""


class Accurate:
    """The arrays of the compiled loops."""

    def __init__(self, metric):
        self.stats, self.target, self.lags = no_statistics(d), no_statistics(1), np.zeros(N_LAGS)
        self.mean, self.final, self.intervals = MLPoly(K), MLPoly(4), Intervals()
        self.memory, self.near = Memory(SIZE, N_LAGS, N_KEPT), Neighbours(SIZE)
        self.memory.widen(d)
        self.near.widen(d)
        self.near.metric[:] = metric
        self.drift = np.zeros(3)
        self.row, self.v, self.q = np.zeros(d), np.zeros(N_LAGS + d), np.zeros(4)

    def predict(self, x, p):
        memory, near, n = self.memory, self.near, self.memory.n
        describe(x, self.stats, self.target, self.lags, n, self.row, self.v)
        self.mixture = mix(
            p, self.q, self.mean.table, self.final.table, self.target, n, memory.y,
            memory.columns, self.row, near.metric, near.ordered, near.carried, near.standing,
            near.standing_t, self.v[N_LAGS:],
        )  # fmt: skip
        return self.mixture

    def learn(self, x, y, p):
        memory, near, said = self.memory, self.near, self.intervals
        t = judge(
            x, y, self.row, self.v[N_LAGS:], p, self.q, self.mixture, self.stats,
            self.target, self.lags, memory.n, self.drift,
            self.mean.table, self.mean.record, self.final.table, self.final.record,
            memory.columns, memory.lags, memory.y, memory.predictions, near.means, near.ordered,
            near.carried, near.standing, near.standing_t,
            said.errors, said.rules, said.tallies, said.record,
        )  # fmt: skip
        memory.n += 1
        return t


class Plain:
    """The same of all events that came before."""

    def __init__(self, metric):
        self.metric, self.columns = metric, [plain.Column() for _ in range(d)]
        self.mean, self.final = plain.Rule(K, squared=True), plain.Rule(4, squared=False)
        self.intervals, self.missed, self.ys, self.lags = plain.Intervals(), [], [], []
        self.rows, self.zs, self.ts, self.means, self.said = [], [], [], [], []

    def last(self, what):
        """Those of the last events, whose places the memory has."""
        return np.array(what[-SIZE:])

    def predict(self, x, p):
        scale = plain.scale(self.ys)
        lags = [3.0 * plain.scaled(y, scale) for y in self.ys[: -N_LAGS - 1 : -1]]
        if len(lags) < N_LAGS:
            lags += [0.0] * (N_LAGS - len(lags))
        self.z = [c.with_itself(value) for c, value in zip(self.columns, x, strict=True)]
        self.row = [c.value(value) for c, value in zip(self.columns, x, strict=True)]
        self.v, ys = lags + self.z, self.last(self.ys)
        self.q = np.full(4, self.mean.weights @ p)
        if len(ys) >= N_SIMILAR:
            away = np.abs(self.last(self.means) - (scale[0] + scale[1] * self.q[MEAN]))
            self.q[MEDIAN] = plain.scaled(np.median(ys[np.argsort(away)[:N_SIMILAR]]), scale)
            apart = np.clip((self.last(self.rows) - self.row) * self.metric, -10.0, 10.0)
            near = np.argsort((apart**2).sum(axis=1))[:N_NEAR]
            self.q[NEIGHBOURS] = plain.scaled(np.median(ys[near]), scale)
        if len(ys) > 0:
            apart = ((self.last(self.zs) - self.z) ** 2).sum(axis=1)
            self.q[STANDING] = self.last(self.ts)[apart.argmin()]
        self.mixture = self.final.weights @ self.q
        return self.mixture

    def learn(self, x, y, p):
        center, unit = plain.scale(self.ys)
        prediction = center + unit * self.mixture
        self.lags.append((self.ys[: -N_LAGS - 1 : -1] + 2 * [self.ys[0] if self.ys else y])[:2])
        self.intervals.learn(prediction, y)
        self.missed.append(min(abs(y - prediction) / unit, 2.0))
        self.means.append(center + unit * self.q[MEAN])
        self.said.append(center + unit * p[:N_KEPT])
        self.rows.append(self.row)
        self.zs.append(self.z)
        plain.joined(self.columns, x)
        self.ys.append(y)
        self.ts.append(plain.scaled(y, plain.scale(self.ys)))
        self.mean.judge(p, self.q[MEAN], self.ts[-1])
        self.final.judge(self.q, self.mixture, self.ts[-1])
        return self.ts[-1]


def some_events(kind):
    """Rows with a column that lacks values, targets, and what experts say in units."""
    rng = np.random.default_rng(0)
    x, p = rng.normal(size=(N, d)), 0.3 * rng.normal(size=(N, K))
    x[:, 1] = np.where(rng.random(N) < 0.3, ABSENT, 1000.0 + x[:, 1])
    y = 5.0 + np.sin(2.0 * x[:, 0]) + 0.1 * rng.normal(size=N)
    p[:, 0] = 0.5 * (y - 5.0)
    p[0] = 0.0  # who has learned nothing says nothing
    if kind == "wild":
        x[[20, 90], 2] = 1e9, -1e9
        y[[40, 80, 81]] = 1e6, -1e150, 300.0
    return x, y, p


@pytest.mark.parametrize("kind", ["normal", "wild"])
def test_events_are_mixed_and_judged_as_recomputed(kind):
    """From the first event on, and when the ring is full, all is what the events before say."""
    metric = np.array([1.0, 0.5, 0.0])
    ours, reference = Accurate(metric), Plain(metric)
    memory, near = ours.memory, ours.near
    for x, y, p in zip(*some_events(kind), strict=True):
        expected = reference.predict(x, p)
        assert ours.predict(x, p) == pytest.approx(expected, abs=1e-6)
        assert ours.q == pytest.approx(reference.q, abs=1e-6)
        assert ours.row.tolist() == reference.row
        assert ours.v == pytest.approx(np.array(reference.v), abs=1e-6)
        assert ours.learn(x, y, p) == pytest.approx(reference.learn(x, y, p))
        assert memory.lags[(memory.n - 1) % SIZE].tolist() == reference.lags[-1]
        assert ours.mean.weights == pytest.approx(reference.mean.weights, abs=1e-6)
        assert ours.final.weights == pytest.approx(reference.final.weights, abs=1e-6)
    ring = np.arange(N - SIZE, N) % SIZE
    assert memory.columns[:, ring].T.tolist() == reference.rows[-SIZE:]
    assert memory.y[ring].tolist() == reference.ys[-SIZE:]
    assert memory.lags[ring].tolist() == reference.lags[-SIZE:]
    assert memory.predictions[ring] == pytest.approx(reference.last(reference.said), rel=1e-9)
    standing = near.standing[:, ring].T
    assert standing == pytest.approx(reference.last(reference.zs), abs=1e-6)
    assert near.standing_t[ring] == pytest.approx(reference.last(reference.ts))
    assert ours.lags.tolist() == reference.ys[: -N_LAGS - 1 : -1]
    drift = [N, *(plain.running_mean(reference.missed, horizon) for horizon in (50, 1000))]
    assert ours.drift == pytest.approx(drift)
    errors = reference.intervals.errors
    assert ours.intervals.errors[0, : N - 1] == pytest.approx(np.array(errors), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_targets_that_have_not_come_are_nothing(n):
    """Of the last targets those that have come are described, in units, and the others as 0."""
    stats, target, v = no_statistics(0), no_statistics(1), np.full(N_LAGS, np.nan)
    target[:3, 0] = 4.0, 1.0, 4.0  # a center of 1 and a unit of 3
    describe(np.empty(0), stats, target, np.array([2.0, 1e9]), n, np.empty(0), v)
    assert v.tolist() == [1.0 if n > 0 else 0.0, 6.0 if n > 1 else 0.0]


@pytest.mark.parametrize("n", [1, 4, 5, 13])
def test_kept_events_are_those_last_put_in(n):
    """Each place has its event, and beside them means are in order, with the targets they carry."""
    size, rng = 5, np.random.default_rng(1)
    columns, standing = np.zeros((d, size)), np.zeros((d, size), np.float32)
    kept_lags, targets, means = np.zeros((size, N_LAGS)), np.zeros(size), np.zeros(size)
    ordered, carried = np.zeros(size), np.zeros(size)
    events = rng.normal(size=(n, 2 * d + N_LAGS + 2))
    for i, event in enumerate(events):
        row, z, lags, (y, mean) = np.split(event, [d, 2 * d, 2 * d + N_LAGS])
        keep(
            i % size, min(i, size), row, z, lags, y, mean,
            columns, kept_lags, targets, means, ordered, carried, standing,
        )  # fmt: skip
    at = np.arange(max(0, n - size), n)
    rows, zs, lags, last = np.split(events[at], [d, 2 * d, 2 * d + N_LAGS], axis=1)
    assert columns[:, at % size].T.tolist() == rows.tolist()
    kept = standing[:, at % size].T
    assert kept == pytest.approx(zs, abs=1e-6)
    assert kept_lags[at % size].tolist() == lags.tolist()
    assert targets[at % size].tolist() == last[:, 0].tolist()
    assert means[at % size].tolist() == last[:, 1].tolist()
    pairs = sorted(zip(last[:, 1].tolist(), last[:, 0].tolist(), strict=True))
    filled = min(n, size)
    assert list(zip(ordered[:filled].tolist(), carried[:filled].tolist(), strict=True)) == pairs
