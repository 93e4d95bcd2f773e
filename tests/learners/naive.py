"""Algorithms 1 and 2 as the paper writes them, one scalar at a time.

With the errata: alpha_t = +eta (y_t - E_t). Shares nothing with the package but the family, and
takes its draws from outside so that two implementations can be compared in value.
"""

from collections.abc import Callable
from typing import Any

import numpy as np


def naive_estimate(
    alpha: list[float],
    X: list[np.ndarray],
    x: np.ndarray,
    m: int,
    psi: Callable[[np.ndarray, Any], float],
    draw: Callable[[], tuple[float, Any]],
) -> float:
    """Algorithm 2; `draw` gives (u, w): u ~ U[0, 1) chooses i, w ~ mu."""
    norm = sum(abs(a) for a in alpha)
    if norm == 0:
        return 0.0
    total = 0.0
    for _ in range(m):
        u, w = draw()
        i, cumulated = 0, abs(alpha[0])
        while cumulated <= u * norm and i < len(alpha) - 1:
            i += 1
            cumulated += abs(alpha[i])
        sign = (alpha[i] > 0) - (alpha[i] < 0)
        total += norm * sign * psi(X[i], w) * psi(x, w)
    return total / m


def naive_run(
    events: list[tuple[np.ndarray, float]],
    estimate: Callable[[int, list[float], list[np.ndarray], np.ndarray], float],
    B: float,
    eta: Callable[[int], float],
) -> tuple[list[float], list[float], int]:
    """Algorithm 1; returns the E_t, the final alpha and the number of shrinks."""
    alpha: list[float] = []
    X: list[np.ndarray] = []
    estimates, shrinks = [], 0
    for t, (x, y) in enumerate(events, start=1):
        E = estimate(t, alpha, X, x)
        estimates.append(E)
        if abs(E) < 16 * B:
            alpha.append(float(eta(t) * (y - E)))
            X.append(x)
        else:
            alpha = [a / 4 for a in alpha]
            shrinks += 1
    return estimates, alpha, shrinks
