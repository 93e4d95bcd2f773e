"""Ridge regression on cosine units that gradients move."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from iln_stream.features.base import Array

MEMORY = 2048
"""Events that gradients and refits draw on: as many as `RandomFeatureRidge` redraws from."""

BATCH = 16
REFIT = 32
BANDWIDTH, PENALTY = 0.7, 0.1
"""Units begin with omega ~ N(0, 2 BANDWIDTH / d I), the prior of `RandomFeatureRidge`; and the
penalty on ||theta||^2."""

RATE, FIRST_DECAY, SECOND_DECAY = 0.01, 0.9, 0.999


class MovedUnits:
    """f(x) = theta.phi(x), phi: R cosines, the inputs and 1; both theta and the cosines learn.

    theta is the ridge solution on the last `MEMORY` events, refitted at every `REFIT`-th one. At
    every event Adam [1]_ takes a step on the frequencies and phases, with theta held fixed, for the
    squared error on the event and on draws from these events: a gradient flow of mu, sampled by R
    units [2]_. Clear rather than fast.

    Parameters
    ----------
    d
        Number of inputs, of unit variance.
    n_units
        R.
    moves
        Whether units move; if not, only theta learns.
    seed
        Of the first units and of the draws.

    References
    ----------
    .. [1] D. Kingma, J. Ba. Adam: A Method for Stochastic Optimization. ICLR 2015.
    .. [2] L. Chizat, F. Bach. On the Global Convergence of Gradient Descent for Over-parameterized
       Models using Optimal Transport. NeurIPS 2018.

    """

    def __init__(self, d: int, n_units: int, moves: bool = True, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        omega = self._rng.normal(0.0, math.sqrt(2.0 * BANDWIDTH / d), (d, n_units))
        phase = self._rng.uniform(0.0, 2.0 * math.pi, n_units)
        self.units: Array = np.vstack([omega, phase])  # (d + 1, R)
        self.theta: Array = np.zeros(n_units + d + 1)
        self._moves = moves
        self._scale = math.sqrt(2.0 / n_units)
        self._moments = np.zeros((2, *self.units.shape))
        self._X = np.ones((MEMORY, d + 1))  # the last column is 1, for phases
        self._y = np.zeros(MEMORY)
        self.n = 0

    def features(self, X: Array) -> Array:
        """Return phi of rows (n, d + 1) that end with 1, (n, R + d + 1)."""
        return np.hstack([self._scale * np.cos(X @ self.units), X])

    def predict_one(self, x: Mapping[int, float]) -> float:
        """Return f at x, whose d inputs are in order."""
        return float((self.features(np.array([[*x.values(), 1.0]])) @ self.theta)[0])

    def learn_one(self, x: Mapping[int, float], y: float) -> None:
        """Learn an event."""
        k = self.n % MEMORY
        self._X[k, :-1], self._y[k] = list(x.values()), y
        self.n += 1
        if self._moves and self.n > BATCH:
            self._move(np.append(self._rng.integers(min(self.n, MEMORY), size=BATCH - 1), k))
        if self.n % REFIT == 0:
            self._refit()

    def gradient(self, X: Array, y: Array) -> Array:
        """Return the gradient of half the mean squared error in the units, (d + 1, R)."""
        R = self.units.shape[1]
        error = self.features(X) @ self.theta - y
        sines = -self._scale * np.sin(X @ self.units) * self.theta[:R]
        return np.asarray(X.T @ (error[:, None] * sines) / len(y))

    def _move(self, rows: NDArray[np.intp]) -> None:
        step = self.n - BATCH
        gradient = self.gradient(self._X[rows], self._y[rows])
        first, second = self._moments
        first += (1 - FIRST_DECAY) * (gradient - first)
        second += (1 - SECOND_DECAY) * (gradient**2 - second)
        mean = first / (1 - FIRST_DECAY**step)
        square = second / (1 - SECOND_DECAY**step)
        self.units -= RATE * mean / (np.sqrt(square) + 1e-8)

    def _refit(self) -> None:
        n = min(self.n, MEMORY)
        phi = self.features(self._X[:n])
        gram = phi.T @ phi + PENALTY * np.eye(phi.shape[1])
        self.theta = np.asarray(np.linalg.solve(gram, phi.T @ self._y[:n]), dtype=float)
