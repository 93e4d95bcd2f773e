"""The estimators with about m units of work each, and iterates of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import GaussianFourier
from iln_stream.learners.estimators import ESTIMATORS, DrawPolicy, Estimator, EstimatorContext
from iln_stream.learners.estimators.base import Iterate

Rows = NDArray[np.float64]

COMPARED = {name: made for name, made in ESTIMATORS.items() if name != "averaged"}
"""All but the one that is another with a number kept beside each point."""

WAYS = "direct", "two normals", "phase integrated"
"""How sampled makes a draw's unit."""

POINTS = 20
"""Support points that each of a block's features is tried on."""


def parameters(name: str, m: int) -> list[dict[str, Any]]:
    """What makes an estimator take m draws, m features or m / POINTS of them, in all its ways."""
    match name:
        case "sampled":
            return [{"units": way} for way in WAYS]
        case "block":
            return [{"features": max(2, m // POINTS), "points": POINTS}]
        case "full":
            return [{"features": m}]
        case "pool":
            return [{"size": m}]
        case "growing-pool":
            return [{"size": max(2, m // 2), "max_features": m}]
        case _:
            return [{}]


def candidates(m: int) -> Iterator[tuple[str, Estimator]]:
    """Yield each estimator, in each of its ways, with a name."""
    for name, estimator in COMPARED.items():
        for chosen in parameters(name, m):
            yield ", ".join([name, *filter(None, [chosen.get("units")])]), estimator(**chosen)


def iterate(estimator: Estimator, m: int, seed: int = 0, budget: int | None = None) -> Iterate:
    """Return f_1 = 0 of random cosines, estimated with m draws where an estimate draws at all."""
    draws = DrawPolicy(m, 0.01, 16, 10_000)
    key = np.random.SeedSequence(seed).generate_state(2, np.uint64).astype(np.uint64)
    return estimator.start(EstimatorContext(GaussianFourier(), draws, budget, "oldest", key))


def grown(estimator: Estimator, m: int, X: Rows, alpha: Rows, seed: int = 0) -> Iterate:
    """Return f = sum_i alpha_i Phi(x_i)."""
    f = iterate(estimator, m, seed)
    for x, a in zip(X, alpha.tolist(), strict=True):
        f.append(x, a)
    return f


def points(n: int, d: int, seed: int = 0) -> tuple[Rows, Rows]:
    """Standard normal points (n, d) and coefficients like those of a run: small, of both signs."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.normal(scale=n**-0.5, size=n)
