"""Measurements shared by several of these files."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from iln_stream.features import Features

MeanProduct = Callable[..., tuple[float, float]]


@pytest.fixture
def mean_product() -> MeanProduct:
    """E[psi(x; w) psi(x'; w)] as a mean over draws, and its standard error.

    A comparison within 5 standard errors fails by chance once in 1.7 million seeds; seeds are
    fixed, so a test that passes keeps passing.
    """

    def measure(
        family: Features[Any],
        x: NDArray[np.float64],
        x_prime: NDArray[np.float64],
        n: int = 100_000,
    ) -> tuple[float, float]:
        w = family.draw(n, len(x), np.random.default_rng(7))
        # x as n rows: the form that the estimator uses for the support's points.
        products = family.psi(np.tile(x, (n, 1)), w) * family.psi(x_prime, w)
        return float(products.mean()), float(products.std(ddof=1) / np.sqrt(n))

    return measure
