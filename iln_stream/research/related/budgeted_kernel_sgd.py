r"""Making a kernel expansion one term shorter while changing f little [^1].

Each function returns the squared degradation $\|\Delta\|^2$, the squared distance in the
kernel's space between f before and after.

References
----------
[^1]: Z. Wang, K. Crammer, S. Vucetic. Breaking the Curse of Kernelization: Budgeted Stochastic
Gradient Descent for Large-Scale SVM Training. JMLR 13, 2012.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from iln_stream.learners.checks import require_choice, require_counts
from iln_stream.research.related.base import Array
from iln_stream.research.related.kernel_expansion import KernelExpansion, gaussian_kernel
from iln_stream.research.related.kernel_pegasos import KernelPegasos

_JITTER = 1e-10
"""Added to the Gram matrix's diagonal, so that repeated points leave it invertible."""

_GRID = np.linspace(0.0, 1.0, 21)
_GOLDEN = (5**0.5 - 1) / 2
_ROUNDING = 1e-9


def smallest(c: Array) -> int:
    """Return the first index of the smallest coefficient, equal ones up to rounding alike.

    All coefficients of Pegasos are 1 / (lam t). Were ties left to rounding, or to the last, the
    newest term could be dropped at every step, and f would learn nothing more.
    """
    sizes = np.abs(c)
    return int(np.argmax(sizes <= (1.0 + _ROUNDING) * sizes.min()))


def remove_smallest(f: KernelExpansion) -> float:
    """Drop the term with the smallest coefficient (as k(x, x) = 1), of several the oldest."""
    c = f.coefficients
    p = smallest(c)
    f.remove(p)
    return float(c[p] ** 2)


def project(f: KernelExpansion) -> float:
    r"""Drop one term and move its share onto the others by least squares: projection.

    With K the Gram matrix, dropping term p leaves $\|\Delta\|^2 = \alpha_p^2 / (K^{-1})_{pp}$ when
    the others take up $\Delta\alpha = K_{-p,-p}^{-1} k_p \alpha_p = -\alpha_p (K^{-1})_{-p,p} /
    (K^{-1})_{pp}$. The term with the least degradation goes. O(n^3).
    """
    alpha = f.coefficients
    K = gaussian_kernel(f.points, f.points, f.gamma)
    inverse = np.linalg.inv(K + _JITTER * np.eye(len(f)))
    degradations = alpha**2 / np.diag(inverse)
    p = int(np.argmin(degradations))
    f.set_coefficients(alpha - inverse[:, p] * (alpha[p] / inverse[p, p]))
    f.remove(p)
    return float(degradations[p])


def merge(f: KernelExpansion) -> float:
    r"""Replace two terms of the same sign by one at a point between them: merging.

    The term m with the smallest coefficient is merged with the term n that costs least. The new
    point $z = h x_m + (1 - h) x_n$ and coefficient $\alpha_z = \alpha_m k(x_m, z) + \alpha_n k(x_n,
    z)$ are the best ones: with $\kappa = k(x_m, x_n)$, $h$ maximises $|\alpha_m \kappa^{(1-h)^2} +
    \alpha_n \kappa^{h^2}|$, and $\|\Delta\|^2 = \alpha_m^2 + \alpha_n^2 + 2 \alpha_m \alpha_n
    \kappa - \alpha_z^2$. Each partner's h is found on a grid, and refined by a golden section. A
    term without a partner of its sign is removed.
    """
    c = f.coefficients
    m = smallest(c)
    partners = np.flatnonzero((c * c[m] > 0.0) & (np.arange(len(c)) != m))
    if not len(partners):
        return remove_smallest(f)
    log_kappa = np.log(np.maximum(f.kernel(f.points[m])[partners], 1e-300))
    a_m, a_n = abs(c[m]), np.abs(c[partners])
    on_grid = _merged(a_m, a_n[:, None], log_kappa[:, None], _GRID)
    h = _maximise(lambda h: _merged(a_m, a_n, log_kappa, h), _GRID[np.argmax(on_grid, axis=1)])
    a_z = _merged(a_m, a_n, log_kappa, h)
    costs = a_m**2 + a_n**2 + 2 * a_m * a_n * np.exp(log_kappa) - a_z**2
    best = int(np.argmin(costs))
    n = int(partners[best])
    z = h[best] * f.points[m] + (1.0 - h[best]) * f.points[n]
    f.replace(n, z, float(np.sign(c[m]) * a_z[best]))
    f.remove(m)
    return float(max(costs[best], 0.0))


def _merged(a_m: float, a_n: Array, log_kappa: Array, h: Array | float) -> Array:
    """Return |alpha_z| for the point that h describes."""
    merged: Array = a_m * np.exp(log_kappa * (1 - h) ** 2) + a_n * np.exp(log_kappa * h**2)
    return merged


def _maximise(value: Callable[[Array], Array], near: Array) -> Array:
    """Return the maximisers by golden sections, within a step of the grid around `near`."""
    low, high = np.maximum(near - _GRID[1], 0.0), np.minimum(near + _GRID[1], 1.0)
    for _ in range(24):  # 2 * 0.05 * _GOLDEN^24 < 1e-6
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        rises = value(left) < value(right)
        low, high = np.where(rises, left, low), np.where(rises, high, right)
    middle: Array = (low + high) / 2
    return middle


_MAINTENANCE: dict[str, Callable[[KernelExpansion], float]] = {
    "projection": project,
    "merging": merge,
}


class BudgetedKernelSGD(KernelPegasos):
    r"""Support vector machine with a Gaussian kernel and at most B support vectors (BSGD).

    Takes the steps of `KernelPegasos`, one an event, and whenever there are more than B support
    vectors, makes f one term shorter [^1]. Memory and the time of an event are bounded:

    - "projection" drops the one that costs least when the others take up its share by least
      squares, O(B^3), because the Gram matrix is inverted anew;
    - "merging" replaces the one with the smallest coefficient and another of its class by one
      between them, O(B d).

    `degradation` is the source's mean $\bar E$ of $\|\Delta_t\| / \eta_t$ over the steps, which
    bounds how far the result is from the optimum (its Theorem 1).

    Parameters
    ----------
    lam
        $\lambda$ of the objective, the strength of the regularisation.
    gamma
        Inverse squared width of the kernel exp(-gamma ||x - x'||^2).
    budget
        B, the most support points.
    maintenance
        "projection" or "merging".
    max_columns
        The most input names that get a column; inputs of later names are left out, with a warning.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from iln_stream.research.related import BudgetedKernelSGD

    >>> model = preprocessing.StandardScaler() | BudgetedKernelSGD(lam=0.01, budget=50)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 8...%
    >>> model["BudgetedKernelSGD"].n_support
    50

    References
    ----------
    [^1]: Z. Wang, K. Crammer, S. Vucetic. Breaking the Curse of Kernelization: Budgeted Stochastic
    Gradient Descent for Large-Scale SVM Training. JMLR 13, 2012.

    """

    def __init__(
        self,
        lam: float = 1e-3,
        gamma: float = 0.1,
        budget: int = 200,
        maintenance: str = "merging",
        max_columns: int = 10_000,
    ) -> None:
        super().__init__(lam, gamma, max_columns=max_columns)
        require_counts(budget=budget)
        require_choice(tuple(_MAINTENANCE), maintenance=maintenance)
        self.budget = budget
        self.maintenance = maintenance
        self._sum_of_errors = 0.0

    @property
    def degradation(self) -> float:
        """Mean of ||Delta_t|| / eta_t over the steps."""
        return self._sum_of_errors / max(self._n_seen, 1)

    def _step(self, t: int) -> None:
        super()._step(t)
        while len(self._f) > self.budget:
            squared = _MAINTENANCE[self.maintenance](self._f)
            self._sum_of_errors += squared**0.5 * self.lam * t

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        for maintenance in _MAINTENANCE:
            yield {"budget": 20, "maintenance": maintenance}
