"""Rounding error of the pool's weights after many events.

theta_r = sum_i alpha_i psi(x_i; w_r) is updated event by event, with psi in single precision; here
it is recomputed in double precision from the logged alphas. The goal is a relative error (largest
difference over largest weight) of 1e-5 after a million events.

Usage: python benchmarks/theta.py [--events 1000000]
"""

import argparse
import itertools
from dataclasses import replace
from time import perf_counter

import numpy as np

from iln_stream.features import Features, GaussianFourier, LaplacianFourier, Tanh
from iln_stream.learners.estimators.pool import Pool
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

R, D, STEP = 512, 10, 0.5
NAMES = [f"x{j}" for j in range(D)]
AT_ONCE = 10_000


def events(n, seed):
    """Smooth in two of ten columns, with noise."""
    rng = np.random.default_rng(seed)
    for _ in range(0, n, AT_ONCE):
        X = rng.standard_normal((AT_ONCE, D))
        Y = 0.7 * np.sin(X[:, 0] + X[:, 1]) + 0.2 * rng.standard_normal(AT_ONCE)
        yield from zip(X, np.clip(Y, -1.0, 1.0), strict=True)


def relative_error(family: Features, n: int, norm_bound: float) -> tuple[float, int, float]:
    """Return the error, the number of shrinks, and ||alpha||_1 at the end."""
    model = ShrinkingGradient(family, estimator=Pool(R), norm_bound=norm_bound, step=STEP, seed=1)
    X, alpha, n_shrinks = np.empty((n, D)), np.empty(n), np.empty(n)
    for t, (x, y) in enumerate(itertools.islice(events(n, seed=2), n)):
        model.learn_one(dict(zip(NAMES, x.tolist(), strict=True)), float(y))
        update = model.last_update
        X[t] = x
        alpha[t] = 0.0 if update.shrunk else STEP * (update.y - update.estimate.value)
        n_shrinks[t] = model.n_shrinks
    alpha *= 0.25 ** (model.n_shrinks - n_shrinks)

    layer, _ = model.finite_layer()
    theta = np.zeros(R)
    for k in range(0, n, AT_ONCE):
        rows = slice(k, k + AT_ONCE)
        theta += alpha[rows] @ replace(layer, weights=np.ones(R)).terms(X[rows])
    error = np.abs(R * layer.weights - theta).max() / np.abs(theta).max()
    return float(error), model.n_shrinks, model.alpha_l1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    n = parser.parse_args().events
    for family, norm_bound in (
        (GaussianFourier(), 1.0),
        (GaussianFourier(), 0.05),
        (LaplacianFourier(), 1.0),
        (Tanh(), 1.0),
    ):
        started = perf_counter()
        error, n_shrinks, alpha_l1 = relative_error(family, n, norm_bound)
        print(
            f"{type(family).__name__:16} {n:,} events, {n_shrinks} shrinks, ||alpha||_1 = "
            f"{alpha_l1:.3g}: relative error of theta {error:.1e} (goal 1e-5)  "
            f"[{perf_counter() - started:.0f} s]",
            flush=True,
        )


if __name__ == "__main__":
    main()
