"""A learner and the running mean, or running frequencies, on the same events."""

import warnings
from collections import Counter
from time import perf_counter, thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.endurance.learners import Entrant
from benchmarks.endurance.streams import Chunk

Array = NDArray[np.float64]


class Outcome(NamedTuple):
    """Absolute errors of both, and the learner's seconds of processor and wall time, all (n,)."""

    errors: Array
    base: Array
    cpu: Array
    wall: Array


class Contest:
    """Predicts, then learns.

    A class's error is 1 minus the probability of the class that came.

    Parameters
    ----------
    entrant
        Which learner.
    model
        The learner itself.

    """

    def __init__(self, entrant: Entrant, model: Any) -> None:
        self.model = model
        self._classes = entrant.task == "classification"
        self._n = 0
        self._mean = 0.0
        self._counts: Counter[str] = Counter()

    def take(self, chunk: Chunk) -> Outcome:
        """Take a chunk of events."""
        ys: Any = chunk.classes if self._classes else chunk.ys
        model, predictions, cpu, wall = self.model, [], [], []
        predict = model.predict_proba_one if self._classes else model.predict_one
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for x, y in zip(chunk.xs, ys, strict=True):
                wall_0, cpu_0 = perf_counter(), thread_time()
                y_pred = predict(x)
                model.learn_one(x, y)
                cpu.append(thread_time() - cpu_0)
                wall.append(perf_counter() - wall_0)
                predictions.append(y_pred.get(y, 0.0) if self._classes else y_pred)
        of_both = self._of_classes if self._classes else self._of_targets
        return Outcome(*of_both(np.array(predictions, float), ys), np.array(cpu), np.array(wall))

    def _of_targets(self, predictions: Array, ys: list[float]) -> tuple[Array, Array]:
        targets = np.array(ys)
        learned = np.arange(self._n, self._n + len(targets))
        totals = self._mean * self._n + np.concatenate([[0.0], np.cumsum(targets)])
        self._n += len(targets)
        self._mean = totals[-1] / self._n
        return np.abs(predictions - targets), np.abs(totals[:-1] / np.maximum(learned, 1) - targets)

    def _of_classes(self, predictions: Array, ys: list[str]) -> tuple[Array, Array]:
        frequencies = np.zeros(len(ys))
        for i, y in enumerate(ys):
            frequencies[i] = self._counts[y] / max(self._n, 1)
            self._counts[y] += 1
            self._n += 1
        return 1.0 - predictions, 1.0 - frequencies

    def state(self) -> dict[str, Any]:
        """Return what the running mean and the frequencies learned."""
        return {"n": self._n, "mean": self._mean, "counts": dict(self._counts)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self._n, self._mean = state["n"], state["mean"]
        self._counts = Counter(state["counts"])
