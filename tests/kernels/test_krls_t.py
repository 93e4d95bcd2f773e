"""KRLS-T against the posterior of a Gaussian process, and for as long as streams last."""

import numpy as np
import pytest
from kernels.streams import KINDS, rows

from iln_stream.kernels import krls_t as kernels
from iln_stream.kernels.krls_t import JITTER, N_POINTS, SCALE, Basis

FORGETTING, NOISE = 0.99, 0.05


class Process:
    """The arrays of the kernels, with room for some points of d inputs."""

    def __init__(self, d, room, scale):
        self.basis = Basis(
            np.zeros((d, room)), np.zeros((room, room)), np.zeros((room, room)), np.zeros(room)
        )
        self.record, self.k = np.zeros(5), np.zeros(room)
        self.record[SCALE] = scale

    def predict(self, z):
        return kernels.predict(tuple(self.basis), self.record, z, self.k)

    def learn(self, z, t, forgetting=FORGETTING):
        self.predict(z)
        kernels.learn(tuple(self.basis), self.record, z, self.k, t, forgetting, NOISE)

    @property
    def n_points(self):
        return int(self.record[N_POINTS])

    @property
    def points(self):
        return self.basis.points[:, : self.n_points].T

    def kernel(self, A, B):
        squares = ((A[:, None] - B[None]) ** 2).sum(axis=2)
        return np.exp(-squares / (2.0 * self.record[SCALE]))

    def prior(self):
        """The points' kernel matrix."""
        return self.kernel(self.points, self.points) + JITTER * np.eye(self.n_points)

    def covariance(self):
        """The points' posterior covariance."""
        K, m = self.prior(), self.n_points
        return K - K @ self.basis.reduction[:m, :m] @ K


def test_without_forgetting_it_is_gaussian_process_regression():
    """While every input is a point, its mean is that of the batch formula."""
    rng = np.random.default_rng(1)
    Z, t = rng.normal(size=(30, 6)), rng.normal(size=30)
    process = Process(6, 41, 6.0)
    for z, target in zip(Z, t, strict=True):
        process.learn(z, target, forgetting=1.0)
    assert process.n_points == 30
    weights = np.linalg.solve(process.prior() + NOISE * np.eye(30), t)
    for z in rng.normal(size=(5, 6)):
        expected = process.kernel(z[None], Z)[0] @ weights
        assert process.predict(z) == pytest.approx(expected, abs=1e-9)


def test_forgetting_makes_old_targets_noisier():
    """The posterior's deviation from the prior shrinks: mean by sqrt(lambda), covariance by lambda,
    with the covariance of a direct recomputation as in the paper.
    """
    rng = np.random.default_rng(2)
    Z, t = rng.normal(size=(12, 4)), rng.normal(size=12)
    process = Process(4, 21, 4.0)
    mean, C = np.zeros(0), np.zeros((0, 0))
    for n, (z, target) in enumerate(zip(Z, t, strict=True)):
        K = process.kernel(Z[: n + 1], Z[: n + 1]) + JITTER * np.eye(n + 1)
        mean, C = np.sqrt(0.9) * mean, 0.9 * C + 0.1 * K[:n, :n]
        q = np.linalg.solve(K[:n, :n], K[:n, n])
        h, rest = C @ q, K[n, n] - K[:n, n] @ q
        p = np.append(h, rest + q @ h)
        C = np.block([[C, h[:, None]], [h[None], np.array([[p[-1]]])]])
        mean = np.append(mean, q @ mean)
        mean, C = (
            mean + p * (target - mean[-1]) / (NOISE + p[-1]),
            C - np.outer(p, p) / (NOISE + p[-1]),
        )
        process.learn(z, target, forgetting=0.9)
    assert process.n_points == 12
    assert process.prior() @ process.basis.alpha[:12] == pytest.approx(mean, abs=1e-9)
    assert process.covariance() == pytest.approx(C, abs=1e-8)


def test_leaves_out_the_point_that_the_others_predict_best():
    """The posterior at the others stays as it was."""
    rng = np.random.default_rng(3)
    full, larger = Process(3, 9, 3.0), Process(3, 20, 3.0)
    for z, t in zip(rng.normal(size=(9, 3)), rng.normal(size=9), strict=True):
        full.learn(z, t)
        larger.learn(z, t)
    assert (full.n_points, larger.n_points) == (8, 9)
    errors = np.abs(larger.basis.alpha[:9]) / np.diag(larger.basis.inverse)[:9]
    left = np.delete(np.arange(9), errors.argmin())
    order = [next(i for i in left if (larger.points[i] == z).all()) for z in full.points]
    assert sorted(order) == left.tolist()
    for process_covariance, expected in (
        (full.covariance(), larger.covariance()[np.ix_(order, order)]),
        (
            full.prior() @ full.basis.alpha[:8],
            (larger.prior() @ larger.basis.alpha[:9])[order],
        ),
    ):
        assert process_covariance == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", [*KINDS, "walking"])
def test_outlives_its_forgetting(kind):
    """After 60 / (1 - forgetting) events the inverse is still the kernel matrix's, both matrices
    are symmetric, the posterior covariance is positive, and nothing has grown.
    """
    rng, n = np.random.default_rng(4), int(60 / (1 - FORGETTING))
    process, noise = Process(4, 32, 4.0), rng.normal(size=n)
    Z = rows("stationary" if kind == "walking" else kind, n, 4, rng)
    if kind == "walking":
        Z = 2.0 * np.sin(np.cumsum(0.01 * Z, axis=0))
    for z, e in zip(np.clip(Z, -5.0, 5.0), noise, strict=True):
        process.learn(z, 0.3 * np.tanh(z.sum()) + 0.1 * e)
    m, basis = process.n_points, process.basis
    inverse, reduction = basis.inverse[:m, :m], basis.reduction[:m, :m]
    assert inverse @ process.prior() == pytest.approx(np.eye(m), abs=1e-6)
    assert inverse == pytest.approx(inverse.T, abs=1e-13 * np.abs(inverse).max())
    assert reduction == pytest.approx(reduction.T, abs=1e-13 * np.abs(reduction).max())
    assert np.linalg.eigvalsh(process.covariance()).min() > 0.0
    assert np.abs(inverse).max() <= 1.0 / JITTER
    assert np.abs(basis.alpha).max() < 100.0
    assert not basis.inverse[m:].any()
    assert not basis.reduction[:, m:].any()
