"""What intervals gain whose width follows the inputs: `python -m benchmarks.interval_widths`.

Interval scores at 90 % and coverage, after the first thousand events, of the default learner with
and without the two experts that scale errors by what is expected at the inputs.
"""

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.infinite_layer.intervals import Intervals
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor

FIRST, LEVEL = 1_000, 0.9
Matrix = NDArray[np.float64]


def _equal(X: Matrix, rng: np.random.Generator) -> Matrix:
    return np.sin(2 * X[:, 1]) + X[:, 2] + 0.3 * rng.normal(size=len(X))


def _by_side(X: Matrix, rng: np.random.Generator) -> Matrix:
    sd = np.where(X[:, 0] > 0, 1.0, 0.1)
    return np.sin(2 * X[:, 1]) + X[:, 2] + sd * rng.normal(size=len(X))


def _by_product(X: Matrix, rng: np.random.Generator) -> Matrix:
    product = X[:, 0] * X[:, 1]
    return 2 * product + X[:, 2] + (0.05 + abs(product)) * rng.standard_t(4, size=len(X))


def _skewed_if_rare(X: Matrix, rng: np.random.Generator) -> Matrix:
    X[:, 0] = rng.random(len(X)) < 0.1
    quiet, loud = 0.2 * rng.normal(size=len(X)), 3 * rng.exponential(size=len(X))
    return X[:, 1] + np.where(X[:, 0] > 0, loud, quiet)


STREAMS: dict[str, Callable[[Matrix, np.random.Generator], Matrix]] = {
    "equal everywhere": _equal,
    "by the sign of an input": _by_side,
    "by a product, heavy-tailed": _by_product,
    "skewed where an indicator is 1": _skewed_if_rare,
}


def scores(name: str, n: int, *, scaled: bool) -> tuple[float, float]:
    """Return the mean interval score and the coverage on a stream of n events."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 5))
    targets = STREAMS[name](X, rng).tolist()
    model = InfiniteLayerRegressor(seed=1)
    if not scaled:
        model._engine.intervals = Intervals()
    score = held = 0.0
    for t, (row, y) in enumerate(zip(X.tolist(), targets, strict=True)):
        x = dict(enumerate(row))
        if t >= FIRST:
            low, high = model.predict_interval(x, LEVEL)
            score += high - low + 2 / (1 - LEVEL) * max(low - y, y - high, 0.0)
            held += low <= y <= high
        model.learn_one(x, y)
    return score / (n - FIRST), held / (n - FIRST)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interval_widths")
    parser.add_argument("--events", type=int, default=10_000)
    n = parser.parse_args().events
    print("| noise | one width: score | coverage | by inputs: score | coverage |")
    print("|---|--:|--:|--:|--:|")
    for name in STREAMS:
        plain, scaled = (scores(name, n, scaled=which) for which in (False, True))
        print(
            f"| {name} | {plain[0]:.3f} | {plain[1]:.3f} | {scaled[0]:.3f} | {scaled[1]:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
