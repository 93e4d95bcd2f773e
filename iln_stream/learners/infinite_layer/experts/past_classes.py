"""Predictions of the next class from the past classes alone."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.past_classes import LONGEST, SPANS, learn, predict
from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Part

Vector = NDArray[np.float64]

RING = 1024
"""Classes that are remembered."""

MOST_FOLLOWED = 64
"""Successors are counted of so many classes at most, the first ones."""

WAITING = 100
"""Events from a state of an older release, without past classes, until they count."""


class PastClasses(Part):
    """Predicts each class from those before it, whatever the inputs are.

    - `no-change`: the last class, as surely as it was right in the last 100 events;
    - `successors`: the classes that followed the last one;
    - `seasonal`: the class one period ago, at most 512 events, as surely as it was right;
    - `rates-20`, `rates-200`: how often each class came lately.

    Where labels are late, the last class is the last one that was known at the prediction, and a
    period is longer than the delay. An event of weight 0 has no class. The memory counts the
    events.
    """

    names = ("no-change", "successors", "seasonal", "rates-20", "rates-200")
    kept = ("counts_from", "delay", "labels", "rates", "successors", "matches", "records")

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.counts_from = 0  # events after which the predictions count
        self.delay = 0  # labels that came between the last event's prediction and its label
        self.labels: Vector = np.full(RING, -1.0)  # of event i at i % RING; -1: none
        self.rates: Vector = np.zeros((len(SPANS), 0))
        self.successors: Vector = np.zeros((0, 0))
        self.matches: Vector = np.zeros(LONGEST)  # share of events equal to the one i + 1 before
        self.records: Vector = np.zeros((2, 2))  # of no-change and seasonal

    @property
    def asleep(self) -> bool:
        """Whether the predictions don't count yet."""
        return self.memory.n < self.counts_from

    def add_class(self) -> None:
        """Make room for one more class."""
        self.rates = np.pad(self.rates, [(0, 0), (0, 1)])
        more = int(len(self.successors) < MOST_FOLLOWED)
        self.successors = np.pad(self.successors, [(0, more), (0, 1)])

    def predict(self, event: Observation, counts: Vector, p: Vector) -> None:
        """Write the probabilities to p (5, C), given the number of events of each class (C,)."""
        ahead = 0 if event.delay else self.delay
        predict(
            self.labels, self.memory.n, event.delay, ahead, self.rates, self.successors,
            self.matches, self.records, counts, p,
        )  # fmt: skip

    def learn(self, event: Observation, label: int) -> None:
        """Learn the class of an event, before the memory does."""
        self.delay = event.delay
        learn(
            self.labels, self.memory.n, event.delay, self.rates, self.successors, self.matches,
            self.records, label, min(event.weight, 1.0),
        )  # fmt: skip
        self.labels[self.memory.n % RING] = label if event.weight > 0.0 else -1.0

    def frozen(self, event: Observation, counts: Vector) -> Vector:
        """Return the present predictions (5, C)."""
        p = np.zeros((len(self.names), len(counts)))
        self.predict(event, counts, p)
        return p

    def reinitialise(self, broken: Collection[str]) -> None:
        """Forget the past classes."""
        self.labels[:] = -1.0
        for array in (self.rates, self.successors, self.matches, self.records):
            array[:] = 0.0
