import numpy as np
import pytest

from iln_stream.kernels.ridges import BLOCK, STEPS, column, learn
from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.experts.rls_bank import (
    HUBER,
    RIDGE,
    RLSBank,
    RLSSpec,
    initial_covariance,
    padded_size,
    untrained_record,
)
from iln_stream.learners.infinite_layer.part import aligned


class Recursion:
    """Untrained recursive least squares on D features."""

    def __init__(self, D, forgetting=1.0, huber=HUBER):
        D = padded_size(D)
        self.P, self.pending, self.record = (
            initial_covariance(D),
            np.zeros((8, D)),
            untrained_record(),
        )
        self.theta, self.k = np.zeros(D), np.zeros(D)
        self.forgetting, self.huber = forgetting, huber

    def learn(self, phi, t):
        phi = np.pad(phi, (0, len(self.theta) - len(phi)))
        p = float(self.theta @ phi)
        learn(
            self.P, self.pending, self.theta, self.record, phi, self.k, t, p,
            1.0, self.forgetting, RIDGE, self.huber,
        )  # fmt: skip

    def covariance(self):
        C = np.empty((len(self.theta),) * 2)
        for i in range(len(C)):
            column(self.P, self.pending, self.record, i, C[i])
        return C


@pytest.mark.parametrize(("D", "condition"), [(1, 1.0), (16, 1.0), (17, 1e4), (50, 1e4)])
def test_recursion_is_the_solution_of_the_normal_equations(D, condition):
    """After 5,000 rows theta equals that from a factorisation of the summed squares, to 1e-6."""
    rng = np.random.default_rng(D)
    scales = np.geomspace(1.0, 1.0 / condition, D)
    recursion = Recursion(D, huber=1e9)
    A, b = RIDGE * np.eye(D), np.zeros(D)
    weights = rng.normal(size=D)
    for n in range(5_000):
        phi = scales * rng.normal(size=D)
        t = float(phi @ weights + 0.1 * rng.normal())
        recursion.learn(phi, t)
        A += np.outer(phi, phi)
        b += t * phi
        if n % 1_000 in (501, 999):  # with pending updates, and without
            assert recursion.theta[:D] == pytest.approx(np.linalg.solve(A, b), abs=1e-6)
            found = recursion.covariance()[:D, :D]
            assert found == pytest.approx(np.linalg.inv(A), rel=1e-6, abs=1e-9)


def test_forgetting_is_exact_and_stays_symmetric():
    """With forgetting and renewed penalties, too: 20,000 rows on it is the weighted solution."""
    D, forgetting = 24, 0.97
    recursion = Recursion(D, forgetting, huber=1e9)
    whole = len(recursion.theta)
    rng = np.random.default_rng(3)
    A, b = RIDGE * np.eye(whole), np.zeros(whole)
    for _ in range(20_000):
        phi, t = np.pad(rng.normal(size=D), (0, whole - D)), rng.normal()
        recursion.learn(phi, t)
        A = forgetting * A + np.outer(phi, phi)
        b = forgetting * b + t * phi
        i = int(recursion.record[STEPS]) % whole
        A[i, i] += (1.0 - forgetting) * RIDGE * whole
    assert recursion.theta == pytest.approx(np.linalg.solve(A, b), abs=1e-9)
    C = recursion.covariance()
    assert (C == C.T).all()


def test_huber_weight_bounds_what_an_outlier_does():
    """One wild target moves the weights by about as much as one at twice the mean error."""
    targets = np.random.default_rng(1).normal(size=100).tolist()

    def learned(last):
        recursion = Recursion(2)
        for t in [*targets, last]:
            recursion.learn(np.array([1.0, 0.5]), t)
        return recursion.theta

    assert np.abs(learned(1e6) - learned(0.0)).max() < 0.1


def test_forgetting_does_not_wind_up():
    """With one direction excited, 5,000 forgetful steps leave the covariance near the prior's."""
    recursion = Recursion(6, forgetting=0.97)
    D = len(recursion.theta)
    phi = np.eye(6)[0]
    for _ in range(5_000):
        recursion.learn(phi, 1.0)
    C = recursion.covariance()
    assert np.isfinite(C).all()
    # Between two renewals of its penalty a direction loses no more than 0.97^D of it.
    assert np.diag(C).max() < 1.0 / (RIDGE * 0.97**D)
    assert recursion.theta[0] == pytest.approx(1.0, abs=0.01)


def test_aligned_copies_are_equal_and_aligned():
    """A covariance begins at a line of the cache, wherever the original lies in memory."""
    for values in (np.arange(7.0), np.arange(12.0).reshape(3, 4)[:, 1:]):
        copy = aligned(values)
        assert (copy == values).all()
        assert copy.ctypes.data % 64 == 0


@pytest.mark.parametrize("forgetting", [1.0, 0.97])
def test_new_columns_have_the_prior_variance(forgetting):
    """New columns begin with the penalty's covariance, for any number of pending updates."""
    ridges = RLSBank((RLSSpec("one", None, forgetting=forgetting),), 0, n_lags=0)
    ridges.widen(BLOCK - 1)  # no room is left
    p, event = np.zeros(1), Observation(0, BLOCK - 1)
    event.v[:] = 1.0
    for _ in range(5):
        ridges.predict(event, p)
        ridges.learn(event, 1.0, p)
    before = ridges.covariance(0)
    ridges.widen(3)
    after = ridges.covariance(0)
    assert after[:BLOCK, :BLOCK] == pytest.approx(before)
    assert after[BLOCK:, BLOCK:] == pytest.approx(np.eye(BLOCK) / RIDGE)
    assert (after[:BLOCK, BLOCK:] == 0.0).all()
