"""A function as a sum of kernels at points of the stream."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from iln_stream.learners.checks import require_counts, require_positive
from iln_stream.learners.preprocessing.columns import Columns
from iln_stream.research.related.base import SMALLEST_SCALE, Array, stacked


def gaussian_kernel(X: Array, Y: Array, gamma: float) -> Array:
    """Return exp(-gamma ||X_i - Y_j||^2), shape (n, m), of rows X (n, d) and Y (m, d)."""
    squares = np.vecdot(X, X)[:, None] + np.vecdot(Y, Y)
    k: Array = np.exp(-gamma * np.maximum(squares - 2.0 * (X @ Y.T), 0.0))
    return k


class KernelExpansion:
    """f = s sum_j c_j k(x_j, .) with k(x, x') = exp(-gamma ||x - x'||^2).

    The common scale s makes a decay of all coefficients O(1). Points are in the order of their
    arrival, unless `replace` was called. A later point may have more columns than
    earlier ones, which have zeros there.
    """

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma
        self._X = np.zeros((0, 0))
        self._squares = np.zeros(0)
        self._c = np.zeros(0)
        self._s = 1.0
        self._start = self._stop = 0  # rows in use

    def __len__(self) -> int:
        return self._stop - self._start

    @property
    def points(self) -> Array:
        """The points x_j, shape (n, d)."""
        return self._X[self._start : self._stop]

    @property
    def coefficients(self) -> Array:
        """The coefficients s c_j, shape (n,)."""
        return self._s * self._c[self._start : self._stop]

    def kernel(self, x: Array) -> Array:
        """Return k(x_j, x) for each point: (n,) for one x (d,), (m, n) for rows x (m, d)."""
        d = min(x.shape[-1], self._X.shape[1])  # the others have no product with a point
        squares = np.vecdot(x, x)[..., None] + self._squares[self._start : self._stop]
        distances = squares - 2.0 * (x[..., :d] @ self.points[:, :d].T)
        k: Array = np.exp(-self.gamma * np.maximum(distances, 0.0))
        return k

    def __call__(self, x: Array) -> float:
        """Return f(x)."""
        return float(self.kernel(x) @ self._c[self._start : self._stop]) * self._s

    def many(self, X: Array, block: int = 1000) -> Array:
        """Return f of each row of X (m, d), `block` rows at a time to bound memory."""
        parts = [self.kernel(X[i : i + block]) @ self.coefficients for i in range(0, len(X), block)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def scale(self, factor: float) -> None:
        """Multiply f by a factor; 0 also drops all points."""
        if factor == 0.0:
            self._start = self._stop = 0
            self._s = 1.0
            return
        self._s *= factor
        if self._s < SMALLEST_SCALE:
            self.set_coefficients(self.coefficients)

    def append(self, x: Array, c: float) -> None:
        """Add c k(x, .) to f."""
        self._make_room(len(x))
        self._stop += 1
        self.replace(len(self) - 1, x, c)

    def replace(self, j: int, x: Array, c: float) -> None:
        """Put c k(x, .) in the place of term j."""
        i = self._start + j
        self._X[i] = 0.0
        self._X[i, : len(x)] = x
        self._squares[i] = x @ x
        self._c[i] = c / self._s

    def remove(self, j: int) -> None:
        """Drop term j; the others keep their order."""
        i, self._stop = self._start + j, self._stop - 1
        for array in (self._X, self._squares, self._c):
            array[i : self._stop] = array[i + 1 : self._stop + 1]

    def remove_oldest(self) -> None:
        """Drop the first term; the others keep their order."""
        self._start += 1

    def set_coefficients(self, c: Array) -> None:
        """Set all coefficients, shape (n,)."""
        self._c[self._start : self._stop] = c
        self._s = 1.0

    def _make_room(self, d: int) -> None:
        """Make room for one point of d columns; the amortised cost of appending is O(d)."""
        n, rows, columns = len(self), len(self._c), self._X.shape[1]
        if self._stop < rows and d <= columns:
            return
        room = max(2 * n, 8) if self._stop == rows else rows
        X = np.zeros((room, max(d, columns)))
        X[:n, :columns] = self.points
        squares, c = np.zeros(room), np.zeros(room)
        squares[:n] = self._squares[self._start : self._stop]
        c[:n] = self._c[self._start : self._stop]
        self._X, self._squares, self._c = X, squares, c
        self._start, self._stop = 0, n


class KernelModel:
    """Predicts by f, a sum of Gaussian kernels at support vectors.

    Inputs that an event lacks are 0, as in River's linear models; each new name becomes a column.

    Parameters
    ----------
    gamma
        Inverse squared width of the kernel exp(-gamma ||x - x'||^2).
    max_columns
        The most input names that get a column; inputs of later names are left out, with a warning.

    """

    def __init__(self, gamma: float, max_columns: int) -> None:
        require_positive(gamma=gamma)
        require_counts(max_columns=max_columns)
        self.gamma = gamma
        self.max_columns = max_columns
        self._columns = Columns(max_columns)
        self._f = KernelExpansion(gamma)

    @property
    def n_support(self) -> int:
        """The number of support vectors."""
        return len(self._f)

    def decision_one(self, x: Mapping[Any, float]) -> float:
        """Return f(x)."""
        return self._f(self._columns.row(x))

    def decision_many(self, xs: Iterable[Mapping[Any, float]]) -> Array:
        """Return f of several inputs, faster than one by one."""
        return self._f.many(stacked([self._columns.row(x) for x in xs]))
