"""A Gaussian process by its values at a few points: `krls-t`."""

import numpy as np

from iln_stream.frozen.infinite_layer.ridges import fenced
from iln_stream.frozen.infinite_layer.types import Matrix, Parts


def predict(process: Parts, z: Matrix) -> Matrix:
    """Return the mean (n,) at deviations z (n, d): sum_b alpha_b exp(-|z - point_b|^2 / (2 s)).

    `process` has points (d, B), alpha (B,) and scale, s; a scale of 0 means that it has not begun.
    """
    if process["scale"] == 0.0:
        return np.zeros(len(z))
    points = process["points"]
    squares = np.zeros((len(z), points.shape[1]))
    for j in range(z.shape[1]):
        squares += (points[j] - z[:, j, None]) ** 2
    return fenced(np.exp(-0.5 * squares / process["scale"]) @ process["alpha"])
