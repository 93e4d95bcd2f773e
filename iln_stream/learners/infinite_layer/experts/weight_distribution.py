"""mu, the law of the hidden units, reshaped by what was learned."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.state import all_finite

ACTIVATIONS = ("cos", "relu")
"""Activations that the scale of `WeightDistribution` is right for."""

FLOOR = 0.03
"""Share of the prior that stays uniform over the inputs, so that no input is ever lost."""


class Units(NamedTuple):
    """Hidden units sigma(omega.v + b), omega (d, R), b (R,); for cosines in units of full turns."""

    omega: NDArray[np.float32]
    b: NDArray[np.float32]


@dataclass(frozen=True)
class WeightDistribution:
    """A law mu over the weights w of hidden units sigma(w.v + b).

    w ~ N(0, 2 g C / d) over all inputs; or, for interactions of few inputs, each unit uses only 2
    or 4 inputs, drawn by their relevance. C has mean diagonal 1. It is the identity at first and
    later the average outer product of the learned function's gradients [^1]: units are drawn where
    the function varies.

    Parameters
    ----------
    activation
        "cos" or "relu".
    bandwidth
        g: larger is wigglier.
    sparse
        Whether a unit uses 2 or 4 inputs, alternately, rather than all.
    recent
        Whether the last targets are inputs too.

    References
    ----------
    [^1]: A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin. Mechanism for feature learning in
    neural networks and backpropagation-free machine learning models. Science, 2024.

    """

    activation: Literal["cos", "relu"]
    bandwidth: float
    sparse: bool
    recent: bool = False

    def draw(
        self, size: int, agop: NDArray[np.float64], n_lags: int, rng: np.random.Generator
    ) -> Units:
        """Draw units; `agop` (d, d) is the average outer product of gradients, lags first."""
        d = len(agop)
        first = 0 if self.recent else n_lags
        weights = np.zeros((size, d))
        if d > first:
            weights[:, first:] = self._weights(size, agop[first:, first:], rng)
        if self.activation == "cos":
            b = rng.random(size)
            weights /= 2.0 * math.pi
        else:
            b = rng.standard_normal(size) * np.linalg.norm(weights, axis=1)
        omega = np.ascontiguousarray(weights.T, dtype=np.float32)
        return Units(omega, b.astype(np.float32))

    def _weights(
        self, size: int, agop: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        d = len(agop)
        covariance = blended(agop)
        normals = rng.standard_normal((size, d))
        if not self.sparse:
            root = np.linalg.cholesky(covariance)
            return math.sqrt(2.0 * self.bandwidth / d) * normals @ root.T
        sd = np.sqrt(np.diag(covariance))
        n_inputs = np.where(np.arange(size) % 2 == 0, min(2, d), min(4, d))
        # The inputs with the smallest exponentials times 1 / sd are a draw without replacement, by
        # sd.
        times = rng.exponential(size=(size, d)) / sd
        chosen = times.argsort(axis=1).argsort(axis=1) < n_inputs[:, None]
        scale = np.sqrt(2.0 * self.bandwidth / n_inputs)[:, None]
        weights: NDArray[np.float64] = np.where(chosen, normals * scale * sd, 0.0)
        return weights


def blended(agop: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `agop` scaled to mean diagonal 1, with a floor of the identity under it.

    Return the identity if `agop` is 0 or not finite.
    """
    d = len(agop)
    level = np.trace(agop) / max(d, 1)
    if not level > 1e-300 or not all_finite(agop):
        return np.eye(d)
    blend: NDArray[np.float64] = (1.0 - FLOOR) * agop / level + FLOOR * np.eye(d)
    return blend
