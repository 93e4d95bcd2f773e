"""f_t as one layer of finitely many units."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import Features
from iln_stream.learners.estimators.support import Support

_SIZE = 1024

_LATEST = 100


class HiddenLayer(NamedTuple):
    """The function x -> (1/R) sum_r theta_r psi(x; w_r).

    Parameters
    ----------
    family
        The family of psi.
    w
        R draws from it.
    theta
        Shape (R,).
    fresh
        Whether w was drawn independently of f, so that the function is f in expectation and the
        spread of its terms gives its error. If not, the function is f itself.
    points
        Latest support points, shape (n, d), at which to evaluate it.

    """

    family: Features[Any]
    w: Any
    theta: NDArray[np.float64]
    fresh: bool
    points: NDArray[np.float64]


def of_support(
    support: Support, family: Features[Any], size: int | None, d: int, rng: np.random.Generator
) -> HiddenLayer:
    """Return R fresh units with theta_r = sum_i alpha_i psi(x_i; w_r), in O(n R d) time."""
    size = _SIZE if size is None else size
    if size < 2 or size != int(size):
        raise ValueError(f"size = {size!r} must be a whole number of units, at least 2")
    w = family.draw(size, d, rng)
    theta = np.zeros(size)
    X = support.rows(d)
    for x, alpha in zip(X, support.alpha, strict=True):
        theta += alpha * family.psi(x, w)
    return HiddenLayer(family, w, theta, True, X[-_LATEST:].copy())
