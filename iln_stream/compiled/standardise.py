"""Running statistics of input columns, robust to outliers, and rows scaled by them."""

import numpy as np

from iln_stream.compiled.jit import compiled

COUNT, MEAN, SQUARES, LOW, HIGH, LOWER, UPPER = range(7)
"""Rows of the statistics, shape (47, d): values counted, their mean, the sum of squares about it
(winsorised), the smallest and largest value that was present, and bounds within which each of the
first `YOUNG` values counts. `column_statistics` has the other rows, and maintains all."""

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
