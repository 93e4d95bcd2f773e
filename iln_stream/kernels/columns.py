"""Running statistics of input columns, robust to outliers, and rows in their deviations.

The first 30 values are kept, and count within bounds that their median and their distances from it
set. Later values count within 6 sd. After a change of level or scale many would lie beyond, and
move the mean only as 1 / n: so mean and sd are set anew by a run of outliers, or, when the scale
has shrunk, by a run of small differences.
"""

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.jit import compiled
from iln_stream.kernels.sort import sort

LARGEST_FLOAT = 1.7976931348623157e308
"""A finite number is at most this."""


@compiled
def n_broken(numbers):  # type: ignore[no-untyped-def]
    """How many of the numbers (k,) are not finite."""
    n = 0
    for i in range(numbers.shape[0]):
        n += 0 if abs(numbers[i]) <= LARGEST_FLOAT else 1
    return n


COUNT, MEAN, SQUARES, LOW, HIGH, LOWER, UPPER = range(7)
"""Rows of the statistics, shape (47, d): values counted, their mean, the sum of squares about it
(winsorised), the smallest and largest value that was present, and bounds within which each of the
first `YOUNG` values counts. `join` maintains all rows."""

YOUNG = 30
"""From this many values on, the statistics are winsorised at 6 sd."""

N_ROWS = 17 + YOUNG

ABSENT = 1e300
"""Marks an absent value, beyond every input: nan does not survive fast arithmetic."""


@compiled
def value_of(x, stats, j):  # type: ignore[no-untyped-def]
    """Column j's value in a row; if absent, 0 where 0 is an ordinary value, else ABSENT.

    0 is an ordinary value of an indicator, and of a column with values around 0. An absent value
    of a column far from 0 was not measured.
    """
    return x[j] if x[j] < ABSENT else value_if_absent(stats, j)


@compiled
def value_if_absent(stats, j):  # type: ignore[no-untyped-def]
    """Do `value_of`'s work for an absent value."""
    low, high = stats[LOW, j], stats[HIGH, j]
    width = high - low
    if stats[COUNT, j] > 0.0 and (width == 0.0 or (low <= width and high >= -width)):
        return 0.0
    return ABSENT


@compiled
def moments_with(value, stats, j):  # type: ignore[no-untyped-def]
    """Mean and sum of squares of column j with `value` included."""
    count = stats[COUNT, j]
    if count < YOUNG:
        value = min(max(value, stats[LOWER, j]), stats[UPPER, j])
    delta = value - stats[MEAN, j]
    if count >= YOUNG and stats[SQUARES, j] > 0.0:
        fence = 6.0 * np.sqrt(stats[SQUARES, j] / count)
        delta = min(max(delta, -fence), fence)
    step = delta / (count + 1.0)
    return stats[MEAN, j] + step, stats[SQUARES, j] + delta * (delta - step)


@compiled
def in_deviations(value, mean, squares, n):  # type: ignore[no-untyped-def]
    """(value - mean) / sd within +-5; 0 while all values agree to within rounding."""
    # For x + 1e9, rounding the mean alone leaves squares of 1e-32 n mean^2.
    if squares <= 1e-26 * n * mean * mean:
        return 0.0
    sd = np.sqrt(squares / n)  # 0 where the quotient underflows
    return 0.0 if sd == 0.0 else min(max((value - mean) / sd, -5.0), 5.0)  # nan stays nan


@compiled
def standardise(x, stats, row, z):  # type: ignore[no-untyped-def]
    """Fill `row` with the values of x and z with their deviations, by statistics that include x.

    Unknown values stay ABSENT in `row` and are 0 in z.
    """
    for j in range(z.shape[0]):
        value = value_of(x, stats, j)
        row[j] = value
        z[j] = 0.0
        if value < ABSENT:
            mean, squares = moments_with(value, stats, j)
            z[j] = in_deviations(value, mean, squares, stats[COUNT, j] + 1.0)


@compiled
def standardise_again(row, stats, z):  # type: ignore[no-untyped-def]
    """z of a row whose values are already in the statistics."""
    for j in range(z.shape[0]):
        value = value_of(row, stats, j)
        z[j] = 0.0
        if value < ABSENT:
            z[j] = in_deviations(value, stats[MEAN, j], stats[SQUARES, j], stats[COUNT, j])


(
    LAST, ROUGHNESS, RUN, MEAN_BEFORE, VARIANCE_BEFORE, QUIET, LONGEST, PATIENCE, CHANGED_AT,
    N_KEPT, KEPT,
) = range(7, 18)  # fmt: skip
"""The other rows of the statistics: the last value; the mean square of successive differences,
winsorised; the weight of the present run of outliers, and mean and variance before it; the weight
of the present run of small differences, and of the longest; by how much longer than usual a run of
outliers must be; the event with the last change, or 0; the number of values kept, and the last 30
of them: the first values, and later those of a run."""

LEAST = 5
"""The least number of values that have bounds."""

BOUND = 9.0
"""Bounds of the first values, about their median, in the third quartile of their distances from it:
10 sd of normal values."""

FAR, BEYOND = 3.0, 6.0
"""An outlier lies 3 sd or more from the mean. One beyond 6 has weight 1 in a run, others half of
their independence: 1 if values are uncorrelated, and near 0 if they change so slowly that long
excursions are usual. An ordinary value takes 1 from the run."""

ONE_SIDED, TWO_SIDED, CONSTANT = 8.0, 24.0, 64.0
"""The weight of a run that is a change: with all outliers on one side of the mean; with some on
either; with equal ones."""

DOUBTS, LARGEST_PATIENCE, CALM = 4.0, 1024.0, 1024.0
"""After a change by outliers a run must weigh 4 times as much for the next one; and half of that
after 1,024, 2,048, .. values. So bursts that come again and again aren't taken as changes."""

SMALL = 0.1
"""A difference of less than this, in the root mean square, is small."""

TINY = 1e-4
"""A difference of less than this has weight 1 in a run, as growth by powers of ten has made the
independence small, too."""

SHRUNK = 32.0
"""The weight of a run of small differences that is a change, if it is also four times that of any
before. Each weighs its independence, or 1 if it is tiny; equal values neither prolong a run nor end
it."""

AS_IF = 30.0
"""The number of values that a new mean and sd count for."""


def no_statistics(d: int) -> NDArray[np.float64]:
    """Return the statistics (47, d) of columns without values."""
    stats = np.zeros((N_ROWS, d))
    stats[[LOW, UPPER]], stats[[HIGH, LOWER]] = ABSENT, -ABSENT
    return stats


@compiled
def join(x, stats, n):  # type: ignore[no-untyped-def]
    """Add the row of the n-th event to the statistics."""
    for j in range(x.shape[0]):
        value = value_of(x, stats, j)
        if value < ABSENT:
            join_value(value, stats, j, n)
        if x[j] < ABSENT:
            stats[LOW, j] = min(stats[LOW, j], x[j])
            stats[HIGH, j] = max(stats[HIGH, j], x[j])


@compiled
def join_values(values, columns, stats):  # type: ignore[no-untyped-def]
    """Add values (k,) to the statistics of columns (k,), except to their ranges; skip nan."""
    for i in range(values.shape[0]):
        if values[i] == values[i]:
            join_value(values[i], stats, columns[i], 0)


@compiled
def deviations_with(values, columns, stats, z):  # type: ignore[no-untyped-def]
    """z (k,) = deviations of values (k,) by statistics that include each; these don't change."""
    one = np.empty((N_ROWS, 1))
    for i in range(values.shape[0]):
        for row in range(N_ROWS):
            one[row, 0] = stats[row, columns[i]]
        join_value(values[i], one, 0, 0)
        n, mean, squares = one[COUNT, 0], one[MEAN, 0], one[SQUARES, 0]
        varies = not squares <= 1e-26 * n * mean * mean  # nan is no constant
        z[i] = (values[i] - mean) / np.sqrt(squares / n) if varies else 0.0


@compiled
def join_value(value, stats, j, n):  # type: ignore[no-untyped-def]
    """Add a value of the n-th event to the statistics of column j, except to its range."""
    count = stats[COUNT, j]
    if count < YOUNG and stats[N_KEPT, j] == count:
        keep(value, stats, j)
        begin(stats, j)
        return
    mean, squares = stats[MEAN, j], stats[SQUARES, j]
    stats[MEAN, j], stats[SQUARES, j] = moments_with(value, stats, j)
    stats[COUNT, j] = count + 1.0
    variance = squares / max(count, 1.0)
    if stats[RUN, j] == 0.0:
        stats[MEAN_BEFORE, j], stats[VARIANCE_BEFORE, j] = mean, variance
    elif stats[PATIENCE, j] > 0.0:
        # A new mean and sd count for few values: the run would soon move them as far as itself.
        mean, variance = stats[MEAN_BEFORE, j], stats[VARIANCE_BEFORE, j]
    changed = count >= YOUNG and lengthen(value, value - mean, variance, stats, j)
    join_difference(value, stats, j)
    if changed:
        change(stats, j)
        stats[CHANGED_AT, j] = n


@compiled
def lengthen(value, delta, variance, stats, j):  # type: ignore[no-untyped-def]
    """Lengthen or end the runs of column j; return whether one of them is a change.

    delta is the value's distance from the mean.
    """
    if variance == 0.0:
        return False
    independence = min(1.0, 0.5 * stats[ROUGHNESS, j] / variance)
    patience = 1.0 + stats[PATIENCE, j]
    squared = delta * delta / variance
    outlier = squared > FAR * FAR
    if stats[RUN, j] == 0.0 and (outlier or stats[QUIET, j] == 0.0):
        stats[N_KEPT, j] = 0.0
    if outlier:
        stats[RUN, j] += 1.0 if squared > BEYOND * BEYOND else 0.5 * independence
    else:
        stats[RUN, j] = max(stats[RUN, j] - 1.0, 0.0)
        if patience > 1.0 and is_doubled(stats[COUNT, j]):
            stats[PATIENCE, j] = max(0.5 * patience, 1.0) - 1.0
    difference = (value - stats[LAST, j]) ** 2
    small = difference < SMALL * SMALL * stats[ROUGHNESS, j]
    if not small:
        stats[LONGEST, j] = max(stats[LONGEST, j], stats[QUIET, j])
        stats[QUIET, j] = 0.0
    elif difference > 0.0:
        tiny = difference < TINY * TINY * stats[ROUGHNESS, j]
        stats[QUIET, j] += 1.0 if tiny else independence
    if outlier or (small and difference > 0.0 and stats[RUN, j] == 0.0):
        keep(value, stats, j)
    if stats[QUIET, j] >= max(SHRUNK, 4.0 * stats[LONGEST, j]):
        return True
    if stats[RUN, j] < ONE_SIDED * patience or stats[RUN, j] < run_needed(stats, j) * patience:
        return False
    stats[PATIENCE, j] = min(DOUBTS * patience, LARGEST_PATIENCE) - 1.0
    return True


@compiled
def is_doubled(count):  # type: ignore[no-untyped-def]
    """Whether the count is 1,024, 2,048, .."""
    doubled = CALM
    while doubled < count:
        doubled *= 2.0
    return doubled == count


@compiled
def keep(value, stats, j):  # type: ignore[no-untyped-def]
    """Keep a value of column j."""
    n = int(stats[N_KEPT, j])
    stats[KEPT + n % YOUNG, j] = value
    stats[N_KEPT, j] = n + 1.0


@compiled
def run_needed(stats, j):  # type: ignore[no-untyped-def]
    """The weight at which a run of values like those kept is a change."""
    n = min(int(stats[N_KEPT, j]), YOUNG)
    above, equal = 0, True
    for i in range(KEPT, KEPT + n):
        above += 1 if stats[i, j] > stats[MEAN_BEFORE, j] else 0
        equal = equal and stats[i, j] == stats[KEPT, j]
    if equal:
        return CONSTANT
    return ONE_SIDED if above == 0 or above == n else TWO_SIDED


@compiled
def join_difference(value, stats, j):  # type: ignore[no-untyped-def]
    """Add the difference from the last value to the roughness."""
    difference = value - stats[LAST, j]
    squared = difference * difference
    if stats[COUNT, j] > YOUNG and stats[ROUGHNESS, j] > 0.0:
        squared = min(squared, BEYOND * BEYOND * stats[ROUGHNESS, j])
    stats[ROUGHNESS, j] += (squared - stats[ROUGHNESS, j]) / stats[COUNT, j]
    stats[LAST, j] = value


@compiled
def change(stats, j):  # type: ignore[no-untyped-def]
    """Set the mean to that of the kept values, and the sd by how much their roughness has changed.

    A roughness within a factor of 6 counts as unchanged.
    """
    first = max(int(stats[N_KEPT, j]) - YOUNG, 0)
    n = int(stats[N_KEPT, j]) - first
    low, high, rough = ABSENT, -ABSENT, 0.0
    origin = stats[KEPT, j]
    center = 0.0
    for i in range(n):
        value = stats[KEPT + (first + i) % YOUNG, j]
        low, high = min(low, value), max(high, value)
        center += (value - origin) / n
        if i > 0:
            before = stats[KEPT + (first + i - 1) % YOUNG, j]
            rough += (value - before) * (value - before) / (n - 1)
    center += origin
    spread = 0.0
    for i in range(n):
        spread += (stats[KEPT + i, j] - center) ** 2 / n
    ratio = rough / stats[ROUGHNESS, j] if stats[ROUGHNESS, j] > 0.0 else 1.0
    if 0.16 < ratio < 6.0:
        ratio = 1.0
    variance = ratio * stats[VARIANCE_BEFORE, j]
    if spread > 4.0 * variance or rough == 0.0:
        variance = spread
    stats[COUNT, j], stats[MEAN, j], stats[SQUARES, j] = AS_IF, center, AS_IF * variance
    stats[ROUGHNESS, j] *= ratio
    stats[LOW, j], stats[HIGH, j] = low, high
    stats[LONGEST, j] = max(stats[LONGEST, j], stats[QUIET, j])
    stats[RUN, j] = stats[QUIET, j] = stats[N_KEPT, j] = 0.0


@compiled
def begin(stats, j):  # type: ignore[no-untyped-def]
    """Set the statistics of column j to those of the kept values, its first."""
    n = int(stats[N_KEPT, j])
    set_bounds(stats[KEPT : KEPT + n, j], stats, j)
    lower, upper = stats[LOWER, j], stats[UPPER, j]
    stats[COUNT, j] = stats[MEAN, j] = stats[SQUARES, j] = stats[ROUGHNESS, j] = 0.0
    stats[LAST, j] = stats[KEPT, j]
    for i in range(n):
        value = stats[KEPT + i, j]
        stats[MEAN, j], stats[SQUARES, j] = moments_with(value, stats, j)
        stats[COUNT, j] += 1.0
        join_difference(min(max(value, lower), upper), stats, j)
    if n == YOUNG:
        stats[N_KEPT, j] = 0.0


@compiled
def set_bounds(kept, stats, j):  # type: ignore[no-untyped-def]
    """Set bounds for the kept values (n,) and the next one; none for fewer than five.

    Where most values agree, only the distances of the others count.
    """
    n = kept.shape[0]
    stats[LOWER, j], stats[UPPER, j] = -ABSENT, ABSENT
    if n < LEAST:
        return
    deviations = kept.copy()
    sort(deviations)
    middle = deviations[n // 2]
    for i in range(n):
        deviations[i] = abs(kept[i] - middle)
    sort(deviations)
    first = 0
    if deviations[3 * (n - 1) // 4] == 0.0:
        while first < n and deviations[first] == 0.0:
            first += 1
        if n - first < 3:
            return
    bound = BOUND * deviations[first + 3 * (n - 1 - first) // 4]
    stats[LOWER, j], stats[UPPER, j] = middle - bound, middle + bound
