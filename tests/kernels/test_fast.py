import numpy as np
import pytest
from kernels import plain

from iln_stream.kernels.columns import ABSENT, no_statistics
from iln_stream.kernels.fast import (
    DRIFT,
    EVENT_WEIGHT,
    FEATURES,
    FIRST_STEP,
    FORGETTING,
    HUBER,
    HUBER_RECORD,
    INPUTS,
    INSPECT_EVERY,
    KEPT,
    LAGS,
    LEARNED,
    LEARNED_FAULTY,
    LENGTH,
    N_EXPERTS,
    N_FAST_LAGS,
    PREDICTIONS,
    RELEVANCE_EVERY,
    RIDGE,
    ROW,
    STEPS,
    UNSOUND,
    Parts,
    forecasts_address,
    learn_event,
    learn_rows,
    parts_of,
    predict_event,
    predict_rows,
)
from iln_stream.kernels.moving_units import AVERAGE, WEIGHTS
from iln_stream.learners.infinite_layer.fast import FastEngine
from iln_stream.learners.infinite_layer.intervals import Intervals
from iln_stream.learners.infinite_layer.plain_forecasts import PlainForecasts
from iln_stream.learners.restoring import random_key

d, R, B, MEMORY, N = 4, 64, 16, 50, 130
L, n_blocks = N_FAST_LAGS + d, 5
D = n_blocks * B
ONES = np.ones(L)


class Fast:
    """The arrays of the compiled loops."""

    def __init__(self, units):
        self.stats, part = no_statistics(d), Intervals()
        table = np.zeros((4, N_EXPERTS))
        table[3] = 1.0 / N_EXPERTS
        parts = Parts(
            no_statistics(1), np.zeros(LENGTH), table, part.errors, part.rules, part.tallies,
            part.record, np.zeros(D), np.tile(np.eye(B) / RIDGE, (n_blocks, 1, 1)), np.ones(L),
            np.zeros((5, D)),
        )  # fmt: skip
        self.array = np.concatenate([each.ravel() for each in parts])
        self.parts = parts_of(self.array, L, R)
        self.units = np.zeros((4, L + 1, R), np.float32)
        self.units[[WEIGHTS, AVERAGE]] = units
        self.memory = np.zeros((MEMORY, L + 1))
        self.plain = PlainForecasts(d, counts_from=10**9).array  # the experts' prediction counts

    def predict(self, x):
        return predict_event(x, self.stats, self.array, self.units, self.plain)

    def learn(self, x, y):
        state = self.stats, self.array, self.units, self.plain
        return learn_event(x, y, *state, self.memory, 7, False, forecasts_address())


class Plain:
    """The same, recomputed from all events before; but the units are given."""

    def __init__(self):
        self.events, self.rows = plain.Events(d, N_FAST_LAGS), []
        self.rule, self.intervals = plain.Rule(N_EXPERTS, squared=False), plain.Intervals()
        self.ridge = plain.Blocks(n_blocks, B, FORGETTING, RIDGE, HUBER)
        self.mean_squares, self.missed = np.ones(L), []

    def predict(self, x, units):
        self.omega, self.b, events = units[:L], units[L], self.events
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
        if n % RELEVANCE_EVERY == 0:
            g = plain.gradient(self.omega, self.b, True, ONES, self.ridge.theta, events.v)
            rate = 1.0 / min(1.0 + n / 32, 62.5)
            self.mean_squares = (1.0 - rate) * self.mean_squares + rate * g**2
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
    x.setflags(write=False)  # as rows are that a learner gives: the same compiled loops
    return x, y


@pytest.mark.parametrize("kind", ["normal", "two-valued", "wild", "constant"])
def test_events_are_predicted_and_learned_as_recomputed(kind):
    """From the first event on, predictions and all state are as recomputed from all events."""
    fast, reference = Fast(some_units()), Plain()
    parts = fast.parts
    for x, y in zip(*some_events(kind), strict=True):
        expected = reference.predict(x, fast.units[AVERAGE])
        events, unit = reference.events, reference.events.scale[1]
        assert fast.predict(x) == pytest.approx(expected, abs=2e-4 * unit)
        assert parts.look[PREDICTIONS, :N_EXPERTS] == pytest.approx(reference.p, abs=2e-4)
        assert parts.look[ROW, :d].tolist() == events.row
        assert parts.look[INPUTS, :L] == pytest.approx(events.v, abs=1e-6)
        assert parts.look[FEATURES] == pytest.approx(reference.phi, abs=2e-5)
        reference.learn(x, y)
        assert fast.learn(x, y) == LEARNED
    assert fast.memory[np.arange(N - MEMORY, N) % MEMORY].tolist() == reference.rows[-MEMORY:]
    assert parts.table[3] == pytest.approx(reference.rule.weights, abs=2e-3)
    assert parts.mean_squares == pytest.approx(reference.mean_squares, rel=1e-3, abs=1e-3)
    for block, information in zip(parts.P, reference.ridge.A, strict=True):
        assert block @ information == pytest.approx(np.eye(B), abs=1e-3)
    drift = [N, *(plain.running_mean(reference.missed, horizon) for horizon in (50, 1000))]
    assert parts.record[DRIFT:LAGS] == pytest.approx(drift, abs=1e-4)
    assert parts.record[LAGS:HUBER_RECORD].tolist() == events.last_targets(missing=None)
    assert parts.record[[STEPS, KEPT]].tolist() == [N + 1 - FIRST_STEP, MEMORY]
    expected, errors = np.array(reference.intervals.errors), parts.errors[0, : N - 1]
    assert errors == pytest.approx(expected, rel=1e-9, abs=1e-3 * unit)


def taught_fast(n):
    """The arrays after n events, and further events."""
    fast, (xs, ys) = Fast(some_units()), some_events("normal")
    for x, y in zip(xs[:n], ys, strict=False):
        fast.predict(x)
        assert fast.learn(x, y) == LEARNED
    return fast, list(zip(xs[n:], ys[n:], strict=True))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("theta", np.nan),
        ("theta", 1e9),
        ("record", np.inf),
        ("interval_record", np.nan),
        ("target", np.nan),
        ("table", np.nan),
    ],
)
def test_nothing_is_learned_where_the_state_is_broken(name, value):
    """The last target is predicted, or what sound experts predict, and no array changes."""
    fast, [(x, y), *_] = taught_fast(50)
    getattr(fast.parts, name)[-1 if name == "table" else 0] = value
    assert np.isfinite(fast.predict(x))
    arrays = fast.array, fast.units, fast.memory, fast.stats, fast.plain
    before = [each.copy() for each in arrays]
    assert fast.learn(x, y) == UNSOUND
    for each, old in zip(arrays, before, strict=True):
        assert np.array_equal(each, old, equal_nan=True)


@pytest.mark.parametrize("name", ["units", "memory", "stats", "array"])
def test_an_inspection_finds_what_is_broken(name):
    """At the 128th event; the last number of each array, too, but for scratch."""
    fast, events = taught_fast(INSPECT_EVERY - 2)
    fast.predict(events[0][0])
    assert fast.learn(*events[0]) == LEARNED
    fast.predict(events[1][0])
    array = fast.array[: -fast.parts.look.size] if name == "array" else getattr(fast, name)
    if name == "array":
        array = array[:-1]  # a mean square, which this event updates
    array.flat[-1] = np.nan
    assert fast.learn(*events[1]) == LEARNED_FAULTY


def engine_and_rows(d, n):
    engine, rng = FastEngine(256, random_key(1)), np.random.default_rng(d)
    X = rng.normal(size=(n, d))
    engine.learn(dict(zip("abcdefghij", X[0].tolist(), strict=False)), 0.5)
    X.flags.writeable = False
    return engine, X, np.sin(X.sum(axis=1))


def state(engine):
    return engine.inputs.stats, engine._array, engine.units, engine.plain.array


def rest(engine):
    return engine.memory, engine._seed, engine._squared


@pytest.mark.parametrize(("d", "weighted"), [(1, True), (10, True), (2, False)])
def test_rows_are_events(d, weighted):
    """The same arrays, predictions and units, to the last bit, as after calls for each event."""
    (one, X, y), (many, *_) = (engine_and_rows(d, 300) for _ in range(2))
    w = np.random.default_rng(0).integers(0, 4, 300) / 2.0 if weighted else np.ones(300)
    for engine in (one, many):
        engine._make_room_for_weights()
    predictions, units = [], []
    for x, t, weight in zip(X, y.tolist(), w.tolist(), strict=True):
        predictions.append(predict_event(x, *state(one)))
        one._p[EVENT_WEIGHT] = weight
        fault = learn_event(x, t, *state(one), *rest(one), forecasts_address())
        assert fault == LEARNED
        units.append(one.unit)
    found = np.empty(300), np.empty(300)
    assert learn_rows(X, y, w, *found, *state(many), *rest(many)) == (300, LEARNED)
    assert [each.tolist() for each in found] == [predictions, units]
    for mine, theirs in zip((*state(many), many.memory), (*state(one), one.memory), strict=True):
        assert mine.tobytes() == theirs.tobytes()
    expected = [predict_event(x, *state(one)) for x in X]
    assert predict_rows(X, *state(many)).tolist() == expected


def test_a_fault_ends_the_loop():
    """The row at which it shows is not learned."""
    engine, X, y = engine_and_rows(2, 20)
    engine.record[0] = np.nan
    found = np.ones(20), np.empty(20), np.empty(20)
    assert learn_rows(X, y, *found, *state(engine), *rest(engine)) == (0, UNSOUND)
