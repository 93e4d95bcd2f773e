"""The last values of a stream, kept sorted, and their conformal quantiles."""

import numpy as np

from iln_stream.compiled.jit import compiled

ROUNDING = 1e-9
"""A rank this close to a whole number is that number: 20 x .05 is 1."""


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
