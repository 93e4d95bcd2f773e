"""`InfiniteLayerClassifier`: experts that predict the classes, and how they become one."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.class_scores import fill, log_frequencies
from iln_stream.compiled.network_layout import Shape
from iln_stream.compiled.replayed_network import Pace
from iln_stream.learners.infinite_layer.aggregation.bayes import BayesMixture
from iln_stream.learners.infinite_layer.aggregation.log_loss_rule import LogLossRule
from iln_stream.learners.infinite_layer.aggregation.stacked_correction import StackedCorrection
from iln_stream.learners.infinite_layer.engine.engine import Engine
from iln_stream.learners.infinite_layer.engine.inputs import Inputs
from iln_stream.learners.infinite_layer.engine.memory import Memory
from iln_stream.learners.infinite_layer.engine.observation import Observation, Vector
from iln_stream.learners.infinite_layer.engine.target import Target
from iln_stream.learners.infinite_layer.experts.class_networks import ClassNetworks
from iln_stream.learners.infinite_layer.experts.class_ridges import ClassRidges
from iln_stream.learners.infinite_layer.experts.gaussian_naive_bayes import GaussianNaiveBayes
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
RING = 65_536
"""Events that the networks replay."""

NETWORKS = {
    "net-piecewise": (Shape(192, 32, 64, RING, 4e-3, 3e4), Pace(1.0, 1e3, 1e-4, 1e-5)),
    "net-smooth": (Shape(128, 64, 0, RING, 3e-3, 3e4), Pace(0.5, 1e3, 1e-4, 1e-5)),
    "net-decayed": (Shape(64, 32, 0, RING, 3e-3, 3e4), Pace(5.0, 1e3, 1e-4, 1e-5)),
    "net-recent": (Shape(64, 32, 0, 1_000, 4e-3, 1e9), Pace(0.5, 1e9, 0.01, 0.001)),
    "net-latest": (Shape(64, 32, 0, 300, 4e-3, 1e9), Pace(0.5, 1e9, 0.01, 0.001)),
}
"""The first also sees piecewise-linear functions of its inputs, the third is kept small by weight
decay, for few events; the last two replay the last events only, at a constant rate, and so follow
drift."""

SCORES = len(RANDOM + LINEAR)
STACKED = range(SCORES, 2 * SCORES)
"""Of the ridges' experts, those of the second sharpness take part in the correction."""

FREQUENCIES = SCORES * len(SHARPNESS)
NAIVE_BAYES = FREQUENCIES + 1
"""Places of these experts, after the ridges' and before the networks'."""

MIXED, CORRECTED = range(2)
"""What the last mixture weighs: the rule's mixture of all experts, and its correction."""


class ClassificationEngine(Engine):
    """Experts that predict each class, and the mixtures that make one prediction of them.

    Each ridge's scores f_c become probabilities by softmax(beta f), with beta = 3, 6, 12 and 24:
    four experts each. Two more are the classes' frequencies and Gaussian naive Bayes, and each
    network makes two. ML-Poly mixes all, a log-linear correction follows, and a Bayesian mixture
    weighs what there was before and after it.

    Parameters
    ----------
    max_columns
        The most input names that get a column.
    key
        Two words that seed all randomness.

    """

    kept = ("counts",)
    parts = (
        "inputs", "memory", "ridges", "linear", "naive_bayes", "networks", "rule", "correction",
        "mixture",
    )  # fmt: skip
    own = ("classes",)

    def __init__(self, max_columns: int, key: NDArray[np.uint64]) -> None:
        super().__init__(Inputs(max_columns))
        self.memory = Memory(MEMORY, 0)
        # Classes have no scale: the unit of this target stays 1.
        self.bank = ClassRidges(RANDOM, N_UNITS)
        self.ridges = ResampledRidges(self.bank, self.inputs, Target(), self.memory, key)
        self.linear = ClassRidges(LINEAR, 0)
        self.naive_bayes = GaussianNaiveBayes()
        self.networks = ClassNetworks(NETWORKS, RING, self.inputs, key)
        K = NAIVE_BAYES + 1 + len(self.networks.names)
        self.rule = LogLossRule(K)
        self.correction = StackedCorrection([*STACKED, *range(NAIVE_BAYES, K)])
        self.mixture = BayesMixture(2)
        self.classes: list[Any] = []
        self.counts = np.zeros(0, np.int64)
        self._make_scratch()

    def _make_scratch(self) -> None:
        C, K = len(self.classes), len(self.rule.weights)
        self._event = Observation(0, len(self.inputs))
        self._scores = np.zeros((SCORES, C))
        self._experts = np.zeros((K, C))
        self._mixtures = np.zeros((2, C))
        self._offsets = np.zeros(C)
        log_frequencies(self.counts, self._offsets)

    @property
    def n(self) -> int:
        """Events learned."""
        return self.memory.n

    def predict(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the probability of each class seen so far."""
        if not self.classes:
            return {}
        self._predict_for(x)
        mixed = self.mixture.weights @ self._mixtures
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
            self.rule.learn(self._experts, self._mixtures[MIXED], label)
            self.correction.learn(self._mixtures[CORRECTED], label)
            self.mixture.learn(self._mixtures[:, label])
        self.counts[label] += 1
        log_frequencies(self.counts, self._offsets)
        self.inputs.join(row, self.n)
        self.memory.put(self._event.row, float(label))
        K = len(RANDOM)
        self.ridges.learn(self._event, label, self._scores[:K])
        self.linear.learn(self._event, label, self._scores[K:])
        self.naive_bayes.learn(self._event, label)
        self.networks.learn(self._event, label, self._offsets)

    def _add(self, y: Any) -> None:
        """Make room for one more class."""
        self.classes.append(y)
        self.counts = np.pad(self.counts, (0, 1))
        self.bank.add_class()
        self.linear.add_class()
        self.naive_bayes.add_class()
        self.networks.add_class()
        self.ridges.resampler.start_over()
        self._make_scratch()
        self._predicted = None

    def _predict_row(self, x: Vector) -> None:
        """Compute every expert's probabilities, (N, C), for the raw row x; and the mixtures."""
        event, K = self._event, len(RANDOM)
        self.inputs.standardise(x, event.row, event.v)
        self.ridges.predict(event, self._scores[:K])
        self.linear.predict(event, self._scores[K:])
        experts, mixtures = self._experts, self._mixtures
        self.naive_bayes.predict(event, self._offsets, experts[NAIVE_BAYES])
        self.networks.predict(event, self._offsets, experts[NAIVE_BAYES + 1 :])
        fill(self._scores, SHARPNESS, self.counts, experts)
        awake = NAIVE_BAYES + 1 if self.networks.asleep else len(experts)
        self.rule.mix(experts, awake, mixtures[MIXED])
        self.correction.correct(experts, mixtures[MIXED], mixtures[CORRECTED])

    def _widen(self, n_columns: int) -> None:
        for part in (self.memory, self.ridges, self.linear, self.naive_bayes, self.networks):
            part.widen(n_columns)
        self._make_scratch()

    def relevance(self) -> dict[Any, float]:
        """Return each input's share in how the scores vary."""
        return self._shares(np.stack([self.ridges.relevance(k) for k in range(len(RANDOM))]).sum(0))

    def expert_weights(self) -> dict[str, float]:
        """Return the weight of each expert in the prediction."""
        ridges = self.ridges.names + self.linear.names
        names = (
            *ridges * len(SHARPNESS),
            "frequencies",
            *self.naive_bayes.names,
            *self.networks.names,
        )
        by_rule, by_correction = self.mixture.weights.tolist()
        found = dict.fromkeys(names, 0.0)
        for name, weight in zip(names, (by_rule * self.rule.weights).tolist(), strict=True):
            found[name] += weight
        return found | {"correction": by_correction}

    def state(self) -> dict[str, Any]:
        """Return the state of all parts."""
        return super().state() | {"classes": [encode_name(label) for label in self.classes]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        super().restore(state)
        self.classes = [decode_name(text) for text in state["classes"]]
        self._make_scratch()
