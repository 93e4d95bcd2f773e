"""KRLS-T, a kernel regression on a fixed number of points that forgets, in numpy."""

import numpy as np
from river import base

from benchmarks.quality.learners.contender import Contender
from benchmarks.quality.learners.scaled import scaled

JITTER = 1e-4
"""Added to the kernel's diagonal; a point with less prior variance given the others is not kept."""


class KRLST(base.Regressor):
    """Kernel recursive least-squares tracker (KRLS-T) [^1].

    A Gaussian process with a Gaussian kernel, kept as its joint distribution N(mean, covariance) at
    some past inputs, its points. Before each event it moves a little back to the prior: mean by the
    factor sqrt(lambda), covariance K by lambda covariance + (1 - lambda) K. Each event becomes a
    point; if there are too many, the point goes whose mean the others predict best.

    Inputs and target should be standardised: the prior has mean 0 and variance 1.

    Parameters
    ----------
    n_points
        M, the most points kept. An event costs O(M^2).
    forgetting
        lambda, at most 1; 1 forgets nothing.
    noise
        Variance of the noise in the target.
    gamma
        The kernel is exp(-gamma |x - x'|^2); None: 1 / (2d) with d inputs.

    References
    ----------
    [^1]: S. Van Vaerenbergh, M. Lazaro-Gredilla, I. Santamaria. Kernel recursive least-squares
    tracker for time-varying regression. IEEE Transactions on Neural Networks and Learning Systems
    23, 2012.

    Examples
    --------
    >>> model = KRLST(n_points=10, noise=0.01)
    >>> for t in range(60):
    ...     model.learn_one({"a": t % 6 - 2.5}, (t % 6 - 2.5) ** 2 / 3 - 1)
    >>> round(model.predict_one({"a": 2.5}), 1)
    1.1

    """

    def __init__(
        self,
        n_points: int = 200,
        forgetting: float = 0.999,
        noise: float = 0.1,
        gamma: float | None = None,
    ) -> None:
        self.n_points = n_points
        self.forgetting = forgetting
        self.noise = noise
        self.gamma = gamma
        self.points = np.zeros((0, 0))
        self.kernel = np.zeros((0, 0))
        self.inverse = np.zeros((0, 0))
        self.mean = np.zeros(0)
        self.covariance = np.zeros((0, 0))

    def _kernel(self, row: np.ndarray) -> np.ndarray:
        gamma = 0.5 / len(row) if self.gamma is None else self.gamma
        return np.exp(-gamma * ((self.points - row) ** 2).sum(axis=1))

    def predict_one(self, x: dict[str, float]) -> float:
        if not len(self.points):
            return 0.0
        return float(self._kernel(_row(x)) @ (self.inverse @ self.mean))

    def learn_one(self, x: dict[str, float], y: float) -> None:
        row = _row(x)
        if not len(self.points):
            self.points = np.zeros((0, len(row)))
        k = self._kernel(row)
        self._forget()
        self._add(row, k, y)
        known = 1.0 / self.inverse[-1, -1]  # the newest point's prior variance given the others
        if known < 2 * JITTER:
            self._remove(len(self.points) - 1)
        elif len(self.points) > self.n_points:
            errors = np.abs(self.inverse @ self.mean) / np.diag(self.inverse)
            self._remove(int(errors.argmin()))

    def _forget(self) -> None:
        self.mean *= np.sqrt(self.forgetting)
        self.covariance += (1.0 - self.forgetting) * (self.kernel - self.covariance)

    def _add(self, row: np.ndarray, k: np.ndarray, y: float) -> None:
        q = self.inverse @ k
        h = self.covariance @ q
        prior = max(1.0 + JITTER - k @ q, JITTER)
        variance = prior + q @ h
        self.points = np.vstack([self.points, row])
        self.kernel = _bordered(self.kernel, k, 1.0 + JITTER)
        p = np.append(q, -1.0)
        self.inverse = _bordered(self.inverse, np.zeros(len(k)), 0.0) + np.outer(p, p) / prior
        p = np.append(h, variance)
        self.covariance = _bordered(self.covariance, h, variance)
        self.covariance -= np.outer(p, p) / (self.noise + variance)
        error = y - q @ self.mean
        self.mean = np.append(self.mean, q @ self.mean) + error / (self.noise + variance) * p

    def _remove(self, i: int) -> None:
        kept = np.arange(len(self.points)) != i
        square = np.ix_(kept, kept)
        column, pivot = self.inverse[kept, i], self.inverse[i, i]
        self.points, self.mean = self.points[kept], self.mean[kept]
        self.kernel, self.covariance = self.kernel[square], self.covariance[square]
        self.inverse = self.inverse[square] - np.outer(column, column) / pivot


def _row(x: dict[str, float]) -> np.ndarray:
    return np.fromiter(x.values(), float, len(x))


def _bordered(matrix: np.ndarray, border: np.ndarray, corner: float) -> np.ndarray:
    """Return the symmetric matrix with one more row and column."""
    n = len(border)
    larger = np.empty((n + 1, n + 1))
    larger[:n, :n] = matrix
    larger[n, :n] = larger[:n, n] = border
    larger[n, n] = corner
    return larger


KRLS_T = (
    Contender(
        "krls-t",
        "KRLS-T, 200 points",
        "online",
        scaled(lambda _: KRLST()),
        "our own code: lambda = 0.999, Gaussian kernel and penalty as the kernel ridge",
        ("numpy", "river"),
    ),
)
