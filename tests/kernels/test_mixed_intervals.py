import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import plain

from iln_stream.kernels import intervals as kernels
from iln_stream.kernels.intervals import (
    COUNTED,
    EVENTS,
    EXCESS,
    HIGH_GAIN,
    HIGHEST,
    LARGEST_ERROR,
    LEVELS,
    LOW_GAIN,
    LOWEST,
    gained,
    intervals,
    learn_interval,
    offsets,
    scaled_offsets,
    shortfall,
    stretch,
    within,
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


def test_offsets_are_quantiles_of_each_window():
    """Each expert's offsets are the conformal quantiles of its window's errors, however few."""
    part, reference = Intervals(), plain.Intervals()
    low, high = np.empty(30), np.empty(30)
    for i, (center, y) in enumerate(zip(*stream("skewed", 530), strict=True)):
        learn_interval(part.plain, center, NONE, y, PRESENT)
        reference.ys.append(y)
        if i > 0:
            reference.errors.append(y - center)
        if i in (1, 2, 19, 20, 21, 99, 101, 499, 529):
            offsets(part.errors, min(i, 500), low, high)
            expected = reference.offsets().reshape(30, 2)
            assert np.column_stack([low, high]) == pytest.approx(expected, abs=1e-12)


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


@settings(deadline=None, max_examples=50)  # the first call compiles
@given(st.floats(-50.0, 50.0), st.floats(0.0, 5_000.0), st.sampled_from(LEVELS.tolist()))
def test_stretch_is_by_standard_errors_of_the_excess(excess, counted, level):
    """exp(.2 z^4), within e^+-2: wider after too many misses, narrower after too few."""
    tally = np.array([excess, counted, 0.0, 0.0])
    z = excess / math.sqrt(level * (1 - level) * counted + 10.0 * level)
    expected = math.exp(math.copysign(min(0.2 * z**4, 2.0), z))
    assert stretch(tally, level) == pytest.approx(expected)
    assert math.exp(-2.0) - 1e-9 <= stretch(tally, level) <= math.exp(2.0) + 1e-9


@settings(deadline=None, max_examples=50)
@given(
    st.integers(-9, 9), st.integers(-9, 9), st.sampled_from([(-3.0, 4.0), (2.0, 2.0)]),
    st.sampled_from([4.0, 200.0]), st.sampled_from([-1.0, 1.0]),
)  # fmt: skip
def test_gain_of_clipping_an_end_to_the_range(end, y, targets, price, outward):
    """It is the difference of interval scores, which charge width and, at a price, misses."""

    def score(end):
        missed = max(0.0, y - end) if outward > 0 else max(0.0, end - y)
        return outward * end + price * missed

    record = np.array([5.0, *targets])
    held = min(max(float(end), targets[0]), targets[1])
    assert within(float(end), record) == held
    assert shortfall(float(end), float(y), outward, price) == pytest.approx(score(end))
    gain = gained(float(end), float(y), record, outward, price)
    assert gain == pytest.approx(score(end) - score(held))
    for inside in np.linspace(*targets, 7).tolist():
        assert gained(inside, 0.1 * y, record, outward, price) == 0.0  # not by a rounding more


@pytest.mark.parametrize("weights", [[0.0] * 6, [1.0, 0.0, 3.0, 0.0, 0.0, 0.0]])
def test_mixed_offsets(weights):
    """They are means of the level's own six, weighted; plain means if all weights are 0."""
    low, high = -np.arange(30.0), np.arange(30.0) ** 2
    rules = np.full((4, 30), 5.0)
    rules[3, 12:18] = weights
    expected = (
        np.average(low[12:18], weights=weights if any(weights) else None),
        np.average(high[12:18], weights=weights if any(weights) else None),
    )
    assert kernels.mixed(rules, low, high, 2) == pytest.approx(expected)


LONG = 600_000
"""60 / (1 - .9999) events: a beginning that is not forgotten, or rounding that grows, shows by
then."""


@pytest.mark.parametrize("kind", ["stationary", "constant", "bursting"])
def test_tallies_outlive_their_discount(kind):
    """After 600,000 errors the tallies are those recomputed from all misses, all is finite, the
    windows hold the last errors, and coverage is held from the beginning to the end."""
    rng = np.random.default_rng(0)
    if kind == "constant":
        errors = np.ones(LONG)
    else:
        errors = rng.normal(size=LONG)
        if kind == "bursting":  # 50 of every 1,000 events err thirty times as much
            errors[np.arange(LONG) % 1_000 < 50] *= 30.0
    centers = np.arange(LONG) % 8.0
    state, ends, ys = Intervals().plain, np.zeros((LONG, 5, 2)), centers + errors
    for i, (center, y) in enumerate(zip(centers.tolist(), ys.tolist(), strict=True)):
        if i > 1:
            intervals(state, center, NONE, ends[i])
        learn_interval(state, center, NONE, y, PRESENT)
    sorted_errors, _, rules, tallies, record = state
    missed = (ys[:, None] < ends[..., 0]) | (ys[:, None] > ends[..., 1])
    for j, level in enumerate(LEVELS.tolist()):
        first = math.ceil(1.0 / (1.0 - level) - 1e-9)  # fewer errors have no such quantile
        excess = missed[first:, j] - (1.0 - level)
        expected = plain.faded(excess, 0.9999).sum()
        assert tallies[j, EXCESS] == pytest.approx(expected, abs=1e-6)
        assert tallies[j, COUNTED] == pytest.approx(1.0 / (1.0 - 0.9999**2))
        for part in np.array_split(missed[1_000:, j], 6):
            assert part.mean() == pytest.approx(1.0 - level, abs=0.005)
    assert np.isfinite(rules).all()
    assert np.isfinite(tallies).all()
    assert sorted_errors[2].tolist() == sorted((ys - centers)[-500:])
    assert record.tolist() == [LONG, ys.min(), ys.max()]
