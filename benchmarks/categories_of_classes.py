"""Streams of classes with ids: our classifier beside River's logistic regression on one-hot names.

    PYTHONPATH=. python -m benchmarks.categories_of_classes --events 100000

The streams are those of `benchmarks.categories`; the class says whether the target is above the
quantile that gives the share of positives. For each stream and learner: prequential log loss over
that of the classes' frequencies, and seconds of processor time.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Mapping
from math import log
from typing import Protocol

import numpy as np
from river import linear_model, optim, preprocessing

from benchmarks.categories import STREAMS, stream
from iln_stream.errors import IlnWarning
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier

X = Mapping[str, float]

LEAST = 1e-15
"""Lower bound of a probability in the log loss."""


class Classifier(Protocol):
    """What learns the classes of a stream."""

    def predict_proba_one(self, x: X) -> Mapping[bool, float]:
        """Return the probability of each class."""
        ...

    def learn_one(self, x: X, y: bool) -> None:
        """Learn a class."""
        ...


def _numbers(x: X) -> dict[str, float]:
    return {name: value for name, value in x.items() if "=" not in name}


class RiverLogistic:
    """River's logistic regression with AdaGrad on standardised numbers and one-hot names."""

    def __init__(self) -> None:
        self._scaler = preprocessing.StandardScaler()
        self._model = linear_model.LogisticRegression(optim.AdaGrad(0.5), intercept_lr=0.1)

    def _scaled(self, x: X) -> dict[str, float]:
        return {**x, **self._scaler.transform_one(_numbers(x))}

    def predict_proba_one(self, x: X) -> Mapping[bool, float]:
        """Return the probability of each class."""
        found: dict[bool, float] = self._model.predict_proba_one(self._scaled(x))
        return found

    def learn_one(self, x: X, y: bool) -> None:
        """Learn a class."""
        self._scaler.learn_one(_numbers(x))
        self._model.learn_one(self._scaled(x), y)


class WithoutIds:
    """Our classifier, which gets the numbers only."""

    def __init__(self) -> None:
        self._model = InfiniteLayerClassifier(seed=1)

    def predict_proba_one(self, x: X) -> Mapping[bool, float]:
        """Return the probability of each class."""
        return self._model.predict_proba_one(_numbers(x))

    def learn_one(self, x: X, y: bool) -> None:
        """Learn a class."""
        self._model.learn_one(_numbers(x), y)


LEARNERS: dict[str, Callable[[], Classifier]] = {
    "river": RiverLogistic,
    "without-ids": WithoutIds,
    "ours": lambda: InfiniteLayerClassifier(seed=1),
}


def evaluate(learner: Classifier, events: list[tuple[X, bool]]) -> tuple[float, float]:
    """Return the log loss over that of the frequencies, and seconds of processor time."""
    loss = of_frequencies = seconds = 0.0
    counts = [1, 1]
    for x, y in events:
        of_frequencies -= log(counts[y] / sum(counts))
        counts[y] += 1
        begun = time.process_time()
        p = learner.predict_proba_one(x)
        learner.learn_one(x, y)
        seconds += time.process_time() - begun
        loss -= log(max(p.get(y, 0.0), LEAST)) if p else 0.0
    return loss / of_frequencies, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=30_000)
    parser.add_argument("--streams", nargs="+", default=STREAMS, choices=STREAMS)
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=list(LEARNERS))
    parser.add_argument("--positives", type=float, default=0.5, help="their share")
    options = parser.parse_args()
    warnings.simplefilter("ignore", IlnWarning)
    for name in options.streams:
        numbers = list(stream(name, options.events))
        threshold = float(np.quantile([y for _, y in numbers], 1.0 - options.positives))
        events = [(x, y > threshold) for x, y in numbers]
        for learner in options.learners:
            loss, seconds = evaluate(LEARNERS[learner](), events)
            print(f"{name:20} {learner:12} {loss:.4f} {seconds:7.1f} s", flush=True)


if __name__ == "__main__":
    main()
