"""`InfiniteLayerClassifier`: experts that predict the classes, and how they become one."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.columns import UPPER
from iln_stream.kernels.mixing import PRECISION, fill, log_frequencies
from iln_stream.kernels.network_events import Pace
from iln_stream.kernels.networks import Shape
from iln_stream.kernels.regression_event import LARGEST
from iln_stream.learners.infinite_layer.engine import Engine
from iln_stream.learners.infinite_layer.expert import Observation, Vector
from iln_stream.learners.infinite_layer.experts.class_networks import ClassNetworks
from iln_stream.learners.infinite_layer.experts.class_ridges import ClassRidges
from iln_stream.learners.infinite_layer.experts.gaussian_naive_bayes import GaussianNaiveBayes
from iln_stream.learners.infinite_layer.experts.input_changes import InputChanges
from iln_stream.learners.infinite_layer.experts.past_classes import WAITING, PastClasses
from iln_stream.learners.infinite_layer.experts.resampled_ridges import ResampledRidges
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSSpec, WeightDistribution
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.mixing import BayesMixture, LogLossRule, StackedCorrection
from iln_stream.learners.infinite_layer.part import EVERY, Healer
from iln_stream.learners.infinite_layer.target import Target
from iln_stream.learners.infinite_layer.tokens import ClassesPredictedWith, ClassTokenFormat
from iln_stream.state import decode_name, encode_name

MEMORY = 2048
RING = 65_536
"""Events that the networks replay."""

LINEAR = (RLSSpec("linear", None),)


class Lineup(NamedTuple):
    """The experts in which profiles differ, and the places of all.

    A ridge's scores become probabilities at each sharpness, in turn for all ridges; then come the
    frequencies, naive Bayes, the past classes, the changes of inputs and the networks. Networks
    take a step at each event, and after the first thousand at `every` so many.
    """

    ridges: tuple[RLSSpec, ...]
    n_units: int
    sharpness: tuple[float, ...]
    networks: Mapping[str, tuple[Shape, Pace]]
    every: int = 1

    @property
    def n_scores(self) -> int:
        """Ridges, the linear one included."""
        return len(self.ridges) + len(LINEAR)

    @property
    def stacked(self) -> range:
        """Of the ridges' experts, those of the second sharpness take part in the correction."""
        return range(self.n_scores, 2 * self.n_scores)

    @property
    def frequencies(self) -> int:
        return self.n_scores * len(self.sharpness)

    @property
    def naive_bayes(self) -> int:
        return self.frequencies + 1

    @property
    def later(self) -> slice:
        """Those that an engine of an older release did not have: at first they sleep."""
        return slice(self.naive_bayes + 1, self.networks_from)

    @property
    def networks_from(self) -> int:
        return self.naive_bayes + 1 + len(PastClasses.names) + len(InputChanges.names)


LINEUPS = {
    "accurate": Lineup(
        (
            RLSSpec("dense", WeightDistribution("cos", 0.7, sparse=False)),
            RLSSpec("sparse", WeightDistribution("relu", 3.0, sparse=True)),
            RLSSpec("sharp", WeightDistribution("cos", 3.0, sparse=True)),
        ),
        256,
        (3.0, 6.0, 12.0, 24.0),
        {
            "net-piecewise": (Shape(192, 32, 64, RING, 4e-3, 3e4), Pace(1.0, 1e3, 1e-4, 1e-5)),
            "net-smooth": (Shape(128, 64, 0, RING, 3e-3, 3e4), Pace(0.5, 1e3, 1e-4, 1e-5)),
            "net-decayed": (Shape(64, 32, 0, RING, 3e-3, 3e4), Pace(5.0, 1e3, 1e-4, 1e-5)),
            "net-recent": (Shape(64, 32, 0, 1_000, 4e-3, 1e9), Pace(0.5, 1e9, 0.01, 0.001)),
            "net-latest": (Shape(64, 32, 0, 300, 4e-3, 1e9), Pace(0.5, 1e9, 0.01, 0.001)),
        },
    ),
    "fast": Lineup(
        (RLSSpec("sparse", WeightDistribution("relu", 3.0, sparse=True)),),
        64,
        (6.0, 12.0),
        {"net-smooth": (Shape(64, 32, 0, RING, 6e-3, 3e4), Pace(1.0, 1e3, 1e-4, 1e-5))},
        every=2,
    ),
}
"""By profile. Of accurate's networks, the first also sees piecewise-linear functions of its inputs,
the third is kept small by weight decay, for few events; the last two replay the last events only,
at a constant rate, and so follow drift."""

MIXED, CORRECTED = range(2)
"""What the last mixture weighs: the rule's mixture of all experts, and its correction."""


class ClassificationEngine(Engine):
    """Experts that predict each class, and the mixtures that make one prediction of them.

    Each ridge's scores f_c become probabilities by softmax(beta f), with beta = 3, 6, 12 and 24:
    four experts each. Gaussian naive Bayes and the classes' frequencies are one each, the changes
    of the inputs make two predictions, the past classes five, and each network two. ML-Poly mixes
    all, a log-linear correction follows, and a Bayesian mixture weighs what there was before and
    after it.

    While a part is broken, that is until the next event is learned, the classes' frequencies are
    the prediction. `key`, two words, seeds all randomness.
    """

    parts = (
        "inputs", "memory", "ridges", "linear", "naive_bayes", "past", "changes", "networks",
        "rule", "correction", "mixture", "healer",
    )  # fmt: skip
    own = ("classes", "counts")

    def __init__(
        self,
        max_columns: int,
        key: NDArray[np.uint64],
        lineup: Lineup = LINEUPS["accurate"],
    ) -> None:
        self.lineup = lineup
        self._sharpness = np.array(lineup.sharpness)
        self._n_drawn = len(lineup.ridges)
        self._frequencies, self._naive_bayes = lineup.frequencies, lineup.naive_bayes
        self._later, self._networks_from = lineup.later, lineup.networks_from
        last = self._networks_from - len(InputChanges.names)
        self._past, self._changes = slice(self._later.start, last), slice(last, self._later.stop)
        self.memory = Memory(MEMORY, 0)
        super().__init__(Inputs(max_columns, self.memory))
        # Classes have no scale: the unit of this target stays 1.
        self.bank = ClassRidges(lineup.ridges, lineup.n_units)
        self.ridges = ResampledRidges(self.bank, self.inputs, Target(), self.memory, key)
        self.linear = ClassRidges(LINEAR, 0)
        self.naive_bayes = GaussianNaiveBayes(self.inputs, self.memory)
        self.past = PastClasses(self.memory)
        self.changes = InputChanges(self.inputs, self.memory, key)
        self.networks = ClassNetworks(
            lineup.networks, RING, self.inputs, self.memory, key, lineup.every
        )
        K = lineup.networks_from + len(self.networks.names)
        self.rule = LogLossRule(K)
        self.correction = StackedCorrection([*lineup.stacked, *range(lineup.naive_bayes, K)])
        self.mixture = BayesMixture(2)
        self.healer = Healer(
            {
                "memory": self.memory,
                "inputs": self.inputs,
                "ridges": self.ridges,
                "linear": self.linear,
                "naive-bayes": self.naive_bayes,
                "past": self.past,
                "changes": self.changes,
                "networks": self.networks,
                "rule": self.rule,
                "correction": self.correction,
                "mixture": self.mixture,
            }
        )
        self.tokens = ClassTokenFormat((type(self).__name__, *self.expert_names), K)
        self.classes: list[Any] = []
        self.counts = np.zeros(0)  # of events, by class; an event counts as much as its weight
        self._make_scratch()

    def _make_scratch(self) -> None:
        C, K = len(self.classes), len(self.rule.weights)
        self._event = Observation(0, len(self.inputs))
        self._scores = np.zeros((self.lineup.n_scores, C))
        self._experts = np.zeros((K, C))
        self._mixtures = np.zeros((2, C))
        self._offsets = np.zeros(C)
        log_frequencies(self.counts, self._offsets)

    @property
    def n(self) -> int:
        """Events learned."""
        return self.memory.n

    @property
    def resets(self) -> dict[str, int]:
        """How often each part was reinitialised because it had broken."""
        return self.healer.resets

    def predict(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the probability of each class seen so far."""
        if not self.classes:
            return {}
        row = self.inputs.row(x)
        self._predict_row(row)
        self._predicted = row.tobytes()
        sound = self._event.sound
        p: list[float]
        if sound:  # few numbers: NumPy would take longer
            first, last = self.mixture.weights.tolist()
            before, after = self._mixtures.tolist()
            p = [first * b + last * a for b, a in zip(before, after, strict=True)]
        else:
            p = self._experts[self._frequencies].tolist()
        total = sum(p)
        return {label: each / total for label, each in zip(self.classes, p, strict=True)}

    def frozen(self) -> dict[str, Any]:
        """Return what `FrozenClassifier` predicts by; its arrays may be the engine's own."""
        awake = np.ones(len(self.rule.weights), bool)
        awake[self._later] = not self.past.asleep
        awake[self._networks_from :] = not self.networks.asleep
        by_sharpness = awake[: self._frequencies].reshape(-1, self.lineup.n_scores)
        by_sharpness[:, : self._n_drawn] = np.logical_not(self.ridges.asleep)
        return {
            "stats": self.inputs.stats[: UPPER + 1],
            "ridges": self.bank.frozen(self._event) + self.linear.frozen(self._event),
            "sharpness": self._sharpness,
            "frequencies": (self.counts + 1.0) / (self.counts.sum() + max(len(self.counts), 2)),
            "log_frequencies": self._offsets,
            "naive_bayes": self.naive_bayes.frozen(),
            "past": self.past.frozen(self._event, self.counts),
            "changes": self.changes.frozen(self._event),
            **self.networks.frozen(),
            "rule": {"weights": self.rule.weights, "awake": awake},
            "correction": {
                "members": self.correction.members,
                "weights": self.correction.weights,
            },
            "mixture": self.mixture.weights,
        }

    def predict_token(self, x: Mapping[Any, float]) -> tuple[dict[Any, float], Vector]:
        """Return the prediction for x, and a token with which the class can be learned late."""
        predicted = self.predict(x)
        if not predicted or not self._event.sound:
            return predicted, self.tokens.without(self.n)
        p = np.fromiter(predicted.values(), np.float64, len(predicted))
        return predicted, self.tokens.written(self.n, p, self._experts)

    def learn(self, x: Mapping[Any, float], y: Any, w: float = 1.0) -> None:
        """Learn that y is the class of x, with weight w."""
        row = self._admit(x)
        known = len(self.classes)
        if y not in self.classes:
            self._add(y)
        self._require_prediction(row)
        if not self._event.sound:
            self._heal(row)
        self._event.weight = w
        label = self.classes.index(y)
        if label < known:  # a class never seen can't have been predicted
            self._score_present(label)
        self._learn_row(row, label)

    def learn_late(
        self, x: Mapping[Any, float], seen: ClassesPredictedWith, y: Any, w: float = 1.0
    ) -> None:
        """Learn that y is the class of x, which was predicted when things were as `seen`.

        Experts learn from their present predictions; the rules score those of that time, mixed by
        the present weights, unless the present ones say more: see `PredictedWith.scored`.
        """
        row = self._admit(x)
        known = len(self.classes)
        if y not in self.classes:
            self._add(y)
        event, label = self._event, self.classes.index(y)
        event.delay, event.weight = max(self.n - seen.n, 0), w
        self._predicted = None
        try:
            self._predict_row(row)
            if not event.sound:
                self._heal(row)
            column = seen.column(label) if seen.counts(self.n) else None
            if column is not None:
                self._score(seen.experts, column)
            elif label < min(known, seen.n_classes):
                self._score_present(label)
            self._learn_row(row, label)
        finally:
            event.delay = 0

    def _score(self, experts: Vector, column: int) -> None:
        """Score the experts' earlier probabilities (K, m), of which one column is the class's."""
        mixtures = np.empty((2, experts.shape[1]))
        self.rule.mix(experts, len(experts), mixtures[MIXED])
        self.correction.correct(experts, mixtures[MIXED], mixtures[CORRECTED])
        self._learn_mixtures(experts, mixtures, column)

    def _score_present(self, label: int) -> None:
        """Score the experts' last probabilities."""
        self._learn_mixtures(self._experts, self._mixtures, label)

    def _learn_mixtures(self, experts: Vector, mixtures: Vector, column: int) -> None:
        w = self._event.weight
        self.rule.learn(experts, mixtures[MIXED], column, w)
        self.correction.learn(mixtures[CORRECTED], column, w)
        self.mixture.learn(mixtures[:, column], w)

    def _learn_row(self, row: Vector, label: int) -> None:
        """Let the experts learn the class of the raw row last predicted."""
        self.counts[label] += self._event.weight
        log_frequencies(self.counts, self._offsets)
        self.inputs.join(row, self.n)
        self.past.learn(self._event, label)
        self.memory.put(self._event.row, float(label), self._event.weight)
        K = self._n_drawn
        self.ridges.learn(self._event, label, self._scores[:K])
        self.linear.learn(self._event, label, self._scores[K:])
        self.naive_bayes.learn(self._event, label)
        self.changes.learn(self._event, label)
        self.networks.learn(self._event, label, self._offsets)
        if self.n % EVERY == 0 and not self.healer.inspect(self.n):
            self.healer.heal_all(self.n)

    def _heal(self, row: Vector) -> None:
        """Reinitialise what is broken, so that the raw row is predicted by sound parts."""
        if self.healer.heal_all(self.n):
            self._predict_row(row)
        if not self._event.sound:
            self.healer.restart_all(self._event.faults, self.n)
            self._predict_row(row)

    def _add(self, y: Any) -> None:
        """Make room for one more class."""
        self.classes.append(y)
        self.counts = np.pad(self.counts, (0, 1))
        self.bank.add_class()
        self.linear.add_class()
        self.naive_bayes.add_class()
        self.past.add_class()
        self.changes.add_class()
        self.networks.add_class()
        self.ridges.resampler.start_over()
        self._make_scratch()
        self._predicted = None

    def _predict_row(self, x: Vector) -> None:
        """Compute every expert's probabilities, (N, C), for the raw row x; and the mixtures."""
        event, K = self._event, self._n_drawn
        self.inputs.standardise(x, event.row, event.v)
        self.ridges.predict(event, self._scores[:K])
        self.linear.predict(event, self._scores[K:])
        experts, mixtures = self._experts, self._mixtures
        self.naive_bayes.predict(event, self._offsets, experts[self._naive_bayes])
        self.past.predict(event, self.counts, experts[self._past])
        self.changes.predict(event, experts[self._changes])
        self.networks.predict(event, self._offsets, experts[self._networks_from :])
        finite = fill(self._scores, self._sharpness, self.counts, experts)
        awake = self._networks_from if self.networks.asleep else len(experts)
        if self.ridges.asleep is not False or self.past.asleep:
            self._leave_out(awake)
        self.rule.mix(experts, awake, mixtures[MIXED])
        self.correction.correct(experts, mixtures[MIXED], mixtures[CORRECTED])
        # If one of the corrected probabilities is not finite, none of them is.
        last = mixtures[CORRECTED, 0] + sum(self.mixture.log_weights.tolist())
        event.sound, event.faults = finite and math.isfinite(last), []
        if not event.sound:
            self._without_faults()

    def _leave_out(self, n_awake: int) -> None:
        """Let experts that sleep adopt the mixture of the others among the first `n_awake`."""
        p, left_out = self._experts[:n_awake], np.zeros(n_awake, bool)
        left_out[: self._frequencies].reshape(-1, self.lineup.n_scores)[:, : self._n_drawn] = (
            self.ridges.asleep
        )
        left_out[self._later] = self.past.asleep
        weights = np.where(left_out, 0.0, self.rule.weights[:n_awake])
        if not weights.any():
            weights = 1.0 - left_out
        p[left_out] = weights @ p / weights.sum()

    def _without_faults(self) -> None:
        """Note whose the faults are; frequencies take the place of what is not finite."""
        experts, K = self._experts, self._n_drawn
        wild = ~np.all(np.abs(self._scores) <= LARGEST, axis=1)
        broken = ~np.all(np.isfinite(experts), axis=1)
        marked = [
            (self.ridges, wild[:K]),
            (self.linear, wild[K:]),
            (self.naive_bayes, broken[self._naive_bayes : self._naive_bayes + 1]),
            (self.past, broken[self._past]),
            (self.changes, broken[self._changes]),
            (self.networks, broken[self._networks_from :]),
        ]
        faults = [(part, which) for part, which in marked if which.any()]
        if not faults:
            faults = [(p, np.ones(1, bool)) for p in (self.rule, self.correction, self.mixture)]
        self._event.faults = faults
        experts[broken] = experts[self._frequencies]
        self._mixtures[:] = experts[self._frequencies]

    def _widen(self, n_columns: int) -> None:
        for part in (
            self.memory, self.ridges, self.linear, self.naive_bayes, self.changes, self.networks
        ):  # fmt: skip
            part.widen(n_columns)
        self._make_scratch()

    def relevance(self) -> dict[Any, float]:
        """Return each input's share in how the scores vary."""
        return self._shares(
            np.stack([self.ridges.relevance(k) for k in range(self._n_drawn)]).sum(0)
        )

    @property
    def expert_names(self) -> tuple[str, ...]:
        """Names of the experts' predictions, in the rule's order; a ridge has several."""
        ridges = self.ridges.names + self.linear.names
        return (
            *ridges * len(self._sharpness),
            "frequencies",
            *self.naive_bayes.names,
            *self.past.names,
            *self.changes.names,
            *self.networks.names,
        )

    def expert_weights(self) -> dict[str, float]:
        """Return the weight of each expert in the prediction."""
        names = self.expert_names
        by_rule, by_correction = self.mixture.weights.tolist()
        found = dict.fromkeys(names, 0.0)
        for name, weight in zip(names, (by_rule * self.rule.weights).tolist(), strict=True):
            found[name] += weight
        return found | {"correction": by_correction}

    def state(self) -> dict[str, Any]:
        """Return the state of all parts; counts are integers if weights were."""
        whole = bool((self.counts == np.floor(self.counts)).all())
        counts = self.counts.astype(np.int64 if whole else np.float64)
        classes = [encode_name(label) for label in self.classes]
        return {"counts": counts, **super().state(), "classes": classes}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.counts = state["counts"].astype(np.float64)
        self.classes = [decode_name(text) for text in state["classes"]]
        self._make_scratch()


def with_past(learned: Mapping[str, Any]) -> dict[str, Any]:
    """Return an engine's state of version 5 as one of version 6.

    It knew neither the past classes nor the changes of the inputs.
    """
    memory = Memory(MEMORY, 0)
    past = PastClasses(memory)
    changes = InputChanges(Inputs(1, memory), memory, np.zeros(2, np.uint64))
    changes.widen(len(learned["memory"]["columns"]))
    for _ in learned["classes"]:
        past.add_class()
        changes.add_class()
    past.counts_from = learned["memory"]["n"] + WAITING
    lineup, correction = LINEUPS["accurate"], learned["correction"]
    later, first = lineup.later, len(lineup.stacked) + 1
    N = later.stop - later.start
    before = np.insert(np.ones(len(correction["weights"]), bool), [first] * N, False)
    covariance = np.eye(len(before)) / PRECISION
    covariance[np.ix_(before, before)] = correction["covariance"]
    return {
        **learned,
        "past": past.state(),
        "changes": changes.state(),
        "rule": {"table": np.insert(learned["rule"]["table"], [later.start] * N, 0.0, axis=1)},
        "correction": {
            "weights": np.insert(correction["weights"], [first] * N, 0.0),
            "covariance": covariance,
        },
    }
