"""Intervals around a prediction, mixed from rolling quantiles of the errors before."""

import numpy as np

from iln_stream.kernels.compiled import compiled
from iln_stream.kernels.expert_rule import mixed, normalise, regret
from iln_stream.kernels.sorted_window import (
    ROUNDING,
    lower_quantile,
    replace,
    upper_quantile,
)

LEVELS = np.array([0.5, 0.8, 0.9, 0.95, 0.99])
WINDOWS = (500, 100, 20)
N_EXPERTS = 2 * len(WINDOWS)
LARGEST_ERROR = 1e100
"""Beyond this a square would overflow."""

EVENTS, LOWEST, HIGHEST = range(3)
"""Places in `record`, shape (3,): events learned, and the least and the largest target."""

EXCESS, COUNTED, LOW_GAIN, HIGH_GAIN = range(4)
"""Places in a level's `tally`, shape (4,): misses beyond those to be expected, how many events they
are of, and what ends held within the targets' range would have gained, the low and the high."""

DISCOUNT = 0.999
COVERAGE_DISCOUNT = 0.9999
FIRM = 10.0
"""Misses that are added to those expected, so that the first ones don't weigh too much."""
GAIN, POWER, LARGEST_EXPONENT = 0.2, 4, 2.0


@compiled
def offsets(errors, n, level, low, high):  # type: ignore[no-untyped-def]
    """Each expert's interval at the level, as offsets (K,) from the prediction, from n > 0 errors.

    Row 0 of `errors` (1 + K, 500) is a ring of errors y - yhat; the others are sorted: for each
    window the absolute errors, of the symmetric expert, and the errors, of the other.
    """
    tail = (1.0 - level) / 2.0
    for i in range(len(WINDOWS)):
        m = min(n, WINDOWS[i])
        high[2 * i] = upper_quantile(errors[1 + 2 * i], m, level)
        low[2 * i] = -high[2 * i]
        high[2 * i + 1] = upper_quantile(errors[2 + 2 * i], m, 1.0 - tail)
        low[2 * i + 1] = lower_quantile(errors[2 + 2 * i], m, tail)


@compiled
def stretch(tally, level):  # type: ignore[no-untyped-def]
    """What the mixture is stretched by: exp(.2 z^4), z the standard errors of excess in misses."""
    variance = level * ((1.0 - level) * tally[COUNTED] + FIRM)
    z = tally[EXCESS] / np.sqrt(variance)
    exponent = min(GAIN * np.abs(z) ** POWER, LARGEST_EXPONENT)
    return np.exp(exponent if z > 0.0 else -exponent)


@compiled
def within(end, record):  # type: ignore[no-untyped-def]
    """The end of an interval, held within the range of the targets so far."""
    return min(max(end, record[LOWEST]), record[HIGHEST])


@compiled
def ends(low, high, level, tally, record, center, inner):  # type: ignore[no-untyped-def]
    """Widen `inner`, the ends of the next lower level's interval, to this level's."""
    factor = stretch(tally, level)
    first, last = center + factor * low, center + factor * high
    if tally[LOW_GAIN] > 0.0:
        first = within(first, record)
    if tally[HIGH_GAIN] > 0.0:
        last = within(last, record)
    inner[0], inner[1] = min(inner[0], first), max(inner[1], last)


@compiled
def intervals(errors, rules, tallies, record, center, out):  # type: ignore[no-untyped-def]
    """Write each level's interval around the prediction to `out` (levels, 2)."""
    n = min(int(record[EVENTS]) - 1, errors.shape[1])
    low, high, inner = np.empty(N_EXPERTS), np.empty(N_EXPERTS), np.full(2, center)
    for j in range(LEVELS.shape[0]):
        offsets(errors, n, LEVELS[j], low, high)
        a, b = mixed(rules[j], low), mixed(rules[j], high)
        ends(a, b, LEVELS[j], tallies[j], record, center, inner)
        out[j, 0], out[j, 1] = inner[0], inner[1]


@compiled
def shortfall(end, y, outward, price):  # type: ignore[no-untyped-def]
    """The interval score's share of one end; `outward` is -1 for the low end and 1 for the high."""
    return outward * end + price * max(outward * (y - end), 0.0)


@compiled
def judge_level(n, level, low, high, rule, tally, record, center, y, inner):  # type: ignore[no-untyped-def]
    """Let y judge the experts' intervals of a level, its coverage, and its range."""
    price = 2.0 / (1.0 - level)
    a, b = mixed(rule, low), mixed(rule, high)
    ends(a, b, level, tally, record, center, inner)
    if (n + 1) * (1.0 - level) > 1.0 - ROUNDING:  # fewer errors have no such quantile
        missed = 1.0 if y < inner[0] or y > inner[1] else 0.0
        tally[EXCESS] = COVERAGE_DISCOUNT * tally[EXCESS] + missed - (1.0 - level)
        tally[COUNTED] = COVERAGE_DISCOUNT**2 * tally[COUNTED] + 1.0
    first, last = center + a, center + b
    gain = shortfall(first, y, -1.0, price) - shortfall(within(first, record), y, -1.0, price)
    tally[LOW_GAIN] = DISCOUNT * tally[LOW_GAIN] + gain
    gain = shortfall(last, y, 1.0, price) - shortfall(within(last, record), y, 1.0, price)
    tally[HIGH_GAIN] = DISCOUNT * tally[HIGH_GAIN] + gain
    # The score's slope in either end of the mixture.
    low_slope = (price if y < first else 0.0) - 1.0
    high_slope = 1.0 - (price if y > last else 0.0)
    for k in range(N_EXPERTS):
        regret(rule, k, low_slope * (a - low[k]) + high_slope * (b - high[k]), DISCOUNT)
    normalise(rule)


@compiled
def learn_interval(errors, rules, tallies, record, center, y):  # type: ignore[no-untyped-def]
    """Let y judge what was said around the prediction, then let its error join the windows."""
    size, n = errors.shape[1], int(record[EVENTS]) - 1  # the first event had no prediction
    if n < 0:
        record[LOWEST] = record[HIGHEST] = y
    if n > 0:
        low, high, inner = np.empty(N_EXPERTS), np.empty(N_EXPERTS), np.full(2, center)
        for j in range(LEVELS.shape[0]):
            offsets(errors, min(n, size), LEVELS[j], low, high)
            judge_level(n, LEVELS[j], low, high, rules[j], tallies[j], record, center, y, inner)
    if n >= 0:
        error = min(max(y - center, -LARGEST_ERROR), LARGEST_ERROR)
        for i in range(len(WINDOWS)):
            m = WINDOWS[i]
            old = errors[0, (n - m) % size]
            replace(errors[1 + 2 * i, :m], min(n, m), np.abs(old), np.abs(error))
            replace(errors[2 + 2 * i, :m], min(n, m), old, error)
        errors[0, n % size] = error
    record[LOWEST] = min(record[LOWEST], y)
    record[HIGHEST] = max(record[HIGHEST], y)
    record[EVENTS] += 1.0
