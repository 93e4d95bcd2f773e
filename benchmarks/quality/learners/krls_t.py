"""KRLS-T, a kernel regression that forgets: as the authors publish it, in numpy.

S. Van Vaerenbergh, M. Lazaro-Gredilla, I. Santamaria. Kernel recursive least-squares tracker for
time-varying regression. IEEE Transactions on Neural Networks and Learning Systems 23, 2012.
"""

import numpy as np
from numpy.typing import NDArray
from river import base

Array = NDArray[np.float64]

JITTER = 1e-6


class KRLST(base.Regressor):
    """A Gaussian process on at most a number of past inputs, which forgets back to its prior.

    Inputs and targets should be scaled. The kernel is exp(-|x - x'|^2 / (2 d)) for d inputs.

    Parameters
    ----------
    budget
        The most inputs kept; an event costs its square.
    forgetting
        lambda: the past's weight is multiplied by this at each event.
    noise
        Variance of a target's noise; that of the process is 1.

    """

    def __init__(self, budget: int = 200, forgetting: float = 0.999, noise: float = 0.05) -> None:
        self.budget = budget
        self.forgetting = forgetting
        self.noise = noise
        self._basis = np.zeros((0, 0))
        self._kernel = np.zeros((0, 0))  # of the basis with itself
        self._inverse = np.zeros((0, 0))
        self._mean = np.zeros(0)  # of the process at the basis, given the past
        self._covariance = np.zeros((0, 0))

    def _against_basis(self, x: Array) -> Array:
        squares = ((self._basis - x) ** 2).sum(axis=1)
        kernel: Array = np.exp(-squares / (2.0 * len(x)))
        return kernel

    def predict_one(self, x: dict[str, float]) -> float:
        if not len(self._mean):
            return 0.0
        row = np.array(list(x.values()), float)
        return float(self._against_basis(row) @ self._inverse @ self._mean)

    def learn_one(self, x: dict[str, float], y: float) -> None:
        row = np.array(list(x.values()), float)
        if not len(self._mean):
            self._basis = np.zeros((0, len(row)))
        self._forget()
        k = self._against_basis(row)
        q = self._inverse @ k
        h = self._covariance @ q
        given = max(1.0 + JITTER - k @ q, JITTER)  # variance given the values at the basis
        variance = max(given + q @ h, 0.0)  # given the past
        self._basis = np.vstack([self._basis, row])
        self._kernel = _bordered(self._kernel, k, 1.0 + JITTER)
        u = np.append(q, -1.0)
        self._inverse = _bordered(self._inverse, 0.0 * q, 0.0) + np.outer(u, u) / given
        gain = np.append(h, variance)
        error = y - q @ self._mean
        self._mean = np.append(self._mean, q @ self._mean)
        self._mean += gain * error / (variance + self.noise)
        self._covariance = _bordered(self._covariance, h, variance)
        self._covariance -= np.outer(gain, gain) / (variance + self.noise)
        if given < 10.0 * JITTER:
            self._leave_out(len(self._mean) - 1)
        elif len(self._mean) > self.budget:
            errors = np.abs(self._inverse @ self._mean) / np.diag(self._inverse)
            self._leave_out(int(errors.argmin()))

    def _forget(self) -> None:
        """Move the process back towards its prior."""
        self._mean *= np.sqrt(self.forgetting)
        self._covariance *= self.forgetting
        self._covariance += (1.0 - self.forgetting) * self._kernel

    def _leave_out(self, r: int) -> None:
        """Leave out the r-th input of the basis."""
        others = np.delete(np.arange(len(self._mean)), r)
        column, pivot = self._inverse[others, r], self._inverse[r, r]
        self._inverse = self._inverse[np.ix_(others, others)] - np.outer(column, column) / pivot
        self._basis, self._mean = self._basis[others], self._mean[others]
        self._kernel = self._kernel[np.ix_(others, others)]
        self._covariance = self._covariance[np.ix_(others, others)]


def _bordered(matrix: Array, column: Array, corner: float) -> Array:
    """Return a symmetric matrix with one row and column more."""
    return np.block([[matrix, column[:, None]], [column[None], np.array([[corner]])]])
