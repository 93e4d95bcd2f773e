"""How much faster `learn_many` is than a loop of `predict_one` and `learn_one`.

Usage: python -m benchmarks.tables [--rows 20000] [--inputs 10] [--rounds 7]

Each round times all ways on the same rows, in turn; a ratio is the median of the rounds'. The loop
takes its events from a list of dicts that is made before, or, as `iter_frame`, from the table.
"""

import argparse
import statistics
from collections.abc import Callable, Iterable
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from river import stream

from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor


def table(n: int, d: int) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, d))
    y = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2 + rng.normal(size=n)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(d)]), pd.Series(y)


def seconds(work: Callable[[], Any]) -> float:
    started = process_time()
    work()
    return process_time() - started


def loop(learner: Any, events: Iterable[tuple[Any, float]]) -> None:
    for x, y in events:
        learner.predict_one(x)
        learner.learn_one(x, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--inputs", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    X, y = table(options.rows, options.inputs)
    events = list(zip(X.to_dict("records"), y.tolist(), strict=True))
    one, from_table, many = (InfiniteLayerRegressor("fast", seed=1) for _ in range(3))
    ways: dict[str, Callable[[], Any]] = {
        "loop over dicts": lambda: loop(one, events),
        "loop over iter_frame": lambda: loop(from_table, stream.iter_frame(X, y)),
        "learn_many": lambda: many.learn_many(X, y),
        "predict_many": lambda: many.predict_many(X),
    }
    for work in ways.values():
        work()  # compiles, and takes all to the same state
    rounds = [{way: seconds(work) for way, work in ways.items()} for _ in range(options.rounds)]
    for way in ways:
        each = statistics.median(1e6 * times[way] / options.rows for times in rounds)
        ratio = statistics.median(times[way] / times["learn_many"] for times in rounds)
        print(f"{way:22} {each:6.2f} us a row, {ratio:5.2f} times learn_many")


if __name__ == "__main__":
    main()
