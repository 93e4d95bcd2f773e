"""The small model of one key: a ridge on what a global model leaves, and a rule over five experts.

A key's effect on the target, beyond the global prediction g, is u'z for z = (1, standardised
inputs). Over all keys, u has a normal law with mean m and diagonal variance V; the noise has
variance s. A key keeps the sums A of z z' and b of z r, r = y - g, and its effect is their
posterior mean, (A + s / V)^-1 (b + (s / V) m): a key without events has the mean effect, one with
many has its own. m, V and s are estimated from the keys while they learn (MacKay's fixed point;
m and V when a key has 1, 2, 4, .. events, so that no key counts much more than another).
"""

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.columns import LARGEST_FLOAT, join, standardise
from iln_stream.kernels.jit import compiled

GLOBAL, LEVEL, SLOPES, DRIFT, LAST = range(5)
"""The experts: g; g and the key's level; g, level and slopes; these and a level that follows drift;
g and the key's last residual."""

N_EXPERTS = 5

EVENTS, LEARNED_AT, ERRORS, WEIGHTS, LAST_RESIDUAL, RECENT, N_RECENT, LOSSES = range(8)
"""Indices into a key's row: events learned; the clock then; the sum of absolute errors and that of
their weights, both discounted; the last residual; the mean of the last errors of `SLOPES`, and
their number; and from here on the discounted loss of each expert."""

ROW_HEAD = 16
"""Where b begins in a row; A, a lower triangle row by row, follows."""

(
    CLOCK, SPREAD, OUTLIERS, NOISE_OF_LEVEL, NOISE, SQUARES_OF_LEVEL, FREEDOM_OF_LEVEL,
    MEAN_LEVEL, UPDATES, WHOLE_FROM,
) = range(10)  # fmt: skip
"""Indices into what all keys share: events learned; the median of |error| in units of its
uncertainty, and how many errors in a row were far beyond; the noise of `LEVEL` and of `SLOPES`;
numerator and denominator of the levels' variance, and their mean; the updates of means; and the
clock from which `CORRECTION` is a key's whole effect, 0 except in states of release 0.2."""

SHARED_HEAD = 16
"""Where these begin: numerators and denominators of V, and m, each (D,); then the ages' losses."""

N_AGES = 24
"""A key's age is the integer logarithm of its events; each has a count and the experts' losses."""

N_BINS, BINS_OF_OCTAVE, MIDDLE = 96, 8, 48
"""The distribution of |error| / expected |error|, in bins of a logarithmic scale, follows: that of
targets below the prediction, then that of the others."""

AS_IF = 10.0
"""A key's own losses count as much as those of its age after this many events."""

SHARPNESS = 0.5
"""Weights are exp(-SHARPNESS loss), where a loss is a squared error in units of the noise."""

DISCOUNT = 0.98
"""Of a key's losses and absolute errors, at each of its events."""

LARGEST_LOSS = 25.0

FORGETTING = 0.9995
"""Of a key's sums, at each of its events."""

CLOCK_STOPS = 20_000.0
"""Until this many events of all keys the global model learns fast: a residual of event t then
counts t / T at event T, as it is of a worse model."""

RECENT_FORGETTING, RECENT_AS_IF = 0.9, 5.0
"""Of the level that follows drift: a memory of ten events, shrunk as by five zeros."""

FAR = 10.0
"""Residuals are clipped here, in units of the median error."""

SPOILT = 30.0
"""An error of `SLOPES` counts as at most so many times that of the prediction."""

VARIANCE_OF_SLOPES = 0.1
"""To begin with; that of levels is 1."""

CHANGE = 8.0
"""After this many errors in a row beyond, they are a new scale."""

LAW_FORGETTING = 0.999
"""Of the numerators and denominators of variances, at each update."""

LARGEST_RATIO = 1e8
"""Bound on the ratio of effects' variance and noise, and of its inverse."""

LARGEST_TARGET = 1e15
"""Targets and global predictions are clipped here."""


def row_size(d: int) -> int:
    """Return the number of numbers in the row of a key with d effects: its level and d - 1 slopes.

    >>> row_size(13)
    120
    """
    return ROW_HEAD + d + d * (d + 1) // 2


def new_shared(d: int) -> NDArray[np.float64]:
    """Return what keys with d effects share, before the first event."""
    shared = np.zeros(SHARED_HEAD + 3 * d + N_AGES * (1 + N_EXPERTS) + 2 * N_BINS)
    shared[[NOISE, NOISE_OF_LEVEL, SQUARES_OF_LEVEL, FREEDOM_OF_LEVEL]] = 1.0
    shared[SHARED_HEAD : SHARED_HEAD + d] = VARIANCE_OF_SLOPES
    shared[SHARED_HEAD] = 1.0
    shared[SHARED_HEAD + d : SHARED_HEAD + 2 * d] = 1.0
    return shared


def new_scratch(d: int) -> NDArray[np.float64]:
    """Return the scratch (6 + d, ...) of the functions below; it is no state."""
    return np.zeros((6 + d, max(d, 2 * N_EXPERTS)))


INPUTS, SOLVED_Z, SOLVED_B, MIXED, VALUES, OUT = range(6)
"""Rows of the scratch: z; L^-1 z and L^-1 (b - A m); the experts' predictions and weights; raw
inputs; and what is returned beside. L with L L' = A + s / V follows."""

UNCERTAINTY, EXPECTED, CORRECTION = range(3)
"""Indices into the row OUT: the variance of the effect in units of the noise; the expected |error|;
see `learn_key`."""


@compiled
def bounded(value):  # type: ignore[no-untyped-def]
    """The value within +-`LARGEST_TARGET`; 0 for nan."""
    if not abs(value) <= LARGEST_FLOAT:
        return 0.0
    return min(max(value, -LARGEST_TARGET), LARGEST_TARGET)


@compiled
def factor(row, shared, d, D, scratch):  # type: ignore[no-untyped-def]
    """L L' = A + s / V for the first d of D effects."""
    A = row[ROW_HEAD + D :]
    L = scratch[OUT + 1 :]
    s = shared[NOISE]
    for i in range(d):
        start = i * (i + 1) // 2
        for j in range(i):
            total = A[start + j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total / L[j, j]
        ridge = s * shared[SHARED_HEAD + D + i] / shared[SHARED_HEAD + i]
        whole = A[start + i] + ridge
        total = whole
        for k in range(i):
            total -= L[i, k] * L[i, k]
        L[i, i] = np.sqrt(max(total, 1e-10 * whole))


@compiled
def solve(row, shared, d, D, scratch):  # type: ignore[no-untyped-def]
    """Return u'z; solve for z and b - A m, too."""
    A, b = row[ROW_HEAD + D :], row[ROW_HEAD:]
    m = shared[SHARED_HEAD + 2 * D :]
    L = scratch[OUT + 1 :]
    effect = 0.0
    uncertainty = 0.0
    for i in range(d):
        w, u = scratch[INPUTS, i], b[i]
        start = i * (i + 1) // 2
        for k in range(i + 1):
            u -= A[start + k] * m[k]
        for k in range(i + 1, d):
            u -= A[k * (k + 1) // 2 + i] * m[k]
        effect += m[i] * w
        for k in range(i):
            w -= L[i, k] * scratch[SOLVED_Z, k]
            u -= L[i, k] * scratch[SOLVED_B, k]
        scratch[SOLVED_Z, i], scratch[SOLVED_B, i] = w / L[i, i], u / L[i, i]
        uncertainty += scratch[SOLVED_Z, i] * scratch[SOLVED_Z, i]
        effect += scratch[SOLVED_Z, i] * scratch[SOLVED_B, i]
    scratch[OUT, UNCERTAINTY] = uncertainty
    return effect


@compiled
def level(row, shared, D):  # type: ignore[no-untyped-def]
    """The key's level, if it had no slopes."""
    A, b, mean = row[ROW_HEAD + D], row[ROW_HEAD], shared[MEAN_LEVEL]
    ridge = shared[NOISE_OF_LEVEL] * shared[FREEDOM_OF_LEVEL] / shared[SQUARES_OF_LEVEL]
    return mean + (b - A * mean) / (A + ridge)


@compiled
def age_of(row):  # type: ignore[no-untyped-def]
    """A key's age: 0 before its first event, 1 after it, 2 after 3, 3 after 7, .."""
    return min(int(np.log2(row[EVENTS] + 1.0)), N_AGES - 1)


@compiled
def start_of_age(row, D):  # type: ignore[no-untyped-def]
    """Where the record of a key's age begins in what is shared."""
    return SHARED_HEAD + 3 * D + age_of(row) * (1 + N_EXPERTS)


@compiled
def weigh(row, shared, D, scratch):  # type: ignore[no-untyped-def]
    """Write the experts' weights, which sum to one, after their predictions."""
    start = start_of_age(row, D)
    least = LARGEST_FLOAT
    for i in range(N_EXPERTS):
        loss = AS_IF * shared[start + 1 + i] + row[LOSSES + i]
        scratch[MIXED, N_EXPERTS + i] = loss
        least = min(least, loss)
    total = 0.0
    for i in range(N_EXPERTS):
        w = np.exp(-SHARPNESS * (scratch[MIXED, N_EXPERTS + i] - least))
        scratch[MIXED, N_EXPERTS + i] = w
        total += w
    for i in range(N_EXPERTS):
        scratch[MIXED, N_EXPERTS + i] /= total


@compiled
def predict_key(g, x, row, stats, shared, scratch):  # type: ignore[no-untyped-def]
    """Return the prediction of a key at raw inputs x (d - 1,), given the global one, g.

    `row` (`row_size(D)`,) is the key's, `stats` (47, d - 1) are statistics of the inputs, d <= D.
    """
    D = scratch.shape[0] - OUT - 1
    d = x.shape[0] + 1
    g = bounded(g)
    standardise(x, stats, scratch[VALUES], scratch[INPUTS, 1:d])
    scratch[INPUTS, 0] = 1.0
    factor(row, shared, d, D, scratch)
    p = scratch[MIXED]
    p[GLOBAL] = g
    p[LEVEL] = g + level(row, shared, D)
    p[SLOPES] = g + solve(row, shared, d, D, scratch)
    p[DRIFT] = p[SLOPES] + row[RECENT] * row[N_RECENT] / (row[N_RECENT] + RECENT_AS_IF)
    p[LAST] = g + row[LAST_RESIDUAL]
    weigh(row, shared, D, scratch)
    prediction = 0.0
    for i in range(N_EXPERTS):
        prediction += p[N_EXPERTS + i] * p[i]
    root = np.sqrt(1.0 + scratch[OUT, UNCERTAINTY])
    own = 8.0 * shared[SPREAD] * root + row[ERRORS]
    scratch[OUT, EXPECTED] = own / (8.0 + row[WEIGHTS])
    return bounded(prediction)


@compiled
def learn_key(g, y, x, row, stats, shared, scratch, frozen):  # type: ignore[no-untyped-def]
    """Learn that y is the target; return the prediction before. Unless `frozen`, all keys learn.

    `CORRECTION` in the scratch is then the key's effect, which the global model need not explain.
    The mean effect is a part of it: were that left to the global model, this model would move away
    for ever, as keys follow it, and m follows keys, with a delay.
    """
    D = scratch.shape[0] - OUT - 1
    d = x.shape[0] + 1
    g, y = bounded(g), bounded(y)
    if shared[CLOCK] == 1.0 and not frozen:  # of two targets, this is the variance
        begin_law(max(0.5 * (y - g) * (y - g), 1e-30), shared, D)
    said = prediction = predict_key(g, x, row, stats, shared, scratch)
    if shared[CLOCK] == 0.0 and not frozen:  # the global model knows nothing: nothing is the key's
        g = prediction = y
        predict_key(g, x, row, stats, shared, scratch)
    p, m = scratch[MIXED], shared[SHARED_HEAD + 2 * D :]
    correction = prediction - g
    if shared[CLOCK] < shared[WHOLE_FROM]:
        for i in range(d):
            correction -= m[i] * scratch[INPUTS, i]
    scratch[OUT, CORRECTION] = bounded(correction)
    uncertainty = 1.0 + scratch[OUT, UNCERTAINTY]
    root = np.sqrt(uncertainty)
    error = y - p[SLOPES]
    if not frozen:
        # An expert that is spoilt must not hide that the others predict well.
        join_spread(min(abs(error), SPOILT * abs(y - prediction)) / root, shared, D)
    bound = FAR * shared[SPREAD] * root
    clipped = min(max(error, -bound), bound)
    residual = p[SLOPES] - g + clipped
    score(y, prediction, row, shared, D, scratch, frozen)
    if not frozen:
        join_noise(clipped, y - p[LEVEL], bound, uncertainty, row, shared, D)
        shared[CLOCK] += 1.0
        join(x, stats, shared[CLOCK])
    row[N_RECENT] = RECENT_FORGETTING * row[N_RECENT] + 1.0
    row[RECENT] += (clipped - row[RECENT]) / row[N_RECENT]
    row[LAST_RESIDUAL] = y - g
    forgetting = FORGETTING
    now = min(max(shared[CLOCK], 1.0), CLOCK_STOPS)
    if row[EVENTS] > 0.0:
        forgetting *= min(row[LEARNED_AT] / now, 1.0)
    row[LEARNED_AT] = now
    A, b = row[ROW_HEAD + D :], row[ROW_HEAD:]
    for i in range(d):
        start = i * (i + 1) // 2
        z = scratch[INPUTS, i]
        for j in range(i + 1):
            A[start + j] = forgetting * A[start + j] + z * scratch[INPUTS, j]
        b[i] = forgetting * b[i] + z * residual
    row[EVENTS] += 1.0
    n = int(min(row[EVENTS], 1e15))
    if not frozen and n & (n - 1) == 0:
        join_law(row, shared, d, D, scratch)
    return said


@compiled
def begin_law(square, shared, D):  # type: ignore[no-untyped-def]
    """Begin with variances in units of a squared error."""
    shared[NOISE] = shared[NOISE_OF_LEVEL] = shared[SQUARES_OF_LEVEL] = square
    shared[FREEDOM_OF_LEVEL] = 1.0
    for i in range(SHARED_HEAD, SHARED_HEAD + D):
        shared[i] = VARIANCE_OF_SLOPES * square
        shared[D + i] = 1.0
    shared[SHARED_HEAD] = square


@compiled
def join_spread(deviation, shared, D):  # type: ignore[no-untyped-def]
    """Move the median of |error| by an error, in units of its uncertainty.

    Of a new scale, the variances that are known say nothing: tiny ones would hold effects at their
    means, and so stay tiny.
    """
    if shared[CLOCK] <= 1.0:
        shared[SPREAD] = deviation
    shared[OUTLIERS] = shared[OUTLIERS] + 1.0 if deviation > FAR * shared[SPREAD] else 0.0
    if shared[OUTLIERS] >= CHANGE:
        shared[SPREAD], shared[OUTLIERS] = deviation, 0.0
        begin_law(deviation * deviation, shared, D)
    step = max(2.0 / (shared[CLOCK] + 2.0), 0.01)
    shared[SPREAD] *= np.exp(step if deviation > shared[SPREAD] else -step)
    shared[SPREAD] = max(shared[SPREAD], 1e-30)


@compiled
def join_noise(clipped, error_of_level, bound, uncertainty, row, shared, D):  # type: ignore[no-untyped-def]
    """Move the noise by the errors of `SLOPES` and `LEVEL`, in units of their uncertainty."""
    rate = 1.0 / min(shared[CLOCK] + 1.0, 1000.0)
    shared[NOISE] += rate * (clipped * clipped / uncertainty - shared[NOISE])
    ridge = shared[NOISE_OF_LEVEL] * shared[FREEDOM_OF_LEVEL] / shared[SQUARES_OF_LEVEL]
    of_level = 1.0 + 1.0 / (row[ROW_HEAD + D] + ridge)
    error = min(max(error_of_level, -bound), bound)
    shared[NOISE_OF_LEVEL] += rate * (error * error / of_level - shared[NOISE_OF_LEVEL])
    least, most = 1e-6 * shared[SPREAD] ** 2, 1e2 * shared[SPREAD] ** 2
    shared[NOISE] = min(max(shared[NOISE], least), most)
    shared[NOISE_OF_LEVEL] = min(max(shared[NOISE_OF_LEVEL], least), 4.0 * most)


@compiled
def score(y, prediction, row, shared, D, scratch, frozen):  # type: ignore[no-untyped-def]
    """Add the losses of the experts and the prediction's error, of the key and of its age."""
    start = start_of_age(row, D)
    unit = 1.4826 * max(shared[SPREAD], 1e-30)  # the noise's standard deviation, if it is normal
    if not frozen:
        shared[start] += 1.0
    rate = 1.0 / min(max(shared[start], 1.0), 2000.0)
    for i in range(N_EXPERTS):
        error = (y - scratch[MIXED, i]) / unit
        loss = min(error * error, LARGEST_LOSS)
        row[LOSSES + i] = DISCOUNT * row[LOSSES + i] + loss
        if not frozen:
            shared[start + 1 + i] += rate * (loss - shared[start + 1 + i])
    error = abs(y - prediction)
    if not frozen:
        bins = shared[SHARED_HEAD + 3 * D + N_AGES * (1 + N_EXPERTS) :]
        ratio = error / max(scratch[OUT, EXPECTED], 1e-30)
        place = BINS_OF_OCTAVE * np.log2(max(ratio, 1e-6)) + MIDDLE
        for i in range(2 * N_BINS):
            bins[i] *= 0.9995
        side = 0 if y < prediction else N_BINS
        bins[side + int(min(max(place, 0.0), N_BINS - 1.0))] += 1.0
    bound = FAR * scratch[OUT, EXPECTED]
    row[ERRORS] = DISCOUNT * row[ERRORS] + (min(error, bound) if bound > 0.0 else error)
    row[WEIGHTS] = DISCOUNT * row[WEIGHTS] + 1.0


@compiled
def join_law(row, shared, d, D, scratch):  # type: ignore[no-untyped-def]
    """Add a key's effects to the means and variances of all keys' effects."""
    factor(row, shared, d, D, scratch)
    solve(row, shared, d, D, scratch)
    L, U, W = scratch[OUT + 1 :], scratch[SOLVED_B], scratch[SOLVED_Z]
    shared[UPDATES] += 1.0
    rate = 1.0 / min(shared[UPDATES] + 1.0, 1000.0)
    for j in range(d - 1, -1, -1):  # the effects minus their means, L'^-1 U, into W
        total = U[j]
        for i in range(j + 1, d):
            total -= L[i, j] * W[i]
        W[j] = total / L[j, j]
    s = shared[NOISE]
    for j in range(d):
        variance = 0.0  # entry (j, j) of the inverse of L L'
        for i in range(j, d):
            total = 1.0 if i == j else 0.0
            for k in range(j, i):
                total -= L[i, k] * U[k]
            U[i] = total / L[i, i]
            variance += U[i] * U[i]
        squares, freedom = SHARED_HEAD + j, SHARED_HEAD + D + j
        known = 1.0 - s * variance * shared[freedom] / shared[squares]
        join_variance(W[j] * W[j], known, s, squares, freedom, shared)
        shared[SHARED_HEAD + 2 * D + j] += rate * W[j]
    s = shared[NOISE_OF_LEVEL]
    ridge = s * shared[FREEDOM_OF_LEVEL] / shared[SQUARES_OF_LEVEL]
    deviation = level(row, shared, D) - shared[MEAN_LEVEL]
    known = row[ROW_HEAD + D] / (row[ROW_HEAD + D] + ridge)
    join_variance(deviation * deviation, known, s, SQUARES_OF_LEVEL, FREEDOM_OF_LEVEL, shared)
    shared[MEAN_LEVEL] += rate * deviation


@compiled
def join_variance(square, known, s, squares, freedom, shared):  # type: ignore[no-untyped-def]
    """Add a squared effect of which a share is `known`: V = sum of squares / sum of shares."""
    denominator = LAW_FORGETTING * shared[freedom] + min(max(known, 0.0), 1.0)
    variance = (LAW_FORGETTING * shared[squares] + square) / denominator
    variance = min(max(variance, s / LARGEST_RATIO), s * LARGEST_RATIO)
    shared[freedom] = denominator
    shared[squares] = variance * denominator


@compiled
def effects_of(row, shared, d, D, scratch):  # type: ignore[no-untyped-def]
    """Write the first d effects of a key, its level first, into row `SOLVED_Z` of the scratch."""
    factor(row, shared, d, D, scratch)
    solve(row, shared, d, D, scratch)
    L = scratch[OUT + 1 :]
    for j in range(d - 1, -1, -1):
        total = scratch[SOLVED_B, j]
        for i in range(j + 1, d):
            total -= L[i, j] * scratch[SOLVED_Z, i]
        scratch[SOLVED_Z, j] = total / L[j, j]
    for j in range(d):
        scratch[SOLVED_Z, j] += shared[SHARED_HEAD + 2 * D + j]


@compiled
def expected_ratio(tail, side, shared, D):  # type: ignore[no-untyped-def]
    """The |error| / expected |error| that a share `tail` of all errors exceeds on one side.

    The side is 0 below the prediction and 1 above. It is the upper end of a bin; 0 if not so many
    errors are on that side.
    """
    bins = shared[SHARED_HEAD + 3 * D + N_AGES * (1 + N_EXPERTS) :]
    total = 0.0
    for i in range(2 * N_BINS):
        total += bins[i]
    beyond = max(tail * (total + 1.0) - 1.0, 0.0)
    for i in range(N_BINS - 1, -1, -1):
        beyond -= bins[side * N_BINS + i]
        if beyond < 0.0:
            return 2.0 ** ((i + 1.0 - MIDDLE) / BINS_OF_OCTAVE)
    return 0.0
