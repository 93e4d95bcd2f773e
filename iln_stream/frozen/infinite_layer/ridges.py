"""Ridge regressions on hidden units."""

import math

import numpy as np

from iln_stream.frozen.infinite_layer.types import Matrix, Parts

LINEAR = 0.3
"""Factor of the linear features."""

FENCE, LARGEST = 2.0, 1e6
"""Predictions are clipped to +-2 units of the target; those beyond 1e6 units do not count."""


def features(units: Parts, v: Matrix) -> Matrix:
    """Return phi = [3 sqrt(2 / R) sigma(v.omega + b), 1, .3 v], (n, R + 1 + L), of v (n, L).

    `units` has omega (L, R), b (R,), linear (L,), the share of each linear feature, and activation:
    "cos", whose argument is in turns, or "relu".
    """
    u = v @ units["omega"].astype(np.float64) + units["b"]
    if units["activation"] == "cos":
        sigma = np.cos(2.0 * math.pi * (u - np.round(u)))
    else:
        sigma = np.maximum(u, 0.0)
    scale = 3.0 * math.sqrt(2.0 / max(u.shape[1], 1))
    ones = np.ones((len(v), 1))
    return np.concatenate([scale * sigma, ones, LINEAR * v * units["linear"]], axis=1)


def fenced(p: Matrix) -> Matrix:
    """Return predictions within +-2; nan where they have left all bounds."""
    return np.where(np.abs(p) <= LARGEST, np.clip(p, -FENCE, FENCE), np.nan)
