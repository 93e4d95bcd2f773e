import numpy as np
import pytest

from iln_stream.kernels.recursive_ridge import learn
from iln_stream.learners.infinite_layer.ridges import RIDGE, covariance, nothing_pending


@pytest.mark.parametrize("D", [1, 3, 4, 7, 30])
@pytest.mark.parametrize("condition", [1.0, 1e4])
def test_recursion_is_the_solution_of_the_normal_equations(D, condition):
    """After 5,000 rows theta is what a factorisation of the summed squares gives, to 1e-6."""
    rng = np.random.default_rng(D)
    scales = np.geomspace(1.0, 1.0 / condition, D)
    P, pending, theta, record = covariance(D), nothing_pending(D), np.zeros(D), np.zeros(2)
    A, b = RIDGE * np.eye(D), np.zeros(D)
    weights = rng.normal(size=D)
    k = np.zeros(D)
    for n in range(5_000):
        phi = scales * rng.normal(size=D)
        t = float(phi @ weights + 0.1 * rng.normal())
        learn(P, pending, theta, record, phi, k, t, float(theta @ phi), 1.0, RIDGE, 1e9)
        A += np.outer(phi, phi)
        b += t * phi
        if n % 1_000 == 999:
            assert theta == pytest.approx(np.linalg.solve(A, b), abs=1e-6)


def test_huber_weight_bounds_what_an_outlier_does():
    """One wild target moves the weights by about as much as one at twice the mean error."""
    rng = np.random.default_rng(1)

    def learned(last):
        P, pending, theta, record = covariance(2), nothing_pending(2), np.zeros(2), np.zeros(2)
        k = np.zeros(2)
        for t in [*rng_targets, last]:
            phi = np.array([1.0, 0.5])
            learn(P, pending, theta, record, phi, k, t, float(theta @ phi), 1.0, RIDGE, 2.0)
        return theta

    rng_targets = rng.normal(size=100).tolist()
    assert np.abs(learned(1e6) - learned(0.0)).max() < 0.1


def test_forgetting_does_not_wind_up():
    """With one direction excited, 20,000 forgetful steps leave the covariance near the prior's."""
    D = 6
    P, pending, theta, record = covariance(D), nothing_pending(D), np.zeros(D), np.zeros(2)
    phi, k = np.eye(D)[0].copy(), np.zeros(D)
    for _ in range(20_000):
        learn(P, pending, theta, record, phi, k, 1.0, float(theta @ phi), 0.97, RIDGE, 2.0)
    i = np.arange(D)
    assert np.isfinite(P).all()
    # Between two renewals of its penalty a direction loses no more than 0.97^D of it.
    assert P[i * (i + 3) // 2].max() < 1.0 / (RIDGE * 0.97**D)
    assert theta[0] == pytest.approx(1.0, abs=0.01)
