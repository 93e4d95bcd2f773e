"""How soon learners recover from changes of level and scale: `python benchmarks/changes.py`.

A learner learns n events of a smooth target with noise. Copies of it then go on where the target,
one input or all inputs have another level or scale. Printed are their mean errors in events 300 to
599 after the change, over that in the last 1,000 events before, in units of the new target.
"""

import copy
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from iln_stream.errors import IlnWarning
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor

Array = NDArray[np.float64]

LEARNERS: dict[str, Callable[[], Any]] = {
    "accurate": lambda: InfiniteLayerRegressor("accurate", seed=1),
    "fast": lambda: InfiniteLayerRegressor("fast", seed=1),
    "ridge": lambda: RandomFeatureRidge(seed=1),
}

D, AFTER, NOISE = 5, 600, 0.1

CHANGES = {
    "none": (0.0, 1.0),
    "+5": (5.0, 1.0),
    "+50": (50.0, 1.0),
    "+1e6": (1e6, 1.0),
    "x100": (0.0, 100.0),
    "x.01": (0.0, 0.01),
}


def events(n: int) -> tuple[Array, Array]:
    """Return rows (n, 5) and targets (n,) with mean 0 and sd 1."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, D))
    y = 2.0 * X[:, 0] - X[:, 1] + 1.5 * np.sin(2.0 * X[:, 2]) + X[:, 3] * X[:, 4]
    return X, y / 2.67 + NOISE * rng.normal(size=n)


def errors(learner: Any, X: Array, y: Array) -> Array:
    """Return the absolute errors of predictions made before each event was learned."""
    found = np.empty(len(y))
    for i, (row, target) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        x = {f"x{j}": value for j, value in enumerate(row)}
        found[i] = abs(learner.predict_one(x) - target)
        learner.learn_one(x, target)
    return found


def main(
    learner: Annotated[list[str], typer.Option(help="Of accurate, fast and ridge.")] = ["fast"],  # noqa: B006
    n: Annotated[list[int], typer.Option(help="Events before the change.")] = [1_000, 10_000],  # noqa: B006
) -> None:
    """Print a line for each learner, number of events and place of the change."""
    warnings.simplefilter("ignore", IlnWarning)
    X, y = events(max(n) + AFTER)
    for name in learner:
        taught, at = LEARNERS[name](), 0
        for end in sorted(n):
            before = errors(taught, X[at:end], y[at:end])[-1_000:].mean()
            at, rows, targets = end, X[end : end + AFTER], y[end : end + AFTER]
            for where, columns in (("target", []), ("x0", [0]), ("inputs", list(range(D)))):
                cells = []
                for change, (level, scale) in CHANGES.items():
                    moved, unit, goal = rows.copy(), 1.0, targets
                    if columns:
                        moved[:, columns] = level + scale * rows[:, columns]
                    else:
                        goal, unit = level + scale * targets, scale
                    after = errors(copy.deepcopy(taught), moved, goal)[300:].mean()
                    cells.append(f"{change} {after / before / unit:.2f}")
                print(f"{name}, {where} after {end}: {', '.join(cells)}", flush=True)


if __name__ == "__main__":
    typer.run(main)
