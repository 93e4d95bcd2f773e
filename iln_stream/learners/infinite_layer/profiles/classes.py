"""`InfiniteLayerClassifier`: experts that score the classes, and a mixture of probabilities."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.infinite_layer.aggregation.bayes import BayesMixture
from iln_stream.learners.infinite_layer.engine.engine import Engine
from iln_stream.learners.infinite_layer.engine.inputs import Inputs
from iln_stream.learners.infinite_layer.engine.memory import Memory
from iln_stream.learners.infinite_layer.engine.observation import Observation, Vector
from iln_stream.learners.infinite_layer.engine.target import Target
from iln_stream.learners.infinite_layer.experts.class_ridges import ClassRidges
from iln_stream.learners.infinite_layer.experts.resampled_ridges import ResampledRidges
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSSpec
from iln_stream.learners.infinite_layer.experts.weight_distribution import WeightDistribution
from iln_stream.state import decode_name, encode_name

N_UNITS = 256
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


class ClassificationEngine(Engine):
    """Experts that score each class, and the mixture that makes probabilities of the scores.

    Each expert's scores f_c become probabilities by softmax(beta f), with beta = 3, 6, 12 and 24:
    four experts each for a Bayesian mixture, which thus learns the sharpness. One more expert
    always predicts the classes' frequencies.

    Parameters
    ----------
    max_columns
        The most input names that get a column.
    key
        Two words that seed all randomness.

    """

    kept = ("counts",)
    parts = ("inputs", "memory", "ridges", "linear", "mixture")
    own = ("classes",)

    def __init__(self, max_columns: int, key: NDArray[np.uint64]) -> None:
        super().__init__(Inputs(max_columns))
        self.memory = Memory(MEMORY, 0)
        # Classes have no scale: the unit of this target stays 1.
        self.bank = ClassRidges(RANDOM, N_UNITS)
        self.ridges = ResampledRidges(self.bank, self.inputs, Target(), self.memory, key)
        self.linear = ClassRidges(LINEAR, 0)
        self.mixture = BayesMixture(len(RANDOM + LINEAR) * len(SHARPNESS) + 1)
        self.classes: list[Any] = []
        self.counts: list[int] = []
        self._make_scratch()

    def _make_scratch(self) -> None:
        self._event = Observation(0, len(self.inputs))
        self._scores = np.zeros((len(RANDOM + LINEAR), len(self.classes)))
        self._experts = np.zeros((len(self.mixture.log_weights), len(self.classes)))

    @property
    def n(self) -> int:
        """Events learned."""
        return self.memory.n

    def predict(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the probability of each class seen so far."""
        if not self.classes:
            return {}
        self._predict_for(x)
        mixed = self.mixture.weights @ self._experts
        return dict(zip(self.classes, (mixed / mixed.sum()).tolist(), strict=True))

    def learn(self, x: Mapping[Any, float], y: Any) -> None:
        """Learn that y is the class of x."""
        row = self._admit(x)
        known = len(self.classes)
        if y not in self.classes:
            self._add(y)
        self._require_prediction(row)
        label = self.classes.index(y)
        if label < known:  # a class never seen can't have been predicted
            self.mixture.learn(self._experts[:, label])
        self.counts[label] += 1
        self.inputs.join(row, self.n)
        self.memory.put(self._event.row, float(label))
        K = len(RANDOM)
        self.ridges.learn(self._event, label, self._scores[:K])
        self.linear.learn(self._event, label, self._scores[K:])

    def _add(self, y: Any) -> None:
        """Make room for one more class."""
        self.classes.append(y)
        self.counts.append(0)
        self.bank.add_class()
        self.linear.add_class()
        self.ridges.resampler.start_over()
        self._make_scratch()
        self._predicted = None

    def _predict_row(self, x: Vector) -> None:
        """Compute every expert's probabilities, (N, C), for the raw row x."""
        event, K, C = self._event, len(RANDOM), len(self.classes)
        self.inputs.standardise(x, event.row, event.v)
        self.ridges.predict(event, self._scores[:K])
        self.linear.predict(event, self._scores[K:])
        scores = np.clip(self._scores, -0.5, 1.5)
        raised = np.exp(SHARPNESS[:, None, None] * (scores - scores.max(axis=1, keepdims=True)))
        softmax = raised / raised.sum(axis=2, keepdims=True)
        self._experts[:-1] = softmax.reshape(-1, C)
        total = sum(self.counts)
        self._experts[-1] = (np.array(self.counts) + 1.0) / (total + C)
        self._experts *= 1.0 - LEAST
        self._experts += LEAST / C

    def _widen(self, n_columns: int) -> None:
        for part in (self.memory, self.ridges, self.linear):
            part.widen(n_columns)
        self._make_scratch()

    def relevance(self) -> dict[Any, float]:
        """Return each input's share in how the scores vary."""
        return self._shares(np.stack([self.ridges.relevance(k) for k in range(len(RANDOM))]).sum(0))

    def expert_weights(self) -> dict[str, float]:
        """Return the weight of each expert in the prediction."""
        names = self.ridges.names + self.linear.names
        weights = self.mixture.weights
        by_expert = weights[:-1].reshape(len(SHARPNESS), len(names)).sum(axis=0)
        frequencies = {"frequencies": float(weights[-1])}
        return dict(zip(names, by_expert.tolist(), strict=True)) | frequencies

    def state(self) -> dict[str, Any]:
        """Return the state of all parts."""
        return super().state() | {"classes": [encode_name(label) for label in self.classes]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        super().restore(state)
        self.classes = [decode_name(text) for text in state["classes"]]
        self._make_scratch()
