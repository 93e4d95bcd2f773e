"""Targets of remembered events that resemble a new one, in three senses."""

import numpy as np

from iln_stream.frozen.infinite_layer.ridges import FENCE
from iln_stream.frozen.infinite_layer.types import Matrix, Parts

SIMILAR, NEAR = 31, 5
ABSENT = 1e300
FURTHEST = 10.0


def predict(memory: Parts, row: Matrix, z: Matrix, mean: Matrix, scale: Parts) -> Matrix:
    """Return three predictions (n, 3) of the scaled target.

    They are the median target of the 31 events with the most similar predicted mean; that of the 5
    events nearest in the relevant inputs; and the target, scaled as of its event, of the event with
    the most similar deviations, as of its event as well. While there are fewer than 31 events the
    first two are the mean.

    Parameters
    ----------
    memory
        Of N events: raw columns (d, N), targets (N,), metric (d,), the weight of a difference in
        each column; predicted means in ascending order, `ordered` (N,), and the targets in that
        order, `carried`; deviations (d, N) and scaled targets (N,), as of each event.
    row, z
        Raw inputs and their deviations, (n, d).
    mean
        Scaled predicted means, (n,).
    scale
        Has center and unit of the target's scale.

    """
    p = np.repeat(mean[:, None], 3, axis=1)
    center, unit = scale["center"], scale["unit"]
    if len(memory["targets"]) >= SIMILAR:
        middle = [_median_where(memory, key) for key in (center + unit * mean).tolist()]
        near = [_median_of_nearest(memory, each) for each in np.where(np.isnan(row), ABSENT, row)]
        for k, targets in enumerate((middle, near)):
            p[:, k] = np.clip((np.array(targets) - center) / unit, -FENCE, FENCE)
    if len(memory["targets"]) > 0:
        p[:, 2] = [_target_of_most_alike(memory, each) for each in z]
    return p


def _median_where(memory: Parts, key: float) -> float:
    """The median target of the events whose predicted means are nearest to the key."""
    keys, n = memory["ordered"], len(memory["ordered"])
    right = int(np.searchsorted(keys, key))
    left = right - 1
    for _ in range(SIMILAR):
        if right == n or (left >= 0 and key - keys[left] <= keys[right] - key):
            left -= 1
        else:
            right += 1
    return float(np.median(memory["carried"][left + 1 : right]))


def _median_of_nearest(memory: Parts, row: Matrix) -> float:
    """The median target of the events nearest in the inputs that the metric weighs."""
    columns, metric = memory["columns"], memory["metric"]
    distances = np.zeros(columns.shape[1])
    for j in np.flatnonzero(metric > 0.0):
        delta = np.clip((columns[j] - row[j]) * metric[j], -FURTHEST, FURTHEST)
        distances += delta * delta
    nearest = np.argsort(distances, kind="stable")[:NEAR]
    return float(np.median(memory["targets"][nearest]))


def _target_of_most_alike(memory: Parts, z: Matrix) -> float:
    """The scaled target of the event with the most similar deviations."""
    distances = np.zeros(memory["deviations"].shape[1], np.float32)
    for column, value in zip(memory["deviations"], z.astype(np.float32), strict=True):
        delta = column - value
        distances += delta * delta
    return float(memory["scaled"][np.argmin(distances)])
