"""Learners of an infinite layer of coordinates, psi(x; w) = x_w, for several steps eta at once.

The kernel is x.x' / D, so f_t is a vector theta with f_t(x) = theta.x, and its loss is exact. Each
learner returns a `StepRuns`: at every event f_t(x_t), and E_t, by which it learns.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from iln_stream.features.base import Array


class StepRuns(NamedTuple):
    """A pass over T events at each of n steps."""

    f: Array  # f_t(x_t), (n, T)
    E: Array  # the estimates of it by which the learner learned, (n, T)
    # psi, draws: evaluations of psi and draws of w in the pass
    psi: int
    draws: int
    # how often each step's run shrank; None: the learner never shrinks
    n_shrinks: NDArray[np.int64] | None = None


Learner = Callable[[Array, Array, int, Array, Generator], StepRuns]
"""(X (T, D), y (T,), units, etas (n,), rng) -> Run."""


def _gradient_steps(phi: Array, psi: Array, y: Array, etas: Array) -> Array:
    """Return f_t(x_t) = theta_t.phi_t, (n, T), for gradient steps eta (y_t - f_t(x_t)) psi_t."""
    theta = np.zeros((len(etas), phi.shape[1]))
    f = np.zeros((len(etas), len(y)))
    for t in range(len(y)):
        f[:, t] = theta @ phi[t]
        theta += np.outer(etas * (y[t] - f[:, t]), psi[t])
    return f


def shrinking_gradient(X: Array, y: Array, m: int, etas: Array, rng: Generator) -> StepRuns:
    """Algorithms 1 and 2 with m draws an event, and B = eta sqrt(T)."""
    T, D = X.shape
    alpha = np.zeros((len(etas), T))
    theta = np.zeros((len(etas), D))
    f, E = np.zeros((2, len(etas), T))
    n_shrinks = np.zeros(len(etas), np.int64)
    for t in range(T):
        f[:, t] = theta @ X[t]
        u, w = rng.random(m), rng.integers(D, size=m)
        E[:, t] = [_est_scalar_prod(a[:t], X, X[t], u, w) for a in alpha]
        shrinks = np.abs(E[:, t]) >= 16 * etas * np.sqrt(T)
        n_shrinks += shrinks
        step = np.where(shrinks, 0.0, etas * (y[t] - E[:, t]))
        alpha[shrinks] /= 4
        theta[shrinks] /= 4
        alpha[:, t] = step
        theta += np.outer(step, X[t] / D)
    return StepRuns(f, E, 2 * m * T, m * T, n_shrinks)


def _est_scalar_prod(alpha: Array, X: Array, x: Array, u: Array, w: NDArray[np.int64]) -> float:
    """Return Algorithm 2's estimate from the shares u of ||alpha||_1 and the coordinates w."""
    cumulated = np.cumsum(np.abs(alpha))
    if not len(alpha) or cumulated[-1] == 0.0:
        return 0.0
    i = np.minimum(np.searchsorted(cumulated, u * cumulated[-1], side="right"), len(alpha) - 1)
    return float(cumulated[-1] * np.mean(np.sign(alpha[i]) * X[i, w] * x[w]))


def full_sums(X: Array, y: Array, R: int, etas: Array, rng: Generator) -> StepRuns:
    """Algorithm 1 with R fresh units an event, each summed over the whole support."""
    T, D = X.shape
    theta = np.zeros((len(etas), D))
    f, E = np.zeros((2, len(etas), T))
    n_shrinks = np.zeros(len(etas), np.int64)
    for t in range(T):
        f[:, t] = theta @ X[t]
        w = rng.integers(D, size=R)
        E[:, t] = D * np.mean(theta[:, w] * X[t, w], axis=1)
        shrinks = np.abs(E[:, t]) >= 16 * etas * np.sqrt(T)
        n_shrinks += shrinks
        theta[shrinks] /= 4
        theta += np.outer(np.where(shrinks, 0.0, etas * (y[t] - E[:, t])), X[t] / D)
    return StepRuns(f, E, R * T * (T + 1) // 2, R * T, n_shrinks)


def doubly_stochastic(X: Array, y: Array, k: int, etas: Array, rng: Generator) -> StepRuns:
    """Dai et al.: every event adds k units of its own, whose weights stay; f_t is known exactly."""
    T, D = X.shape
    shares = [np.bincount(rng.integers(D, size=k), minlength=D) / k for _ in range(T)]
    f = _gradient_steps(X, np.array(shares) * X, y, etas)
    return StepRuns(f, f, k * T * (T + 1) // 2, k * T)


def fixed_random(X: Array, y: Array, r: int, etas: Array, rng: Generator) -> StepRuns:
    """Gradient descent on r units, drawn once."""
    T, D = X.shape
    psi = X[:, rng.integers(D, size=r)]
    f = _gradient_steps(psi / r, psi, y, etas)
    return StepRuns(f, f, r * T, r)


def exact(X: Array, y: Array, units: int, etas: Array, rng: Generator) -> StepRuns:
    """Algorithm 1 with f_t(x_t) itself for E_t: the kernel; `units` and `rng` are unused."""
    f = _gradient_steps(X, X / X.shape[1], y, etas)
    return StepRuns(f, f, 0, 0)
