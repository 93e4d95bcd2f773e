"""The encoding of stored events, against plain numpy on all values at once."""

import numpy as np
import pytest
from kernels.plain_network import deviations, quantiles, shares

from iln_stream.kernels.columns import ABSENT, join, no_statistics
from iln_stream.kernels.regression_event import join_target
from iln_stream.kernels.replay_ring import (
    FIRST_KNOTS,
    FRACTION,
    LEVELS,
    LOWER,
    N_LAGS,
    SEGMENT,
    Ring,
    Z,
    encode,
    gather,
)
from iln_stream.learners.infinite_layer.experts.networks import ReplayRing
from iln_stream.state import from_bytes, to_bytes


def filled(rows, targets, size=4096):
    """A ring that has stored these events."""
    ring = ReplayRing(size)
    ring.widen(rows.shape[1])
    stats, target = no_statistics(rows.shape[1]), no_statistics(1)
    for row, y in zip(rows, targets, strict=True):
        join(row, stats, 0)
        join_target(y, target, 0)
        ring.put(row, y, stats, target)
    return ring


def inputs_of(ring, events):
    """Inputs (3, L, events) of stored events."""
    values = np.zeros((ring.n_columns, 16), np.float32)
    inputs = np.zeros((3, ring.n_columns, 16), np.float32)
    gather(Ring(*ring.ring), ring.encoding, np.array(events), values)
    encode(values, ring.encoding, inputs, True)
    return inputs[:, :, : len(events)]


def shares_of(inputs, j):
    """How much of each segment of column j lies below the values, (events, 15)."""
    below = np.clip(inputs[SEGMENT, j][:, None] - np.arange(15), 0, 1)
    at = inputs[SEGMENT, j][:, None] == np.arange(15)
    return below + at * inputs[FRACTION, j][:, None]


@pytest.mark.parametrize("offset", [0.0, -1e12])
def test_numbers_of_any_offset(offset):
    """Deviations and shares of segments are exact to the digits that the values have."""
    r = np.random.default_rng(0)
    rows, y = offset + r.normal(size=(80, 3)), r.normal(size=80)
    ring, events = filled(rows, y), np.arange(40, 56)
    inputs = inputs_of(ring, events)
    for j in range(3):
        x, tolerance = rows[:, j], 1e-5 + 1e-14 * abs(offset)
        expected = deviations(x[events], x.mean(), x.std())
        assert inputs[Z, N_LAGS + j] == pytest.approx(expected, abs=tolerance)
        knots = quantiles(x[:FIRST_KNOTS])
        found = shares_of(inputs, N_LAGS + j)
        assert found == pytest.approx(shares(x[events], knots), abs=20 * tolerance)


def test_an_indicator_keeps_its_zero():
    """A column of 0 and another value is not centred, so that its zeros cost nothing."""
    r = np.random.default_rng(1)
    rows = np.column_stack([3.0 * (r.random(80) < 0.3), np.where(r.random(80) < 0.3, 1.0, 2.0)])
    inputs = inputs_of(filled(rows, r.normal(size=80)), range(64, 80))[:, N_LAGS:]
    first, second = rows.T
    assert inputs[Z, 0] == pytest.approx(first[64:] / first.std(), rel=1e-5)
    assert inputs[Z, 1] == pytest.approx((second[64:] - second.mean()) / second.std(), rel=1e-5)
    assert (inputs[SEGMENT] == -1).all()


def test_absent_values():
    """An absent value is 0 where 0 is an ordinary value, else it says nothing."""
    r = np.random.default_rng(2)
    rows = r.normal(size=(80, 2)) + np.array([0.0, 50.0])
    rows[70] = ABSENT
    ring = filled(rows, r.normal(size=80))
    inputs = inputs_of(ring, [70])[:, N_LAGS:, 0]
    known = np.append(np.delete(rows[:, 0], 70), 0.0)
    assert inputs[Z, 0] == pytest.approx((0.0 - known.mean()) / known.std(), rel=1e-4)
    assert inputs[SEGMENT, 0] >= 0
    assert inputs[Z, 1] == 0.0
    assert inputs[SEGMENT, 1] == -1


def test_a_constant_column_is_zero():
    """Also a large constant, whose sum of squares is rounding."""
    rows = np.tile([0.0, 5.0, 1e15 / 3], (70, 1))
    inputs = inputs_of(filled(rows, np.arange(70.0)), range(54, 70))[:, N_LAGS:]
    assert (inputs[Z] == 0.0).all()
    assert (inputs[SEGMENT] == -1).all()


@pytest.mark.parametrize(("correlation", "count"), [(0.9, True), (0.0, False)])
def test_last_targets_count_if_targets_depend_on_them(correlation, count):
    """Deviations of the two targets before an event; 0 in a stream of independent targets."""
    r = np.random.default_rng(3)
    y = np.zeros(500)
    for t in range(500):
        y[t] = correlation * y[t - 1] + r.normal()
    inputs = inputs_of(filled(r.normal(size=(500, 1)), 1e6 + y), range(300, 316))
    for lag in range(N_LAGS):
        before = y[300 - 1 - lag : 316 - 1 - lag]
        expected = (before - y.mean()) / y.std() if count else np.zeros(16)
        assert inputs[Z, lag] == pytest.approx(expected, abs=1e-3)


def test_a_full_ring_keeps_the_last_events():
    """And of the oldest, the targets before it are unknown."""
    r = np.random.default_rng(4)
    rows, y = r.normal(size=(100, 1)), np.cumsum(r.normal(size=100))
    ring = filled(rows, y, size=64)
    inputs = inputs_of(ring, [36, 38, 99])
    expected = (rows[[36, 38, 99], 0] - rows.mean()) / rows.std()
    assert inputs[Z, N_LAGS] == pytest.approx(expected, abs=1e-5)
    assert inputs[Z, 0, 0] == 0.0
    assert inputs[Z, 0, 1] != 0.0


def test_the_work_of_quantiles_is_spread():
    """All columns' first ones are taken at once, later ones of one column in an event."""
    r = np.random.default_rng(5)
    rows, y = r.normal(size=(512, 30)), r.normal(size=512)
    ring = ReplayRing(4096)
    ring.widen(30)
    stats, target = no_statistics(30), no_statistics(1)
    taken = []
    for n in range(512):
        before = ring.encoding[:, LOWER:].copy()
        join(rows[n], stats, n)
        join_target(y[n], target, n)
        ring.put(rows[n], y[n], stats, target)
        taken.append((before != ring.encoding[:, LOWER:]).any(axis=1).sum())
    assert taken[:64] == [0] * 63 + [ring.n_columns]
    assert max(taken[64:]) == 1
    assert sum(taken[64:127]) == 0
    assert sum(taken[127:255]) == sum(taken[255:511]) == ring.n_columns
    assert (ring.encoding[:, LEVELS] == 16).all()


def test_a_late_event_has_the_targets_that_were_known_when_it_was_predicted():
    """When it is looked at, when it is replayed, and after its state is restored."""
    rows, y = np.random.default_rng(4).normal(size=(80, 2)), np.arange(80.0)
    ring = filled(rows, y)
    stats, target = no_statistics(2), no_statistics(1)
    for row, value in zip(rows, y, strict=True):
        join(row, stats, 0)
        join_target(value, target, 0)
    ring.look(rows[0], 7)
    looked = ring.values[:N_LAGS, 0].tolist()
    assert looked == [72.0, 71.0]  # differences from the first target, 0
    ring.put(rows[0], 80.0, stats, target, 7)
    ring.put(rows[0], 81.0, stats, target)
    again = ReplayRing(4096)
    again.restore(from_bytes(to_bytes(ring.state())))
    values = np.zeros((ring.n_columns, 16), np.float32)
    for each in (ring, again):
        gather(Ring(*each.ring), each.encoding, np.array([79, 80, 81]), values)
        assert values[:N_LAGS, :3].T.tolist() == [[78.0, 77.0], looked, [80.0, 79.0]]
