"""How far the inputs are from what they were lately."""

import numpy as np

from iln_stream.kernels.columns import ABSENT, COUNT, MEAN, SQUARES, in_deviations
from iln_stream.kernels.jit import compiled

WINDOWS = np.array([1, 4, 16, 64])
"""Events whose mean an input is compared with."""

WIDTH = 1 + len(WINDOWS)
"""Numbers for each input: its deviation, and the changes."""


@compiled
def recent_means(columns, n, lost, means):  # type: ignore[no-untyped-def]
    """means (d, S): of the values in the windows before event n; ABSENT where there was none.

    The memory's columns (d, N) no longer have the last `lost` of the N events before event n.
    """
    size = columns.shape[1]
    kept = min(n, size - lost)
    for j in range(means.shape[0]):
        total, count, back = 0.0, 0.0, 0
        for s in range(means.shape[1]):
            while back < min(WINDOWS[s], kept):
                back += 1
                value = columns[j, (n - back) % size]
                if value < ABSENT:
                    total += value
                    count += 1.0
            means[j, s] = total / count if count > 0.0 else ABSENT


@compiled
def describe_changes(columns, n, lost, row, stats, z, means, v):  # type: ignore[no-untyped-def]
    """v (d WIDTH,): the deviations z of a row, and its distances from recent means in sd."""
    recent_means(columns, n, lost, means)
    for j in range(means.shape[0]):
        v[WIDTH * j] = z[j]
        for s in range(means.shape[1]):
            value, mean = row[j], stats[MEAN, j]
            if value < ABSENT and means[j, s] < ABSENT:
                value += mean - means[j, s]
            else:
                value = mean
            v[WIDTH * j + 1 + s] = in_deviations(value, mean, stats[SQUARES, j], stats[COUNT, j])
