"""The last values of a stream, kept in order, and their conformal quantiles."""

import numpy as np

from iln_stream.kernels.compiled import compiled

ROUNDING = 1e-9
"""An order this close to a whole number is that number: 20 x .05 is 1."""


@compiled
def n_below(ordered, n, value):  # type: ignore[no-untyped-def]
    """How many of the first n entries are below the value; counted, many at a time."""
    count = 0
    for i in range(n):
        count += ordered[i] < value
    return count


@compiled
def replace(ordered, n, old, new):  # type: ignore[no-untyped-def]
    """Put `new` into the first n sorted entries; in place of `old` if all of them are taken."""
    gap = n_below(ordered, n, old) if n == ordered.shape[0] else n
    place = n_below(ordered, n, new)
    # Shifts without a comparison: they are done many at a time.
    if place > gap:
        place -= 1
        for i in range(gap, place):
            ordered[i] = ordered[i + 1]
    else:
        for i in range(gap, place, -1):
            ordered[i] = ordered[i - 1]
    ordered[place] = new


@compiled
def upper_quantile(ordered, n, level):  # type: ignore[no-untyped-def]
    """Of the first n entries, that of order ceil((n + 1) level), within 1..n."""
    i = int(np.ceil((n + 1) * level - ROUNDING)) - 1
    return ordered[min(max(i, 0), n - 1)]


@compiled
def lower_quantile(ordered, n, level):  # type: ignore[no-untyped-def]
    """Of the first n entries, that of order floor((n + 1) level), within 1..n."""
    i = int(np.floor((n + 1) * level + ROUNDING)) - 1
    return ordered[min(max(i, 0), n - 1)]
