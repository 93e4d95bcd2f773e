"""One labelled event through the experts for classification."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.infinite_layer.class_ridges import ClassRidges
from iln_stream.learners.infinite_layer.feature_resampler import FeatureResampler
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.mixture import BayesMixture
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.infinite_layer.rls_bank import RLSSpec
from iln_stream.learners.infinite_layer.target import Target
from iln_stream.learners.infinite_layer.weight_distribution import WeightDistribution
from iln_stream.state import decode_name, encode_name

SIZE = 256
MEMORY = 2048
RANDOM = (
    RLSSpec("dense", WeightDistribution("cos", 0.7, sparse=False)),
    RLSSpec("sparse", WeightDistribution("relu", 3.0, sparse=True)),
    RLSSpec("sharp", WeightDistribution("cos", 3.0, sparse=True)),
)
LINEAR = (RLSSpec("linear", None),)
SHARPNESS = np.array([3.0, 6.0, 12.0, 24.0])
LEAST = 1e-4
"""Share of a prediction that is spread evenly, so that no class is impossible."""
PARTS = ("inputs", "ridges", "linear", "memory", "redraws", "mixture")


class ClassEngine(Part):
    """The experts, their inputs, and the mixture that turns their scores into probabilities.

    Each expert's scores f_c become probabilities by softmax(beta f), with beta = 3, 6, 12 and 24:
    four experts each for a Bayesian mixture, which thus learns the sharpness. One more expert
    always predicts the classes' frequencies.
    """

    kept = ("counts",)

    def __init__(self, max_columns: int, key: NDArray[np.uint64]) -> None:
        self.inputs = Inputs(max_columns)
        self.ridges = ClassRidges(RANDOM, SIZE)
        self.linear = ClassRidges(LINEAR, 0)
        self.memory = Memory(MEMORY, 0, len(RANDOM))
        self.redraws = FeatureResampler(key, len(RANDOM))
        n_scored = len(RANDOM + LINEAR) * len(SHARPNESS)
        self.mixture = BayesMixture(n_scored + 1)
        self.classes: list[Any] = []
        self.counts: list[int] = []
        self._target = Target()  # classes have no scale; its unit stays 1
        self._make_scratch()

    def _make_scratch(self) -> None:
        self._z = np.zeros(len(self.inputs))
        self._row = np.zeros(len(self.inputs))
        self._scores = np.zeros((len(RANDOM + LINEAR), len(self.classes)))
        self._experts = np.zeros((len(self.mixture.log_weights), len(self.classes)))
        self._seen: bytes | None = None

    def predict(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the probability of each class seen so far."""
        if not self.classes:
            return {}
        row = self.inputs.row(x)
        self._look(row)
        self._seen = row.tobytes()
        mixed = self.mixture.weights @ self._experts
        return dict(zip(self.classes, (mixed / mixed.sum()).tolist(), strict=True))

    def learn(self, x: Mapping[Any, float], y: Any) -> None:
        """Learn that y is the class of x."""
        row = self.inputs.admit(x)
        if len(row) > len(self._row):
            self._widen(len(row) - len(self._row))
        known = len(self.classes)
        label = self._label(y)
        if row.tobytes() != self._seen:
            self._look(row)
        self._seen = None
        if label < known:  # a class never seen can't have been predicted
            self.mixture.learn(self._experts[:, label])
        self.counts[label] += 1
        self.inputs.join(row)
        memory = self.memory
        memory.put(self._row, memory.lags[0], float(label), np.zeros(len(RANDOM)))
        self.ridges.learn_label(label)
        self.linear.learn_label(label)
        self.ridges.sense(1.0 / min(1.0 + memory.n / 4.0, 500.0))
        self.redraws.work(self.ridges, self.inputs, self._target, memory)

    def _label(self, y: Any) -> int:
        """Return the index of class y, a new one if it has none."""
        if y not in self.classes:
            self.classes.append(y)
            self.counts.append(0)
            self.ridges.add_class()
            self.linear.add_class()
            self.redraws.start_over()
            self._make_scratch()
        return self.classes.index(y)

    def _look(self, x: NDArray[np.float64]) -> None:
        """Compute every expert's probabilities, (N, C), for the raw row x."""
        self.inputs.standardise(x, self._row, self._z)
        K, C = len(RANDOM), len(self.classes)
        self.ridges.predict(self._z, self._scores[:K])
        self.linear.predict(self._z, self._scores[K:])
        scores = np.clip(self._scores, -0.5, 1.5)
        raised = np.exp(SHARPNESS[:, None, None] * (scores - scores.max(axis=1, keepdims=True)))
        softmax = raised / raised.sum(axis=2, keepdims=True)
        self._experts[:-1] = softmax.reshape(-1, C)
        total = sum(self.counts)
        self._experts[-1] = (np.array(self.counts) + 1.0) / (total + C)
        self._experts *= 1.0 - LEAST
        self._experts += LEAST / C

    def _widen(self, n_columns: int) -> None:
        for part in (self.ridges, self.linear, self.memory):
            part.widen(n_columns)
        if not self.ridges.omega.any():  # these are the first columns
            for k in range(len(RANDOM)):
                units = self.ridges.drawn(k, self.redraws.rng(0, k))
                self.ridges.put(k, self.ridges.newborn(units))
        else:
            self.redraws.columns_came(self.ridges, self.memory)
        self._make_scratch()

    def relevance(self) -> dict[Any, float]:
        """Return each input's share in how the scores vary."""
        total = np.diagonal(self.ridges.outer, axis1=1, axis2=2).sum(axis=0)
        shares = total / total.sum() if total.sum() > 0.0 else total
        return dict(zip(self.inputs.columns.place, shares.tolist(), strict=True))

    def expert_weights(self) -> dict[str, float]:
        """Return the weight of each expert in the prediction."""
        names = [expert.name for expert in RANDOM + LINEAR]
        weights = self.mixture.weights
        by_expert = weights[:-1].reshape(len(SHARPNESS), len(names)).sum(axis=0)
        return {**dict(zip(names, by_expert.tolist(), strict=True)), "level": float(weights[-1])}

    def state(self) -> dict[str, Any]:
        """Return the state of all parts."""
        classes = {"classes": [encode_name(label) for label in self.classes]}
        return super().state() | classes | {name: getattr(self, name).state() for name in PARTS}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        d = state["inputs"]["stats"].shape[1]
        for part in (self.ridges, self.linear, self.memory):
            part.widen(d)
        super().restore(state)
        self.classes = [decode_name(text) for text in state["classes"]]
        for name in PARTS:
            getattr(self, name).restore(state[name])
        self._make_scratch()
