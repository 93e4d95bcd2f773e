"""Networks of two hidden layers, and how their inputs are encoded."""

from collections.abc import Sequence

import numpy as np

from iln_stream.frozen.infinite_layer.types import Matrix, Parts

MISSING = np.float32(3e38)
"""Marks absent values and segments that do not exist."""

FURTHEST = 1e38
ABSENT = 1e300

CENTER, INVERSE, FILL, LEVELS = range(4)
LOWER, SLOPE, END = 8, 24, 40
"""Columns of the encoding (L, 40): the mean; 1 / sd or 0; what an absent value stands for; the
number of quantiles; and their lower ends and the inverse lengths of the segments between them."""


class Encoded:
    """Inputs of networks, (n, L) each: deviations, segments (-1: none), and places in these."""

    def __init__(self, parts: Parts, row: Matrix) -> None:
        """Encode raw rows (n, d); the lags are the differences (2,) of the last targets."""
        encoding, origins = parts["encoding"], parts["origins"]
        known = ~np.isnan(row) & (origins < ABSENT)
        difference = np.clip(np.where(known, row - origins, 0.0), -FURTHEST, FURTHEST)
        inputs = np.where(known, difference.astype(np.float32), MISSING)
        lags = np.broadcast_to(parts["lags"], (len(row), len(parts["lags"])))
        value = np.concatenate([lags, inputs], axis=1)
        value = np.where(value >= MISSING, encoding[:, FILL], value)
        absent = value >= MISSING
        value = np.where(absent, np.float32(0.0), value)
        z = np.clip((value - encoding[:, CENTER]) * encoding[:, INVERSE], -5.0, 5.0)
        self.z = np.where(absent, np.float32(0.0), z)
        lower, slope = encoding[:, LOWER:SLOPE], encoding[:, SLOPE:END]
        segment = np.count_nonzero(value[:, :, None] >= lower[None, :, 1:], axis=2)
        column = np.arange(len(encoding))
        along = (value - lower[column, segment]) * slope[column, segment]
        known = ~absent & (encoding[:, LEVELS] >= 3.0) & (encoding[:, INVERSE] > 0.0)
        self.segment = np.where(known, segment, -1)
        self.along = np.where(known, np.clip(along, 0.0, 1.0), 0.0)


def outputs(network: Parts, inputs: Encoded) -> Matrix:
    """Return o = b3 + w3.h2 + skip.z, (n, O).

    h1 = sigma(W1'z + b1 + piecewise-linear functions of the columns), h2 = sigma(W2'h1 + b2). sigma
    is tanh in the first half of a layer and u / (1 + exp(-u)) in the second. A column's increments
    over the segments between its quantiles are (15, U), and move the last U units of the first
    layer.
    """
    h = inputs.z @ network["W1"] + network["b1"]
    increments = network["increments"]
    if (n_units := increments.shape[2]) > 0:
        at_knots = np.concatenate(
            [np.zeros_like(increments[:, :1]), np.cumsum(increments, axis=1)], axis=1
        )
        for f in range(len(increments)):
            b, known = inputs.segment[:, f], inputs.segment[:, f] >= 0
            last = np.minimum(b, increments.shape[1] - 1)  # a value at the last knot
            added = at_knots[f, b] + inputs.along[:, f, None] * increments[f, last]
            h[:, -n_units:] += np.where(known[:, None], added, 0.0)
    h = _activated(_activated(h) @ network["W2"] + network["b2"])
    found: Matrix = (h @ network["w3"].T + network["b3"] + inputs.z @ network["skip"]).astype(
        np.float64
    )
    return found


def _activated(u: Matrix) -> Matrix:
    middle = u.shape[1] // 2
    first, second = u[:, :middle], u[:, middle:]
    half = second.dtype.type(0.5)
    return np.concatenate([np.tanh(first), second * (half + half * np.tanh(half * second))], axis=1)


def all_outputs(networks: Sequence[Parts], inputs: Encoded) -> list[Matrix]:
    """Return the outputs (n, O) of each network."""
    return [outputs(network, inputs) for network in networks]
