import numpy as np
import pytest
from kernels import plain

from iln_stream.kernels.columns import ABSENT
from iln_stream.kernels.nearest import N_NEAR, N_SIMILAR
from iln_stream.learners.infinite_layer.engine import RegressionEngine
from iln_stream.learners.infinite_layer.expert import Expert
from iln_stream.learners.infinite_layer.experts.naive import Persistence, RunningMean
from iln_stream.learners.infinite_layer.experts.neighbours import METRIC_EVERY, Neighbours
from iln_stream.learners.infinite_layer.experts.resampled_ridges import ResampledRidges
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank, RLSSpec, blended
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.intervals import Intervals
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.mixing import ExpertMixture
from iln_stream.learners.infinite_layer.target import Target
from iln_stream.learners.restoring import random_key

d, K, N_LAGS, SIZE, N = 3, 4, 2, 60, 150
"""Columns, experts of the mean, last targets, slots of the memory, events."""

AGOP = np.array([[9.0, 0.0, 0.1, 0.0, 0.0], [0.0, 9.0, 0.0, 0.0, 0.0], [0.1, 0.0, 4.0, 0.2, 0.0],
                 [0.0, 0.0, 0.2, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0]])  # fmt: skip
"""Gradients of a ridge expert: lags first, then the columns, of which the last is irrelevant."""


class Given(Expert):
    """Predicts what the test puts into `p`, and notes what it is shown."""

    names = ("w", "x", "y", "z")

    def __init__(self):
        self.p, self.t = np.zeros(K), None

    def predict(self, event, p):
        p[:] = self.p
        self.seen = event.row.tolist(), event.v.tolist(), event.center, event.unit

    def learn(self, event, t, p):
        assert p.tolist() == self.p.tolist()
        self.predict(event, p)
        self.t = t


class Parts:
    """An engine of given experts and neighbours, in two mixtures like the accurate profile's."""

    def __init__(self):
        inputs, target = Inputs(d), Target()
        self.memory, self.given, self.intervals = Memory(SIZE, N_LAGS), Given(), Intervals()
        bank = RLSBank((RLSSpec("sensed", None),), 0, N_LAGS)
        ridges = ResampledRidges(bank, inputs, target, self.memory, random_key(1), resampled=False)
        ridges.agop = AGOP[np.newaxis]
        self.mean = ExpertMixture({"given": self.given}, squared=True)
        self.near = Neighbours(self.mean, ridges, 0, inputs, self.memory)
        self.mixture = ExpertMixture({"mean": self.mean, "neighbours": self.near}, squared=False)
        self.engine = RegressionEngine(inputs, target, self.memory, self.mixture, self.intervals)


class Plain:
    """The same, recomputed from all events so far."""

    def __init__(self):
        self.metric, self.events = np.zeros(d), plain.Events(d, N_LAGS)
        self.mean, self.final = plain.Rule(K, squared=True), plain.Rule(4, squared=False)
        self.intervals, self.missed, self.lags = plain.Intervals(), [], []
        self.rows, self.zs, self.ts, self.means = [], [], [], []

    def last(self, what):
        """Those of the events that the memory holds."""
        return np.array(what[-SIZE:])

    def predict(self, x, p):
        events = self.events
        events.describe(x)
        scale, ys = events.scale, self.last(events.ys)
        self.q = np.full(4, self.mean.weights @ p)
        if len(ys) >= N_SIMILAR:
            away = np.abs(self.last(self.means) - (scale[0] + scale[1] * self.q[0]))
            self.q[1] = plain.scaled(np.median(ys[np.argsort(away)[:N_SIMILAR]]), scale)
            apart = np.clip((self.last(self.rows) - events.row) * self.metric, -10.0, 10.0)
            near = np.argsort((apart**2).sum(axis=1))[:N_NEAR]
            self.q[2] = plain.scaled(np.median(ys[near]), scale)
        if len(ys) > 0:
            apart = ((self.last(self.zs) - events.z) ** 2).sum(axis=1)
            self.q[3] = self.last(self.ts)[apart.argmin()]
        self.mixed = self.final.weights @ self.q
        return scale[0] + scale[1] * self.mixed

    def learn(self, x, y, p):
        events = self.events
        center, unit = events.scale
        prediction = center + unit * self.mixed
        self.lags.append(events.last_targets(missing=events.ys[0] if events.ys else y))
        self.intervals.learn(prediction, y)
        self.missed.append(min(abs(y - prediction) / unit, 2.0))
        self.means.append(center + unit * self.q[0])
        self.rows.append(events.row)
        self.zs.append(events.z)
        self.ts.append(events.join(x, y))
        self.mean.update(p, self.q[0], self.ts[-1])
        self.final.update(self.q, self.mixed, self.ts[-1])
        if len(self.ts) % METRIC_EVERY == 0:
            joined = [column.joined for column in events.columns]
            sd = [np.sqrt(plain.moments(values)[1] / len(values)) for values in joined]
            self.metric = np.sqrt(np.diag(blended(AGOP[N_LAGS:, N_LAGS:]))) / sd

    @property
    def weights(self):
        """Those of the experts in the final prediction."""
        mean, *others = self.final.weights
        return np.array([*(mean * self.mean.weights), *others])


def some_events(kind):
    """Rows with a column that lacks values, targets, and predictions of given experts, in units."""
    rng = np.random.default_rng(0)
    x, p = rng.normal(size=(N, d)), 0.3 * rng.normal(size=(N, K))
    x[:, 1] = np.where(rng.random(N) < 0.3, ABSENT, 1000.0 + x[:, 1])
    x[0, 1] = 1000.0  # so that all names come with the first event
    y = 5.0 + np.sin(2.0 * x[:, 0]) + 0.1 * rng.normal(size=N)
    p[:, 0] = 0.5 * (y - 5.0)
    p[0] = 0.0
    if kind == "wild":
        x[[20, 90], 2] = 1e9, -1e9
        y[[40, 80, 81]] = 1e6, -1e150, 300.0
    return x, y.tolist(), p


def named(row):
    """A row as a dict, without what is absent from it."""
    return {name: v for name, v in zip("abc", row.tolist(), strict=True) if v < ABSENT}


@pytest.mark.parametrize("kind", ["normal", "wild"])
def test_the_whole_event_is_as_recomputed(kind):
    """From the first event on, and when the memory is full, each prediction, weight, interval and
    stored event is what all events so far imply.
    """
    parts, reference = Parts(), Plain()
    engine, given, memory, near = parts.engine, parts.given, parts.memory, parts.near
    for i, (x, y, p) in enumerate(zip(*some_events(kind), strict=True)):
        event, given.p = named(x), p
        center = reference.predict(x, p)
        scale = max(1.0, abs(center))
        if i > 0:  # the first event's names are not known before it is learned
            assert engine.predict(event) == pytest.approx(center, abs=1e-6 * scale)
            ends = reference.intervals.around(center)[2] if i > 1 else (center - 1, center + 1)
            assert engine.interval(event, 0.9) == pytest.approx(tuple(ends), rel=1e-5, abs=1e-5)
        if i % 3 != 1:  # some events are learned right after their prediction, others are not
            engine.predict(named(x[::-1]))
        engine.learn(event, y)
        row, v, at, unit = given.seen
        assert row == reference.events.row
        assert v == pytest.approx(reference.events.v.tolist(), abs=1e-6)
        assert (at, unit) == pytest.approx(reference.events.scale)
        reference.learn(x, y, p)
        assert given.t == pytest.approx(reference.ts[-1])
        assert memory.lags[i % SIZE].tolist() == reference.lags[-1]
        weights = parts.mixture.weights()
        assert list(weights) == [*given.names, *near.names]
        assert list(weights.values()) == pytest.approx(reference.weights, abs=1e-6)
        assert near.metric == pytest.approx(reference.metric, rel=1e-6)
        assert engine.unit == pytest.approx(plain.scale(reference.events.ys)[1])
    ring = np.arange(N - SIZE, N) % SIZE
    assert (engine.n, memory.filled) == (N, SIZE)
    assert memory.columns[:, ring].T.tolist() == reference.rows[-SIZE:]
    assert memory.y[ring].tolist() == reference.events.ys[-SIZE:]
    assert memory.lags[ring].tolist() == reference.lags[-SIZE:]
    assert engine.lags.tolist() == reference.events.last_targets(None)
    means = reference.last(reference.means)
    assert near.means[ring] == pytest.approx(means, rel=1e-6, abs=1e-6)
    order = np.argsort(near.means[ring])
    assert near.ordered.tolist() == near.means[ring][order].tolist()
    assert near.carried.tolist() == memory.y[ring][order].tolist()
    deviations = near.deviations[:, ring].T
    assert deviations == pytest.approx(reference.last(reference.zs), abs=1e-6)
    assert near.scaled[ring] == pytest.approx(reference.last(reference.ts))
    fast, slow = (plain.running_mean(reference.missed, horizon) for horizon in (50, 1000))
    assert engine.drift == pytest.approx(fast / slow)
    errors = np.array(reference.intervals.errors)
    assert parts.intervals.errors[0, : N - 1] == pytest.approx(errors, rel=1e-6, abs=1e-6)


def naive(expert):
    """An engine of one expert that has no state."""
    return RegressionEngine(Inputs(2), Target(), Memory(1, 1), expert)


def test_predictions_are_in_the_units_of_the_target():
    """The running mean of the targets is predicted as it is, and so is the last of them."""
    mean, last = naive(RunningMean()), naive(Persistence())
    ys = (1e6 + 5.0 * np.random.default_rng(0).normal(size=20)).tolist()
    assert (mean.predict({}), last.predict({})) == (0.0, 0.0)
    for i, y in enumerate(ys):
        for engine in (mean, last):
            engine.learn({"a": 1.0}, y)
        assert mean.predict({}) == pytest.approx(np.mean(ys[: i + 1]))
        assert last.predict({}) == pytest.approx(y)
        assert mean.unit == pytest.approx(3.0 * np.std(ys[: i + 1]) if i else 1.0)


def test_a_change_of_scale_alone_is_no_drift():
    """Targets a thousand times as large, whose scale follows, leave the signal below 1.5."""
    engine, rng = naive(RunningMean()), np.random.default_rng(0)
    for size in (1.0, 1000.0):
        for y in rng.normal(scale=size, size=400).tolist():
            engine.learn({"a": 1.0}, y)
    assert 0.5 < engine.drift < 1.5


def test_inputs_have_changed_once_half_of_them_have():
    """One column of four that changes again and again does not stop what waits after changes."""
    inputs = Inputs(16)
    rng = np.random.default_rng(0)
    for n in range(2_000):
        levels = [100.0 * (n // 300 % 2), *(3 * [1e4 if n >= 1_500 else 0.0])]
        inputs.join(inputs.admit(dict(zip("abcd", rng.normal(size=4) + levels, strict=True))), n)
        if n == 1_499:
            assert inputs.changed_at == 0
    assert 1_500 <= inputs.changed_at < 1_600
