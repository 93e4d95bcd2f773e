"""Intervals around a prediction and expected sizes of errors, against all events before."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import plain
from kernels.streams import rows

from iln_stream.kernels.intervals import (
    COUNTED,
    EVENTS,
    EXCESS,
    HIGH_GAIN,
    HIGHEST,
    LARGEST_ERROR,
    LEAST_SHARE,
    LEVELS,
    LINEAR,
    LOW_GAIN,
    LOWEST,
    NEAREST,
    expected_errors,
    intervals,
    learn_error,
    learn_interval,
    replace,
    scaled_offsets,
)
from iln_stream.learners.infinite_layer.intervals import Intervals

NONE, PRESENT = np.zeros(0), np.zeros((0, 3))
"""No expected sizes of errors."""


def stream(kind, n):
    """Predictions and targets."""
    rng = np.random.default_rng(0)
    centers, noise = rng.normal(size=n), rng.normal(size=n)
    if kind == "wild":
        noise = rng.standard_t(1.2, size=n)
    elif kind == "skewed":
        noise = rng.exponential(size=n) ** 2 - 0.5
    elif kind == "growing":
        noise *= np.exp(np.arange(n) / 60)
    elif kind == "bounded":  # the range tells more than the errors do
        return 3.0 * centers, rng.random(n)
    elif kind == "right":
        noise[:] = 0.0
    return centers, centers + noise


def check(part, reference):
    """Compare the tallies and the record with those recomputed from all events."""
    for j in range(len(LEVELS)):
        excess, counted = reference.excess(j)
        gains = plain.faded(reference.gains[j], 0.999).sum(axis=0)
        tally = part.tallies[j]
        assert tally[[EXCESS, COUNTED]] == pytest.approx([excess, counted.sum()], abs=1e-9)
        assert tally[[LOW_GAIN, HIGH_GAIN]] == pytest.approx(gains, rel=1e-6, abs=1e-6)
    ys = reference.ys
    assert part.record[[EVENTS, LOWEST, HIGHEST]].tolist() == [len(ys), min(ys), max(ys)]


@pytest.mark.parametrize(
    ("kind", "n"),
    [("normal", 620), ("wild", 150), ("skewed", 150), ("growing", 150), ("bounded", 150)],
)
def test_intervals_are_those_of_all_events_before(kind, n):
    """At each event every level's interval, and then the tallies, are as recomputed.

    From the first event on, while windows fill and once they move.
    """
    part, reference = Intervals(), plain.Intervals()
    out = np.empty((5, 2))
    for i, (center, y) in enumerate(zip(*stream(kind, n), strict=True)):
        if i > 1 and (i < 150 or i % 10 == 0):
            intervals(part.plain, center, NONE, out)
            expected = reference.around(center)
            assert out == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(expected).max())
        learn_interval(part.plain, center, NONE, y, PRESENT)
        reference.learn(center, y)
    check(part, reference)


def test_scaled_offsets_are_quantiles_of_ratios():
    """An expert that scales errors offers the conformal quantiles of its last 500 ratios, times the
    size expected now: from the first ratio on.
    """
    rng, ratios = np.random.default_rng(0), np.zeros((4, 500))
    part, sizes = Intervals(), np.exp(rng.normal(size=(620, 2)))
    part.ratios, part.rules = ratios, np.zeros((4, 40))
    found = []
    for i, y in enumerate(rng.normal(size=620)):
        learn_interval(part.plain, 0.0, sizes[i], y, PRESENT)
        if i > 0:
            found.append(y / sizes[i])
        if i in (1, 2, 30, 501, 502, 619):
            low, high = np.zeros(40), np.zeros(40)
            scaled_offsets(ratios, np.array([2.0, 3.0]), i, low, high)
            last = np.sort(np.array(found)[-500:], axis=0)
            m = len(last)
            for j, level in enumerate(LEVELS):
                tail = (1.0 - level) / 2.0
                up = min(math.ceil((m + 1) * (1.0 - tail) - 1e-9), m) - 1
                down = max(math.floor((m + 1) * tail + 1e-9), 1) - 1
                assert high[8 * j + 6 : 8 * j + 8] == pytest.approx(last[up] * [2.0, 3.0])
                assert low[8 * j + 6 : 8 * j + 8] == pytest.approx(last[down] * [2.0, 3.0])


def test_no_error_is_no_width():
    """Intervals are points if all predictions are right; nothing is divided by 0."""
    part, out = Intervals(), np.empty((5, 2))
    for center, y in zip(*stream("right", 60), strict=True):
        learn_interval(part.plain, center, NONE, y, PRESENT)
    intervals(part.plain, 7.0, NONE, out)
    assert (out == 7.0).all()


def test_an_error_too_large_to_square():
    """It is clipped at 1e100, and all state stays finite."""
    part = Intervals()
    for y in (0.0, 1.0, 1e150, -1e150, 2.0, 1.0):
        learn_interval(part.plain, 0.0, NONE, y, PRESENT)
    assert part.errors[0, :5].tolist() == [1.0, LARGEST_ERROR, -LARGEST_ERROR, 2.0, 1.0]
    assert np.isfinite(part.rules).all()
    assert np.isfinite(part.tallies).all()


@pytest.mark.parametrize(
    ("kind", "n"),
    [
        ("bursting", 60_000),
        ("constant", 20_000),
        pytest.param("stationary", 600_000, marks=pytest.mark.thorough),  # 60 / (1 - .9999)
    ],
)
def test_tallies_outlive_their_discount(kind, n):
    """After so many errors the tallies are those recomputed from all misses, all is finite, the
    windows hold the last errors, and coverage is held from the beginning to the end."""
    errors = np.random.default_rng(0).normal(size=n)
    if kind == "constant":
        errors[:] = 1.0
    elif kind == "bursting":  # 50 of every 1,000 events err thirty times as much
        errors[np.arange(n) % 1_000 < 50] *= 30.0
    centers = np.arange(n) % 8.0
    state, ends, ys = Intervals().plain, np.zeros((n, 5, 2)), centers + errors
    for i, (center, y) in enumerate(zip(centers.tolist(), ys.tolist(), strict=True)):
        if i > 1:
            intervals(state, center, NONE, ends[i])
        learn_interval(state, center, NONE, y, PRESENT)
    sorted_errors, _, rules, tallies, record = state
    missed = (ys[:, None] < ends[..., 0]) | (ys[:, None] > ends[..., 1])
    for j, level in enumerate(LEVELS.tolist()):
        first = math.ceil(1.0 / (1.0 - level) - 1e-9)  # fewer errors have no such quantile
        excess, counted = missed[first:, j] - (1.0 - level), 1.0 - 0.9999 ** (2 * (n - first))
        assert tallies[j, EXCESS] == pytest.approx(plain.faded(excess, 0.9999).sum(), abs=1e-6)
        assert tallies[j, COUNTED] == pytest.approx(counted / (1.0 - 0.9999**2))
        for part in np.array_split(missed[1_000:, j], 3):
            assert part.mean() == pytest.approx(1.0 - level, abs=0.01)
    assert np.isfinite(rules).all()
    assert np.isfinite(tallies).all()
    assert sorted_errors[2].tolist() == sorted((ys - centers)[-500:])
    assert record.tolist() == [n, ys.min(), ys.max()]


@settings(deadline=None)  # the first call compiles
@given(
    values=st.lists(st.integers(-5, 5).map(float) | st.floats(-1e100, 1e100), max_size=60),
    size=st.integers(1, 12),
)
def test_window_stays_sorted(values, size):
    """After any replacements, ties too, the window holds the last values in order."""
    ordered = np.full(size, np.nan)
    for i, value in enumerate(values):
        replace(ordered, min(i, size), values[i - size] if i >= size else 0.0, value)
        last = np.sort(values[max(0, i + 1 - size) : i + 1])
        assert (ordered[: len(last)] == last).all()


D, SIZE = 3, 64


class ErrorScale:
    """The arrays of the compiled functions."""

    def __init__(self, d=D):
        n_blocks = -(-(1 + 2 * d) // 16)
        self.absolute, self.record, self.huber = np.zeros(SIZE), np.zeros(2), np.zeros(2)
        self.theta, self.phi, self.k = (np.zeros(16 * n_blocks) for _ in range(3))
        self.theta[0] = 1.0
        self.P = np.tile(np.eye(16) / 10.0, (n_blocks, 1, 1))
        self.sizes, self.n = np.zeros(2), 0

    def expect(self, z, near=()):
        slots = np.array([*near, 0])
        expected_errors(
            z, slots, len(near), self.absolute, self.record, self.theta, self.phi, self.sizes
        )
        return self.sizes.copy()

    def learn(self, error):
        learn_error(
            0.0, error, self.n, self.absolute, self.record, self.theta, self.P, self.huber,
            self.phi, self.k,
        )  # fmt: skip
        self.n += 1


def test_nothing_is_expected_before_an_error():
    """Sizes are positive from the first event on, also if no prediction errs."""
    scale = ErrorScale()
    assert scale.expect(np.zeros(D)).tolist() == [1.0, 1.0]
    scale.learn(0.0)
    assert scale.expect(np.ones(D), [0]).tolist() == [1.0, 1.0]


def test_nearest_is_the_mean_of_their_errors():
    """At least a tenth of the mean |error|; without near events it is that mean."""
    scale = ErrorScale()
    for error in (1.0, 2.0, 6.0, 0.0):
        scale.expect(np.zeros(D))
        scale.learn(error)
    mean = scale.record[1]
    assert mean == pytest.approx(9.0 / 4.0)
    assert scale.expect(np.zeros(D), [1, 2])[NEAREST] == 4.0
    assert scale.expect(np.zeros(D), [3])[NEAREST] == LEAST_SHARE * mean
    assert scale.expect(np.zeros(D))[NEAREST] == mean


def test_linear_learns_which_inputs_make_noise():
    """|errors| that depend on one |z| and on another z are expected within a tenth on average."""
    rng, scale, missed = np.random.default_rng(0), ErrorScale(), []
    for i, z in enumerate(rng.normal(size=(6_000, D))):
        expected, size = scale.expect(z)[LINEAR], 1.0 + np.abs(z[0]) + 0.25 * np.clip(z[1], -3, 3)
        if i > 3_000:
            missed.append(abs(expected / (size * 0.8) - 1.0))  # E|e| is .8 sd of a normal e
        scale.learn(abs(size * rng.normal()))
    assert np.mean(missed) < 0.1


@pytest.mark.parametrize("kind", ["collinear", "one-hot"])
def test_error_scale_outlives_its_forgetting(kind):
    """After 60 / (1 - .999) events the covariance is bounded and symmetric, and theta finite."""
    rng, scale = np.random.default_rng(1), ErrorScale(d=20)
    Z, errors = rows(kind, 1_000, 20, rng), np.abs(rng.standard_cauchy(size=997))
    for i in range(60_000):
        scale.expect(Z[i % 1_000])
        scale.learn(errors[i % 997])
    assert np.abs(scale.P - scale.P.transpose(0, 2, 1)).max() < 1e-9
    assert 0.0 < scale.P.max() < 1.0
    assert np.isfinite(scale.theta).all()
    assert np.isfinite(scale.expect(Z[0])).all()
