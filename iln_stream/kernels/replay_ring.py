"""A ring of past events, and how their columns become the inputs of a network.

The first columns of an event are the targets before it, the others its raw inputs.
"""

from typing import NamedTuple

import numpy as np
from numba import float32
from numpy.typing import NDArray

from iln_stream.kernels.columns import ABSENT, COUNT, MEAN, SQUARES, value_if_absent
from iln_stream.kernels.jit import compiled
from iln_stream.kernels.regression_event import center_and_unit
from iln_stream.kernels.sort import sort
from iln_stream.kernels.vectors import (
    WIDE_LANES,
    choose,
    larger,
    load,
    prefetch,
    shaped,
    smaller,
    spread,
    store,
)

N_LAGS = 2

BLOCKS = 16
"""Blocks of a ring. Its oldest events leave a block at a time: the other blocks never change, and
need not be saved again."""

KNOTS = 16
"""Quantiles of a column, from the least to the largest of a sample."""

SAMPLE = 2048
"""The most values among which quantiles are taken."""

FIRST_KNOTS = 64
"""Quantiles are taken at this many events, and anew whenever the number has doubled: then of a few
columns in each of the next events, because sorting takes its time."""

AT_ONCE = 1000
"""The first quantiles, of few values, are taken of this many columns at once. Networks learn less
if piecewise-linear functions of some columns start before others: up to 4 % in mean error."""

CENTER, INVERSE, FILL, LEVELS = range(4)
LOWER, SLOPE = 8, 24
"""Indices into a column's encoding, (40,): its mean, and 1 / sd or 0 if it doesn't vary; what an
absent value stands for, or MISSING; the number of different quantiles. From LOWER and SLOPE on: the
lower ends of the segments between quantiles, and 1 / their lengths. Values are differences from the
column's first."""

WIDTH = SLOPE + KNOTS

EVENTS, AUTOCORRELATION, LAST = range(3)
"""Indices into the ring's record: events ever stored; the mean product of successive targets, in
standard deviations; the last target, also in standard deviations."""

Z, SEGMENT, FRACTION = range(3)
"""Inputs (3, L, 16) of up to 16 events: their deviations; the segments that the values lie in, or
-1; how far along its segment each value lies, 0 to 1."""

MISSING = np.float32(3e38)
"""Marks an absent value in the ring, and a segment that doesn't exist."""

FURTHEST = 1e38
"""Stored differences are at most this."""

LEAST = 1e-30
"""A smaller deviation, or distance of quantiles, counts as 0: quotients would overflow."""

_EQUAL = 1e-6
"""Quantiles nearer than this, in parts of their range, count as one."""


class Ring(NamedTuple):
    """The last events, at most N.

    Parameters
    ----------
    rows
        Raw inputs as differences from each column's first value, (N, width): these are exact
        enough in single precision where the values, for instance times in seconds, would not be.
    targets
        Targets, (N,).
    origins
        The columns' first values, (L,), or ABSENT.
    record
        (3,).
    delays
        Number of other events stored between an event's prediction and the event itself, (N,); or
        (0,) while it was 0 for all.
    weights
        How much the events count in a step, (N,); or (0,) while all weights were 1.

    """

    rows: NDArray[np.float32]
    targets: NDArray[np.float64]
    origins: NDArray[np.float64]
    record: NDArray[np.float64]
    delays: NDArray[np.int32]
    weights: NDArray[np.float64]


@compiled
def first_kept(n, N):  # type: ignore[no-untyped-def]
    """The first of n events that is kept: 0, or the first of the blocks that are whole."""
    length = max(1, N // BLOCKS)
    return (max(0, n - N) + length - 1) // length * length


@compiled
def put_event(ring, encoding, row, y, delay, weight, stats, target):  # type: ignore[no-untyped-def]
    """Store an event whose values have joined the statistics, and renew the encoding (L, 40).

    `ring` is a plain tuple: numba takes longer to recognise a named one.
    """
    ring = Ring(*ring)
    N = ring.targets.shape[0]
    n = int(ring.record[EVENTS])
    if n == 0:
        ring.origins[:N_LAGS] = y
    at = n % N
    ring.rows[at, :] = MISSING
    for j in range(row.shape[0]):
        if row[j] < ABSENT and ring.origins[N_LAGS + j] >= ABSENT:
            ring.origins[N_LAGS + j] = row[j]
        ring.rows[at, j] = _difference(row[j], ring.origins[N_LAGS + j])
    ring.targets[at] = y
    if ring.delays.shape[0] > 0:
        ring.delays[at] = delay
    if ring.weights.shape[0] > 0:
        ring.weights[at] = weight
    last = ring.record[LAST]
    if delay > 0:
        last = _last_known(ring, n - delay, target)
    n += 1
    ring.record[EVENTS] = n
    _join_autocorrelation(ring.record, y, last, target)
    first = FIRST_KNOTS
    while 2 * first <= n:
        first *= 2
    if n >= FIRST_KNOTS:
        L = encoding.shape[0]
        each = (L + first - 1) // first
        if first == FIRST_KNOTS:
            each = max(each, AT_ONCE)
        for j in range(min((n - first) * each, L), min((n - first + 1) * each, L)):
            _place_knots(ring, encoding, j)
    _scale(ring, encoding, stats, target)


@compiled
def _difference(value, origin):  # type: ignore[no-untyped-def]
    """A value as it is stored."""
    if value >= ABSENT:
        return MISSING
    return float32(min(max(value - origin, -FURTHEST), FURTHEST))


@compiled
def _last_known(ring, n, target):  # type: ignore[no-untyped-def]
    """The last of the first n targets, in standard deviations; 0 if the ring lacks it."""
    N = ring.targets.shape[0]
    if n <= first_kept(int(ring.record[EVENTS]), N):
        return 0.0
    return _in_deviations(ring.targets[(n - 1) % N], target)


@compiled
def _in_deviations(y, target):  # type: ignore[no-untyped-def]
    center, unit = center_and_unit(target)
    return min(max(3.0 * ((y - center) / unit), -3.0), 3.0)


@compiled
def _join_autocorrelation(record, y, last, target):  # type: ignore[no-untyped-def]
    """Add the product of y and the last target known when it was predicted."""
    now = _in_deviations(y, target)
    record[AUTOCORRELATION] += (now * last - record[AUTOCORRELATION]) / record[EVENTS]
    record[LAST] = now


@compiled
def _scale(ring, encoding, stats, target):  # type: ignore[no-untyped-def]
    """Renew means and deviations; the last targets count only if targets depend on them."""
    record = ring.record
    center, unit = center_and_unit(target)
    depend = abs(record[AUTOCORRELATION]) >= max(0.05, 4.0 / np.sqrt(record[EVENTS]))
    for j in range(N_LAGS):
        encoding[j, CENTER] = _difference(center, ring.origins[j])
        encoding[j, INVERSE] = 3.0 / unit if depend and unit > LEAST else 0.0
    for j in range(stats.shape[1]):
        column, origin = encoding[N_LAGS + j], ring.origins[N_LAGS + j]
        n, mean, squares = stats[COUNT, j], stats[MEAN, j], stats[SQUARES, j]
        column[INVERSE] = 0.0
        if origin >= ABSENT:
            continue
        column[FILL] = _difference(value_if_absent(stats, j), origin)
        column[CENTER] = _difference(mean, origin)
        if squares > 1e-26 * n * mean * mean:
            sd = np.sqrt(squares / n)
            if sd > LEAST:
                column[INVERSE] = 1.0 / sd
        # An indicator's 0 stays 0, which networks skip.
        zero = _difference(0.0, origin)
        if 0.0 < column[LEVELS] <= 2.0 and column[LOWER] == zero:
            column[CENTER] = zero


@compiled
def _place_knots(ring, encoding, j):  # type: ignore[no-untyped-def]
    """Take the quantiles of column j anew, among events spread over the ring."""
    n, N = int(ring.record[EVENTS]), ring.targets.shape[0]
    size = n - first_kept(n, N)
    sample = np.empty(min(size, SAMPLE), np.float32)
    m = 0
    for i in range(sample.shape[0]):
        at = (n - 1 - i * size // sample.shape[0]) % N
        if j < N_LAGS:
            value = _difference(ring.targets[at], ring.origins[j])
        else:
            value = ring.rows[at, j - N_LAGS]
            value = value if value < MISSING else encoding[j, FILL]
        sample[m] = value
        m += 1 if value < MISSING else 0
    column = encoding[j]
    column[LEVELS] = 0.0
    column[LOWER : LOWER + KNOTS] = MISSING
    if m == 0:
        return
    known = sample[:m]
    sort(known)
    least = max(_EQUAL * (known[m - 1] - known[0]), LEAST)
    column[LOWER] = known[0]
    levels = 1
    for b in range(1, KNOTS):
        value, before = known[b * (m - 1) // (KNOTS - 1)], column[LOWER + levels - 1]
        if value - before > least:
            column[SLOPE + levels - 1] = 1.0 / (value - before)
            column[LOWER + levels] = value
            levels += 1
    column[LEVELS] = levels
    if levels > 1:
        column[LOWER + levels - 1] = MISSING  # where the last segment ends none begins


@compiled
def gather(ring, encoding, events, values):  # type: ignore[no-untyped-def]
    """values[:, k] = what the ring has of event events[k], in each column; k < 16."""
    N, late = ring.targets.shape[0], ring.delays.shape[0] > 0
    first = first_kept(int(ring.record[EVENTS]), N)
    for k in range(events.shape[0]):
        i = events[k]
        delay = int(ring.delays[i % N]) if late else 0
        for lag in range(N_LAGS):
            before = i - delay - 1 - lag
            values[lag, k] = MISSING
            if before >= first:
                values[lag, k] = _difference(ring.targets[before % N], ring.origins[lag])
        row = ring.rows[i % N]
        for j in range(N_LAGS, encoding.shape[0]):
            values[j, k] = row[j - N_LAGS]


@compiled
def weigh(ring, events, derivatives):  # type: ignore[no-untyped-def]
    """Multiply a loss's derivatives (O, 16) at events (16,) by these events' weights."""
    if ring.weights.shape[0] == 0:
        return
    for k in range(events.shape[0]):
        weight = float32(ring.weights[events[k] % ring.weights.shape[0]])
        for c in range(derivatives.shape[0]):
            derivatives[c, k] *= weight


@compiled
def encode(values, encoding, inputs, piecewise):  # type: ignore[no-untyped-def]
    """Fill inputs (3, L, 16) from values (L, 16); segments only if `piecewise`."""
    zero, one, five = spread(0.0), spread(1.0), spread(5.0)
    missing = spread(MISSING)
    z, segments, fractions = inputs[Z], inputs[SEGMENT], inputs[FRACTION]
    for j in range(encoding.shape[0]):
        column = encoding[j]
        value = load(values, j, 0)
        value = choose(value, missing, spread(column[FILL]), value)
        deviation = (value - spread(column[CENTER])) * spread(column[INVERSE])
        deviation = smaller(larger(deviation, zero - five), five)
        store(z, j, 0, choose(value, missing, zero, deviation))
        if piecewise and column[LEVELS] >= 3.0 and column[INVERSE] > 0.0:
            segment, lower, slope = zero, spread(column[LOWER]), spread(column[SLOPE])
            for b in range(1, KNOTS):
                begins = spread(column[LOWER + b])
                segment = choose(value, begins, spread(float32(b)), segment)
                lower = choose(value, begins, begins, lower)
                slope = choose(value, begins, spread(column[SLOPE + b]), slope)
            fraction = smaller(larger((value - lower) * slope, zero), one)
            store(segments, j, 0, choose(value, missing, zero - one, segment))
            store(fractions, j, 0, choose(value, missing, zero, fraction))
        elif piecewise:
            store(segments, j, 0, zero - one)


@compiled
def encode_next(ring, encoding, row, delay, values, inputs):  # type: ignore[no-untyped-def]
    """Set the first lane of values and inputs to the next event, whose raw inputs are `row`.

    It was predicted `delay` events ago, from the last targets of that time. `ring` is a plain
    tuple.
    """
    ring = Ring(*ring)
    n, N = int(ring.record[EVENTS]), ring.targets.shape[0]
    first = first_kept(n, N)
    for lag in range(N_LAGS):
        values[lag, 0] = MISSING
        before = n - delay - 1 - lag
        if before >= first:
            values[lag, 0] = _difference(ring.targets[before % N], ring.origins[lag])
    for j in range(row.shape[0]):
        origin = ring.origins[N_LAGS + j]
        values[N_LAGS + j, 0] = _difference(row[j] if origin < ABSENT else ABSENT, origin)
    encode(values, encoding, inputs, True)


@compiled
def fetch(ring, i):  # type: ignore[no-untyped-def]
    """Prefetch event i."""
    N, width = ring.rows.shape
    at = i % N
    prefetch(ring.targets, at)
    flat = shaped(ring.rows, 0, (N * width,))
    for j in range(0, width, WIDE_LANES):
        prefetch(flat, at * width + j)
