"""Time of an explanation with ten inputs: `explain_one` of each learner, the best of 30 calls.

PYTHONPATH=. python -m benchmarks.explanations
"""

from time import perf_counter
from typing import Any

import numpy as np

from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor

EVENTS = 3_000
CALLS = 30

LEARNERS: dict[str, Any] = {
    "fast": InfiniteLayerRegressor("fast", seed=1),
    "accurate": InfiniteLayerRegressor(seed=1),
    "classifier": InfiniteLayerClassifier(seed=1),
}


def main() -> None:
    rng = np.random.default_rng(0)
    for name, learner in LEARNERS.items():
        for row in rng.normal(size=(EVENTS, 10)).tolist():
            x = {f"x{j}": value for j, value in enumerate(row)}
            y = float(np.sin(row[0]) + row[1] * row[2])
            learner.learn_one(x, y > 0 if name == "classifier" else y)
        seconds = []
        for _ in range(CALLS):
            begun = perf_counter()
            learner.explain_one(x)
            seconds.append(perf_counter() - begun)
        best, median = 1e3 * min(seconds), 1e3 * float(np.median(seconds))
        print(f"{name:12} {best:6.1f} ms, median {median:.1f} ms")


if __name__ == "__main__":
    main()
