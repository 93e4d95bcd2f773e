"""What a challenger costs beside its learner, in microseconds an event.

Challengers predict a constant and learn nothing, so that nearly all their cost is the contest's.
That of a challenger is the slope between contests of one and of several; the cost of calling such a
learner is subtracted. Medians of alternating rounds, in processor time.

Usage: python -m benchmarks.contest [--events 20000] [--rounds 9] [--json FILE]
"""

import argparse
import json
import random
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from river import base

from iln_stream.learners.contest import ContestClassifier, ContestRegressor
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor

CHALLENGERS = 8


class Constant(base.Regressor):
    """Predicts a constant."""

    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def predict_one(self, x: dict[str, float]) -> float:
        return self.value

    def learn_one(self, x: dict[str, float], y: float) -> None:
        pass


class SideBySide:
    """Learners that predict and learn one after the other, without a contest."""

    def __init__(self, learners: list[Any]) -> None:
        self.learners = learners

    def predict_one(self, x: dict[str, float]) -> float:
        predictions = [each.predict_one(x) for each in self.learners]
        return predictions[0]

    def learn_one(self, x: dict[str, float], y: float) -> None:
        for each in self.learners:
            each.learn_one(x, y)


class ConstantClassifier(base.Classifier):
    """Predicts constant probabilities of two classes."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = p

    @property
    def _multiclass(self) -> bool:
        return True

    def predict_proba_one(self, x: dict[str, float]) -> dict[bool, float]:
        return {False: 1.0 - self.p, True: self.p}

    def learn_one(self, x: dict[str, float], y: bool) -> None:
        pass


def seconds(model: Any, events: list[tuple[Any, Any]]) -> float:
    """Return the time in which a model predicts and learns all events."""
    predict = getattr(model, "predict_proba_one", None) or model.predict_one
    learn = model.learn_one
    started = process_time()
    for x, y in events:
        predict(x)
        learn(x, y)
    return process_time() - started


def alternating(
    makes: dict[str, Callable[[], Any]], events: list[tuple[Any, Any]], rounds: int
) -> dict[str, float]:
    """Return the median microseconds an event of each model."""
    found: dict[str, list[float]] = {name: [] for name in makes}
    for _ in range(rounds):
        for name, make in makes.items():
            found[name].append(1e6 * seconds(make(), events) / len(events))
    return {name: median(values) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()

    draw = random.Random(1).gauss
    names = [f"x{k}" for k in range(10)]
    events = [({k: draw(0, 1) for k in names}, draw(0, 1)) for _ in range(arguments.events)]
    classes = [(x, y > 0.0) for x, y in events]
    results: dict[str, float] = {}
    for task, contest, make, stream in (
        ("regression", ContestRegressor, lambda k: Constant(0.01 * k), events),
        (
            "classification",
            ContestClassifier,
            lambda k: ConstantClassifier(0.5 + 0.01 * k),
            classes,
        ),
    ):

        def contenders(n: int, make: Any = make) -> dict[str, Any]:
            return {f"c{k}": make(k) for k in range(n)}

        makes: dict[str, Callable[[], Any]] = {"alone": lambda make=make: make(0)}
        for promotion in ("never", "evidence"):
            for n in (1, 1 + CHALLENGERS):
                makes[f"{promotion}, {n}"] = lambda n=n, p=promotion, c=contest, of=contenders: c(
                    of(n), promotion=p
                )
        costs = alternating(makes, stream, arguments.rounds)
        results[f"{task}: the contest itself"] = costs["never, 1"] - costs["alone"]
        for promotion in ("never", "evidence"):
            each = (
                costs[f"{promotion}, {1 + CHALLENGERS}"] - costs[f"{promotion}, 1"]
            ) / CHALLENGERS
            results[f"{task}: a challenger, promotion {promotion}"] = each - costs["alone"]

    few = events[: arguments.events // 10]

    def four() -> list[Any]:
        return [InfiniteLayerRegressor("fast", seed=k) for k in range(1, 5)]

    costs = alternating(
        {
            "profile fast, 4 side by side, each": lambda: SideBySide(four()),
            "profile fast, 4 in a contest, each": lambda: ContestRegressor(
                {f"c{k}": each for k, each in enumerate(four())}, promotion="evidence"
            ),
        },
        few,
        arguments.rounds,
    )
    results |= {name: value / 4 for name, value in costs.items()}

    for name, value in results.items():
        print(f"{name:50} {value:6.2f} us")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
