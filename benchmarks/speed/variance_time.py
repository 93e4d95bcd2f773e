"""Variance times time of an estimate, for each estimator on one f."""

import numpy as np

from iln_stream.features import GaussianFourier
from iln_stream.learners.estimators import Estimator

from .candidates import Rows, candidates, grown, points
from .cells import estimating
from .clock import medians, side_by_side
from .effort import Effort
from .findings import Cell, Findings

WIDTH, SUPPORT = 10, 1_000
DRAWS = 200, 1_000


def measure(effort: Effort) -> list[Findings]:
    """Mean square error against the kernel's value, time, and their product."""
    X, alpha = learned(SUPPORT, WIDTH)
    x_new, _ = points(effort.replicates, WIDTH, seed=1)
    kernel = GaussianFourier().kernel
    exact = np.array([alpha @ kernel(X, x) for x in x_new])
    rows: list[dict[str, Cell]] = []
    reference = None
    for m in DRAWS:
        calls = {
            name: estimating(grown(estimator, m, X, alpha), X) for name, estimator in candidates(m)
        }
        times = medians(side_by_side(calls, effort.rounds, effort.block))
        for name, estimator in candidates(m):
            error = squared_error(estimator, m, X, alpha, x_new, exact, effort.replicates)
            product = 1e6 * times[name] * error
            reference = reference or product
            rows.append(
                {"estimator": name, "m": m, "µs": 1e6 * times[name], "variance": error}
                | {"variance × µs": product, "relative": product / reference}
            )
    note = (
        f"f of {SUPPORT:,} points learned by exact steps, d = {WIDTH}: ||alpha||_1 = "
        f"{np.abs(alpha).sum():.1f}, rms of f {np.sqrt(np.mean(exact**2)):.2f}. variance: mean "
        f"square error over {effort.replicates} seeds and as many points. relative: to the "
        "first row"
    )
    return [Findings("Variance × time of an estimate", rows, note)]


def learned(n: int, d: int, seed: int = 0) -> tuple[Rows, Rows]:
    """Points and coefficients of Algorithm 1's anytime steps, B = 1, with E exact by the kernel."""
    X, _ = points(n, d, seed)
    y = np.tanh(np.sin(X[:, 0]) + 0.5 * X[:, 1] * np.cos(X[:, 2]))
    kernel, alpha = GaussianFourier().kernel, np.zeros(n)
    for t, x in enumerate(X):
        alpha[t] = (y[t] - alpha[:t] @ kernel(X[:t], x)) / np.sqrt(t + 1)
    return X, alpha


def squared_error(
    estimator: Estimator,
    m: int,
    X: Rows,
    alpha: Rows,
    x_new: Rows,
    exact: Rows,
    seeds: int,
) -> float:
    """Mean square of E - f(x) over seeds, events and points; of kept features: over seeds."""
    errors = []
    for seed in range(seeds):
        f = grown(estimator, m, X, alpha, seed)
        errors.append([f.estimate(x, t).value for t, x in enumerate(x_new)] - exact)
    return float(np.mean(np.square(errors)))
