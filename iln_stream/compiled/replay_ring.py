"""A ring of past events, and how their columns become the inputs of a network.

The first columns of an event are the targets before it, the others its raw inputs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.jit import compiled
from iln_stream.compiled.prefetch import prefetch
from iln_stream.compiled.standardise import ABSENT, COUNT, MEAN, SQUARES, value_of
from iln_stream.compiled.target import center_and_unit

N_LAGS = 2

KNOTS = 16
"""Quantiles of a column, from the least to the largest of a sample."""

SAMPLE = 2048
"""The most values among which quantiles are taken."""

FIRST_KNOTS = 64
"""Quantiles are taken at this many events, and anew whenever the number has doubled."""

CENTER, INVERSE, FILL, LEVELS, ORIGIN = range(5)
LOWER, SLOPE = 8, 24
"""Indices into a column's encoding, (40,): its mean and 1 / sd (0 for a column without variation);
the value that an absent one stands for, if any, else ABSENT; the number of different quantiles; the
value from which differences are stored. From LOWER and SLOPE on: the lower ends of the segments
between quantiles, and 1 / their lengths; the lower ends of those that don't exist are ABSENT."""

WIDTH = SLOPE + KNOTS

EVENTS, AUTOCORRELATION, LAST = range(3)
"""Indices into the ring's record: events ever stored; the mean product of successive targets, in
standard deviations; the last target so."""

Z, SEGMENT, FRACTION = range(3)
"""Matrices of inputs, (3, rows, columns): deviations; the segment that a value lies in, or -1; the
part of the segment below it."""

MISSING = np.float32(3e38)
"""Marks an absent value in the ring."""

FURTHEST = 1e38
"""Stored differences are at most this."""

LEAST = 1e-150
"""A column whose deviation is smaller counts as constant: quotients would overflow."""


class Ring(NamedTuple):
    """The last N events: differences (N, width) of their raw inputs, targets (N,), record (3,).

    Differences from a column's first value are exact enough in single precision where the values
    themselves, for instance times in seconds, would not be.
    """

    rows: NDArray[np.float32]
    targets: NDArray[np.float64]
    record: NDArray[np.float64]


@compiled
def put(ring, encoding, row, y, stats, target):  # type: ignore[no-untyped-def]
    """Store an event whose values have joined the statistics, and renew the encoding (L, 40)."""
    N = ring.targets.shape[0]
    n = int(ring.record[EVENTS])
    kept = ring.rows[n % N]
    for j in range(kept.shape[0]):
        kept[j] = MISSING
    for j in range(row.shape[0]):
        if row[j] < ABSENT:
            column = encoding[N_LAGS + j]
            if column[ORIGIN] >= ABSENT:
                column[ORIGIN] = row[j]
            kept[j] = min(max(row[j] - column[ORIGIN], -FURTHEST), FURTHEST)
    ring.targets[n % N] = y
    ring.record[EVENTS] = n + 1.0
    _join_autocorrelation(ring.record, y, target)
    n += 1
    first = FIRST_KNOTS
    while 2 * first <= n:
        first *= 2
    if n >= FIRST_KNOTS:
        # A few columns at each of the next events: sorting takes its time.
        L = encoding.shape[0]
        each = (L + first - 1) // first
        for j in range(min((n - first) * each, L), min((n - first + 1) * each, L)):
            _place_knots(ring, encoding, j)
    _scale(ring.record, encoding, stats, target)


@compiled
def _join_autocorrelation(record, y, target):  # type: ignore[no-untyped-def]
    center, unit = center_and_unit(target)
    now = min(max(3.0 * ((y - center) / unit), -3.0), 3.0)
    record[AUTOCORRELATION] += (now * record[LAST] - record[AUTOCORRELATION]) / record[EVENTS]
    record[LAST] = now


@compiled
def _scale(record, encoding, stats, target):  # type: ignore[no-untyped-def]
    """Renew means and deviations; the last targets count only if targets depend on them."""
    center, unit = center_and_unit(target)
    depend = abs(record[AUTOCORRELATION]) >= max(0.05, 4.0 / np.sqrt(record[EVENTS]))
    for j in range(N_LAGS):
        encoding[j, CENTER] = center
        encoding[j, INVERSE] = 3.0 / unit if depend and unit > LEAST else 0.0
    absent = np.full(stats.shape[1], ABSENT)
    for j in range(stats.shape[1]):
        column = encoding[N_LAGS + j]
        n, mean, squares = stats[COUNT, j], stats[MEAN, j], stats[SQUARES, j]
        column[FILL] = value_of(absent, stats, j)
        column[CENTER] = mean
        column[INVERSE] = 0.0
        if squares > 1e-26 * n * mean * mean:
            sd = np.sqrt(squares / n)
            if sd > LEAST:
                column[INVERSE] = 1.0 / sd
        # An indicator's 0 stays 0, which networks skip.
        if 0.0 < column[LEVELS] <= 2.0 and column[LOWER] == 0.0:
            column[CENTER] = 0.0


@compiled
def value_at(ring, encoding, i, j):  # type: ignore[no-untyped-def]
    """Column j of event i: its value, or ABSENT."""
    N = ring.targets.shape[0]
    if j < N_LAGS:
        n = int(ring.record[EVENTS])
        before = i - 1 - j
        return ring.targets[before % N] if max(0, n - N) <= before else ABSENT
    stored = ring.rows[i % N, j - N_LAGS]
    if stored < MISSING:
        return encoding[j, ORIGIN] + stored
    return encoding[j, FILL]


@compiled
def _place_knots(ring, encoding, j):  # type: ignore[no-untyped-def]
    """Take the quantiles of column j anew, among events spread over the ring."""
    n = int(ring.record[EVENTS])
    size = min(n, ring.targets.shape[0])
    values = np.empty(min(size, SAMPLE))
    m = 0
    for i in range(values.shape[0]):
        value = value_at(ring, encoding, n - 1 - i * size // values.shape[0], j)
        if value < ABSENT:
            values[m] = value
            m += 1
    column = encoding[j]
    column[LEVELS] = 0.0
    column[LOWER : LOWER + KNOTS] = ABSENT
    if m == 0:
        return
    sample = values[:m]
    sample.sort()
    least = 1e-9 * (sample[m - 1] - sample[0])
    column[LOWER] = sample[0]
    levels = 1
    for b in range(1, KNOTS):
        value, before = sample[b * (m - 1) // (KNOTS - 1)], column[LOWER + levels - 1]
        if value - before > max(least, LEAST):
            column[SLOPE + levels - 1] = 1.0 / (value - before)
            column[LOWER + levels] = value
            levels += 1
    column[LEVELS] = levels
    if levels > 1:
        column[LOWER + levels - 1] = ABSENT  # where the last segment ends none begins


@compiled
def encode(value, column, inputs, i, j, piecewise):  # type: ignore[no-untyped-def]
    """Set row i, column j of the inputs (3, rows, L) to a value of the column."""
    inputs[Z, i, j] = 0.0
    inputs[SEGMENT, i, j] = -1.0
    if value >= ABSENT:
        return
    scale = column[INVERSE]
    inputs[Z, i, j] = min(max((value - column[CENTER]) * scale, -5.0), 5.0)
    if piecewise and column[LEVELS] >= 3.0 and scale > 0.0:
        segment = 0
        for b in range(KNOTS):
            segment += 1 if value >= column[LOWER + b] else 0
        segment = max(segment - 1, 0)
        inputs[SEGMENT, i, j] = segment
        part = (value - column[LOWER + segment]) * column[SLOPE + segment]
        inputs[FRACTION, i, j] = min(max(part, 0.0), 1.0)


@compiled
def encode_next(ring, encoding, row, inputs):  # type: ignore[no-untyped-def]
    """Set the inputs (3, 1, L) to those of the event that comes next, whose raw inputs are `row`."""
    n = int(ring.record[EVENTS])
    for j in range(N_LAGS):
        encode(value_at(ring, encoding, n, j), encoding[j], inputs, 0, j, True)
    for j in range(row.shape[0]):
        column = encoding[N_LAGS + j]
        value = row[j] if row[j] < ABSENT else column[FILL]
        encode(value, column, inputs, 0, N_LAGS + j, True)


@compiled
def encode_stored(ring, encoding, i, inputs, k, piecewise):  # type: ignore[no-untyped-def]
    """Set row k of the inputs (3, rows, L) to event i of the ring."""
    for j in range(encoding.shape[0]):
        encode(value_at(ring, encoding, i, j), encoding[j], inputs, k, j, piecewise)


@compiled
def fetch(ring, i):  # type: ignore[no-untyped-def]
    """Prefetch event i."""
    N, width = ring.rows.shape
    at = i % N
    prefetch(ring.targets, at)
    flat = ring.rows.reshape(-1)
    for j in range(0, width, 16):
        prefetch(flat, at * width + j)
