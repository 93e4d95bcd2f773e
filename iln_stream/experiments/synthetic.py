"""Streams of ten inputs, with targets that vary in one direction, in some inputs, and in all."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

D = 10
NOISE = 0.1
"""Standard deviation of the noise; signals have 1."""


def _one_direction(X: Array, rng: np.random.Generator) -> Array:
    u = rng.standard_normal(D)
    return np.asarray(np.sin(2.5 * X @ (u / np.linalg.norm(u))))


def _friedman(X: Array, rng: np.random.Generator) -> Array:
    U = (X / 3.0**0.5 + 1.0) / 2.0  # uniform on [0, 1]
    return np.asarray(
        10 * np.sin(np.pi * U[:, 0] * U[:, 1])
        + 20 * (U[:, 2] - 0.5) ** 2
        + 10 * U[:, 3]
        + 5 * U[:, 4]
    )


def _prior(X: Array, rng: np.random.Generator) -> Array:
    """Return a function that the prior draws: no direction matters more than another."""
    omega = rng.normal(0.0, (1.4 / D) ** 0.5, (D, 400))
    return np.asarray(np.cos(X @ omega + rng.uniform(0, 2 * np.pi, 400)) @ rng.standard_normal(400))


TARGETS = {"one direction": _one_direction, "friedman": _friedman, "prior": _prior}


def stream(name: str, n: int, seed: int) -> tuple[Array, Array]:
    """Return n uniform inputs of variance 1, (n, 10), and a target of variance 1, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-(3.0**0.5), 3.0**0.5, (n, D))
    signal = TARGETS[name](X, rng)
    signal = (signal - signal.mean()) / signal.std()
    return X, signal + rng.normal(0.0, NOISE, n)
