"""The median target of the nearest events, by a full pass over a bounded memory."""

import numpy as np

from iln_stream.kernels.compiled import compiled


@compiled
def median_of_nearest(distances, y, n, k):  # type: ignore[no-untyped-def]
    """Median y of the k of n entries with the least distances."""
    nearest = np.full(k, 1e300)
    targets = np.zeros(k)
    for i in range(n):
        distance = distances[i]
        if distance < nearest[k - 1]:
            q = k - 1
            while q > 0 and nearest[q - 1] > distance:
                nearest[q] = nearest[q - 1]
                targets[q] = targets[q - 1]
                q -= 1
            nearest[q] = distance
            targets[q] = y[i]
    return np.median(targets[: min(n, k)])


@compiled
def squared_distances(columns, n, row, scale, distances):  # type: ignore[no-untyped-def]
    """Squared distances of the first n events from `row`; columns (d, N), scale (d,) by column."""
    for i in range(n):
        distances[i] = 0.0
    for j in range(row.shape[0]):
        column, value, unit = columns[j], row[j], scale[j]
        if unit > 0.0:
            for i in range(n):
                # Bounded: an outlier, or a value that is absent, is far away and no more.
                delta = min(max((column[i] - value) * unit, -10.0), 10.0)
                distances[i] += delta * delta


@compiled
def scalar_distances(values, n, value, distances):  # type: ignore[no-untyped-def]
    """Distances of the first n values from `value`."""
    for i in range(n):
        distances[i] = abs(values[i] - value)
