"""Intervals around a prediction, and how large its error may be."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.columns import LARGEST_FLOAT
from iln_stream.kernels.jit import compiled, plain
from iln_stream.kernels.mixing import DISCOUNT, WEIGHT, regret
from iln_stream.kernels.ridges import dot, learn_blocks

ROUNDING = 1e-9
"""A rank this close to a whole number is that number: 20 x 0.05 is 1."""


@compiled
def replace(ordered, n, old, new):  # type: ignore[no-untyped-def]
    """Insert `new` into the first n sorted entries; if the window is full, replace `old`.

    One pass without a search or a branch, many entries at a time: those between the old and the
    new one move by one slot.
    """
    if n < ordered.shape[0]:
        ordered[n] = old = np.inf
        n += 1
    if new > old:
        last = ordered[n - 1]
        for i in range(n - 1):
            left = max(ordered[i], min(ordered[i + 1], new))
            ordered[i] = ordered[i] if ordered[i] < old else left
        ordered[n - 1] = max(last, new)
    else:
        first = ordered[0]
        for i in range(n - 1, 0, -1):
            right = min(ordered[i], max(ordered[i - 1], new))
            ordered[i] = ordered[i] if ordered[i] > old else right
        ordered[0] = min(first, new)


@compiled
def upper_quantile(ordered, n, level):  # type: ignore[no-untyped-def]
    """Of the first n entries, the one of rank ceil((n + 1) level), clipped to 1..n."""
    i = int(np.ceil((n + 1) * level - ROUNDING)) - 1
    return ordered[min(max(i, 0), n - 1)]


@compiled
def lower_quantile(ordered, n, level):  # type: ignore[no-untyped-def]
    """Of the first n entries, the one of rank floor((n + 1) level), clipped to 1..n."""
    i = int(np.floor((n + 1) * level + ROUNDING)) - 1
    return ordered[min(max(i, 0), n - 1)]


LEVELS = np.array([0.5, 0.8, 0.9, 0.95, 0.99])
WINDOWS = (500, 100, 20)
RATIOS = 500
"""Errors in the window of an expert that scales them."""

N_ROLLING = 2 * len(WINDOWS)
"""Experts that take quantiles of the errors themselves. Those that scale errors follow. The experts
of all levels are laid out along one axis, level by level, so that loops over all vectorise."""

LARGEST_ERROR = 1e100
"""Beyond this a square would overflow."""

EVENTS, LOWEST, HIGHEST = range(3)
"""Indices into `record`, shape (3,): events learned, and the smallest and the largest target."""

EXCESS, COUNTED, LOW_GAIN, HIGH_GAIN = range(4)
"""Indices into a level's `tally`, shape (4,): misses in excess of those expected, the number of
events counted, and the gain from clipping the low and the high end to the targets' range."""

COVERAGE_DISCOUNT = 0.9999
FIRM = 10.0
"""Misses added to those expected, so that the first ones don't weigh too much."""
GAIN, POWER, LARGEST_EXPONENT = 0.2, 4, 2.0


class IntervalState(NamedTuple):
    """What is known about errors, and about intervals made of them.

    Parameters
    ----------
    errors
        (7, 500): a ring buffer of errors y - yhat; then, for each window, its absolute errors and
        its errors, each in ascending order.
    ratios
        (2 S, 500): ring buffers of errors over each of S expected sizes, then the same in order.
    rules
        ML-Poly's state for the experts of all levels, (4, levels (6 + S)).
    tallies
        (levels, 4).
    record
        (3,).

    """

    errors: NDArray[np.float64]
    ratios: NDArray[np.float64]
    rules: NDArray[np.float64]
    tallies: NDArray[np.float64]
    record: NDArray[np.float64]


@compiled
def offsets(errors, n, low, high):  # type: ignore[no-untyped-def]
    """Each expert's interval as offsets (levels K,) from the prediction, from n > 0 errors.

    For each window there is a symmetric expert, by absolute errors, and another.
    """
    for i in range(len(WINDOWS)):
        m = min(n, WINDOWS[i])
        for j in range(LEVELS.shape[0]):
            tail = (1.0 - LEVELS[j]) / 2.0
            k = j * (low.shape[0] // LEVELS.shape[0]) + 2 * i
            high[k] = upper_quantile(errors[1 + 2 * i], m, LEVELS[j])
            low[k] = -high[k]
            high[k + 1] = upper_quantile(errors[2 + 2 * i], m, 1.0 - tail)
            low[k + 1] = lower_quantile(errors[2 + 2 * i], m, tail)


@compiled
def bounded(error):  # type: ignore[no-untyped-def]
    """An error, clipped so that its square is finite."""
    return min(max(error, -LARGEST_ERROR), LARGEST_ERROR)


@compiled
def scaled_offsets(ratios, scales, n, low, high):  # type: ignore[no-untyped-def]
    """The same of the experts i that take quantiles of errors in units of scales[i]."""
    m, S, n_levels = min(n, RATIOS), scales.shape[0], LEVELS.shape[0]
    for i in range(S):
        for j in range(n_levels):
            tail = (1.0 - LEVELS[j]) / 2.0
            k = j * (low.shape[0] // n_levels) + N_ROLLING + i
            high[k] = bounded(scales[i] * upper_quantile(ratios[S + i], m, 1.0 - tail))
            low[k] = bounded(scales[i] * lower_quantile(ratios[S + i], m, tail))


@compiled
def mixed(rules, low, high, j):  # type: ignore[no-untyped-def]
    """Level j's mixture of the experts' offsets; their mean where no expert has positive regret."""
    n_experts = low.shape[0] // LEVELS.shape[0]
    first = j * n_experts
    total = 0.0
    for k in range(first, first + n_experts):
        total += rules[WEIGHT, k]
    a = b = 0.0
    for k in range(first, first + n_experts):
        weight = rules[WEIGHT, k] / total if total > 0.0 else 1.0 / n_experts
        a += weight * low[k]
        b += weight * high[k]
    return a, b


@compiled
def stretch(tally, level):  # type: ignore[no-untyped-def]
    """Factor that stretches the mixture: exp(0.2 z^4), z the excess misses in standard errors."""
    variance = level * ((1.0 - level) * tally[COUNTED] + FIRM)
    z = tally[EXCESS] / np.sqrt(variance)
    exponent = min(GAIN * np.abs(z) ** POWER, LARGEST_EXPONENT)
    return np.exp(exponent if z > 0.0 else -exponent)


@compiled
def within(end, record):  # type: ignore[no-untyped-def]
    """The end of an interval, clipped to the range of the targets so far."""
    return min(max(end, record[LOWEST]), record[HIGHEST])


@compiled
def ends(low, high, level, tally, record, center, inner):  # type: ignore[no-untyped-def]
    """The ends of this level's interval, which contains `inner`, that of the next lower level."""
    factor = stretch(tally, level)
    first, last = center + factor * low, center + factor * high
    # A select, not a branch, so that all levels are computed at once.
    first = within(first, record) if tally[LOW_GAIN] > 0.0 else first
    last = within(last, record) if tally[HIGH_GAIN] > 0.0 else last
    return min(inner[0], first), max(inner[1], last)


@compiled
def intervals(state, center, scales, out):  # type: ignore[no-untyped-def]
    """Write each level's interval around the prediction to `out` (levels, 2).

    `state` is a plain tuple of an `IntervalState`. `scales` (S,) are sizes of errors expected at
    the event, all positive; there may be none.
    """
    errors, ratios, rules, tallies, record = state
    n, n_rules = min(int(record[EVENTS]) - 1, errors.shape[1]), rules.shape[1]
    low, high, inner = np.empty(n_rules), np.empty(n_rules), (center, center)
    offsets(errors, n, low, high)
    scaled_offsets(ratios, scales, n, low, high)
    for j in range(LEVELS.shape[0]):
        a, b = mixed(rules, low, high, j)
        inner = ends(a, b, LEVELS[j], tallies[j], record, center, inner)
        out[j, 0], out[j, 1] = inner


@compiled
def shortfall(end, y, outward, price):  # type: ignore[no-untyped-def]
    """The interval score's share of one end; `outward` is -1 for the low end and 1 for the high."""
    return outward * end + price * max(outward * (y - end), 0.0)


@compiled
def gained(end, y, record, outward, price):  # type: ignore[no-untyped-def]
    """Gain from clipping an end to the targets' range; exactly 0 if it lies within."""
    held = within(end, record)
    gain = shortfall(end, y, outward, price) - shortfall(held, y, outward, price)
    return gain if held != end else 0.0


@plain
def has_quantile(n, level):  # type: ignore[no-untyped-def]
    """Whether n errors have a quantile at this level."""
    return (n + 1) * (1.0 - level) > 1.0 - ROUNDING


@compiled
def score_level(n, j, low, high, rules, tally, record, center, y, published, inner, r):  # type: ignore[no-untyped-def]
    """Score level j's coverage and range by y; fill r with the regrets to its experts.

    Returns the ends of its interval.
    """
    level = LEVELS[j]
    price = 2.0 / (1.0 - level)
    a, b = mixed(rules, low, high, j)
    inner = ends(a, b, level, tally, record, center, inner)
    missed = 1.0 if y < inner[0] or y > inner[1] else 0.0
    counts = has_quantile(n, level)
    if published.shape[0] > 0:
        missed = 1.0 if y < published[j, 0] or y > published[j, 1] else 0.0
        low_known = abs(published[j, 0]) <= LARGEST_FLOAT  # not nan
        counts = counts and low_known and abs(published[j, 1]) <= LARGEST_FLOAT
    if counts:
        tally[EXCESS] = COVERAGE_DISCOUNT * tally[EXCESS] + missed - (1.0 - level)
        tally[COUNTED] = COVERAGE_DISCOUNT**2 * tally[COUNTED] + 1.0
        if published.shape[0] > 0:
            tally[EXCESS] -= (1.0 - published[j, 2]) * (missed - (1.0 - level))
    first, last = center + a, center + b
    tally[LOW_GAIN] = DISCOUNT * tally[LOW_GAIN] + gained(first, y, record, -1.0, price)
    tally[HIGH_GAIN] = DISCOUNT * tally[HIGH_GAIN] + gained(last, y, record, 1.0, price)
    # The score's slope in either end of the mixture.
    low_slope = (price if y < first else 0.0) - 1.0
    high_slope = 1.0 - (price if y > last else 0.0)
    n_experts = low.shape[0] // LEVELS.shape[0]
    for k in range(j * n_experts, (j + 1) * n_experts):
        r[k] = low_slope * (a - low[k]) + high_slope * (b - high[k])
    return inner


@compiled
def learn_interval(state, center, scales, y, published):  # type: ignore[no-untyped-def]
    """Score the intervals around the prediction by y, then add its error to the windows.

    `published` (levels, 3) are the ends of those whose coverage counts, nan for none, and the
    weight of a miss; (0, 3) if they are the present ones.
    """
    errors, ratios, rules, tallies, record = state
    n_rules, S = rules.shape[1], scales.shape[0]
    size, n = errors.shape[1], int(record[EVENTS]) - 1  # the first event had no prediction
    if n < 0:
        record[LOWEST] = record[HIGHEST] = y
    if n > 0:
        low, high, r = np.empty(n_rules), np.empty(n_rules), np.empty(n_rules)
        inner = (center, center)
        offsets(errors, min(n, size), low, high)
        scaled_offsets(ratios, scales, n, low, high)
        for j in range(LEVELS.shape[0]):
            inner = score_level(
                n, j, low, high, rules, tallies[j], record, center, y, published, inner, r
            )
        for k in range(n_rules):
            regret(rules, k, r[k], DISCOUNT)
    if n >= 0:
        error = bounded(y - center)
        for i in range(len(WINDOWS)):
            m = WINDOWS[i]
            old = errors[0, (n - m) % size]
            replace(errors[1 + 2 * i, :m], min(n, m), np.abs(old), np.abs(error))
            replace(errors[2 + 2 * i, :m], min(n, m), old, error)
        errors[0, n % size] = error
        for i in range(S):
            ratio = bounded(error / scales[i])
            replace(ratios[S + i], min(n, RATIOS), ratios[i, n % RATIOS], ratio)
            ratios[i, n % RATIOS] = ratio
    record[LOWEST] = min(record[LOWEST], y)
    record[HIGHEST] = max(record[HIGHEST], y)
    record[EVENTS] += 1.0


NEAREST, LINEAR = 0, 1
"""Indices of the estimates."""

LEAST_SHARE = 0.1
"""Estimates are at least this share of the mean |error|."""

MOST = 6.0
"""Larger errors count as this many mean |errors| in the linear estimate."""

FORGETTING, RIDGE, HUBER = 0.999, 10.0, 1e12
"""Of the linear estimate's recursive least squares, where errors are clipped already."""

N_ERRORS, MEAN = 0, 1
"""Indices into the record: events learned, and the mean |error| of about the last 1000."""


@compiled
def describe_error(z, phi):  # type: ignore[no-untyped-def]
    """phi = 1, and of each of the deviations z (d,) z itself and |z|, about centred; then zeros."""
    phi[:] = 0.0
    phi[0] = 1.0
    for j in range(z.shape[0]):
        phi[1 + 2 * j] = z[j]
        phi[2 + 2 * j] = abs(z[j]) - 0.8


@compiled
def expected_errors(z, near, n_near, absolute, record, theta, phi, scales):  # type: ignore[no-untyped-def]
    """scales (2,): the mean |error| of the nearest events, and a linear function of z and |z|.

    The first n_near entries of `near` are slots of the nearest events, whose |errors| `absolute`
    (N,) has. While nothing is known, or all errors are 0, the estimates are 1.
    """
    describe_error(z, phi)
    mean = record[MEAN]
    if mean <= 0.0:
        scales[:] = 1.0
        return
    total = 0.0
    for i in range(n_near):
        total += absolute[near[i]]
    scales[NEAREST] = max(total / n_near, LEAST_SHARE * mean) if n_near > 0 else mean
    scales[LINEAR] = mean * max(dot(theta, phi), LEAST_SHARE)


@compiled
def learn_error(prediction, y, n, absolute, record, theta, P, huber, phi, k):  # type: ignore[no-untyped-def]
    """Learn the |error| of the n-th event, which `phi` describes."""
    error = min(abs(y - prediction), LARGEST_ERROR)
    absolute[n % absolute.shape[0]] = error
    record[N_ERRORS] += 1.0
    record[MEAN] += (error - record[MEAN]) / min(record[N_ERRORS], 1000.0)
    if record[MEAN] > 0.0:
        ratio = min(error / record[MEAN], MOST)
        learn_blocks(P, theta, huber, phi, k, ratio, dot(theta, phi), 1.0, FORGETTING, RIDGE, HUBER)
