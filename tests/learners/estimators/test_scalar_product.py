import math

import numpy as np
import pytest

from iln_stream.features import (
    DecisionStumps,
    GaussianFourier,
    Mixture,
    RandomNetwork,
    UniformCoordinates,
    closed_form,
)
from iln_stream.learners.estimators.sampled import est_scalar_prod
from iln_stream.learners.estimators.support import Support

FAMILIES = (
    GaussianFourier(0.3),
    DecisionStumps(),
    UniformCoordinates(),
    Mixture.of_bandwidths((0.1, 1.0)),
    RandomNetwork(),
)


def filled_support(n: int, d: int, seed: int = 0) -> tuple[Support, np.ndarray]:
    rng = np.random.default_rng(seed)
    support = Support()
    for _ in range(n):
        support.append(rng.standard_normal(d), rng.standard_normal())
    return support, rng.standard_normal(d)


def inner_product(support: Support, x: np.ndarray, family: object) -> tuple[float, float]:
    """<sum alpha_i Phi(x_i), Phi(x)> and its standard error."""
    X, alpha = support.rows(len(x)), support.alpha
    if (kernel := closed_form(family)) is not None:
        return float(alpha @ kernel(X, x)), 0.0
    # No closed form: an independent estimate, each w shared by the whole support.
    rng = np.random.default_rng(99)
    blocks = []
    for _ in range(50):
        w = family.draw(2_000, len(x), rng)
        f = sum(a * family.psi(x_i, w) for a, x_i in zip(alpha, X, strict=True))
        blocks.append(np.mean(f * family.psi(x, w)))
    return float(np.mean(blocks)), float(np.std(blocks, ddof=1) / math.sqrt(len(blocks)))


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_unbiased(family):
    """E is unbiased for every family; a sound estimator fails once in 1.7e6 runs (5 sigma)."""
    support, x = filled_support(n=10, d=4)
    expected, uncertainty = inner_product(support, x, family)
    m = 50_000 if isinstance(family, RandomNetwork) else 1_000_000
    estimate = est_scalar_prod(support, x, m, family, np.random.default_rng(1))
    error = abs(estimate.value - expected)
    assert error <= 5 * math.hypot(estimate.standard_error, uncertainty)
    assert estimate.draws == m


def test_the_papers_printed_bound_is_false():
    """Eq. 19 as printed is broken by psi = +-1 and m = 1, so nobody should restore it."""
    family = DecisionStumps(span=3.0)
    support, x, eps = Support(), np.full(1, 3.0), 0.9
    support.append(np.zeros(1), 1.0)
    # psi(0; w) psi(3; w) is +1 or -1 with equal chance, so f = 0 and |E| = 1 always.
    assert closed_form(family)(support.rows(1), x)[0] == pytest.approx(0.0, abs=1e-12)
    errors = [
        abs(est_scalar_prod(support, x, 1, family, np.random.default_rng(k)).value)
        for k in range(100)
    ]
    assert min(errors) > eps
    assert math.exp(-(eps**2)) < 0.45  # what Eq. 19 promises at most
    assert 2 * math.exp(-(eps**2) / 2) > 1.0  # the corrected bound promises nothing here


def test_a_single_draw_tells_its_worst_case():
    """One draw has no spread; ||alpha||_1 is reported rather than nan."""
    support, x = filled_support(n=5, d=2)
    estimate = est_scalar_prod(support, x, 1, GaussianFourier(), np.random.default_rng(0))
    assert estimate.standard_error == support.alpha_l1
