"""How the predictions of several experts become one."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import StateError
from iln_stream.kernels.mixing import (
    DISCOUNT,
    PRECISION,
    WEIGHT,
    correct,
    mix,
    mixed,
    mixed_of,
    newton_step,
    score,
    update_rule,
)
from iln_stream.kernels.program import Call, Step, scalar
from iln_stream.learners.infinite_layer.expert import (
    Expert,
    Observation,
    Vector,
    allocate_predictions,
)
from iln_stream.learners.infinite_layer.part import REMEDY, Part, require_fields


class RegretRule(Part):
    """Weighs K experts by their positive regrets: a table (4, K) of `kernels.mixing`."""

    kept: ClassVar[tuple[str, ...]] = ("table",)
    fixed = kept

    def __init__(self, n_experts: int) -> None:
        self.table = np.zeros((4, n_experts))
        self.reinitialise(())

    @property
    def weights(self) -> NDArray[np.float64]:
        """The experts' weights, (K,), which sum to one."""
        weights: NDArray[np.float64] = self.table[WEIGHT]
        return weights

    def reinitialise(self, broken: Collection[str]) -> None:
        """Forget all regrets: the experts weigh the same."""
        self.table[:] = 0.0
        self.table[WEIGHT] = 1.0 / self.table.shape[1]


class MLPoly(RegretRule):
    r"""ML-Poly: a second-order aggregation with no learning rate to tune [^1].

    Expert k weighs $w_k \propto (R_k)_+ / (V_k + B)$: $R_k$ its regret, the sum of
    $r_k = \ell'(\hat y) (\hat y - p_k)$ in units of the mixture's mean error, $V_k$ the sum of
    $r_k^2$ and $B$ the largest. With discount 1 and |r| <= c, none of them clipped, the loss of the
    mixture in these units exceeds that of expert k by at most
    $O(\sqrt{K V_k \log T} + c K \log T)$ (Gaillard et al., Theorem 5 up to constants; the plain
    loss only if the unit is constant): an expert that agrees with the mixture costs nothing.

    Here the discount is .999, so that the rule follows changes, and regrets are clipped at +-2
    ordinary errors, so that an outlier decides nothing. No bound holds then: data can be made on
    which the mixture's loss stays above the best expert's. It minimises squared errors if
    `squared`, otherwise absolute ones.

    References
    ----------
    [^1]: P. Gaillard, G. Stoltz, T. van Erven. A second-order bound with excess losses. COLT 2014.

    """

    kept = fixed = ("table", "record")

    def __init__(self, n_experts: int, *, squared: bool) -> None:
        self.squared = squared
        self.record = np.zeros(2)  # events scored, mean |error| of the mixture over about 1000
        super().__init__(n_experts)

    def mixed_of(self, p: NDArray[np.float64], counts: NDArray[np.bool_]) -> float:
        """Return the weighted mean of those p (K,) that count; write it to the others."""
        return mixed_of(self.table, p, counts)  # type: ignore[no-any-return]

    def learn(self, p: NDArray[np.float64], mixture: float, t: float, w: float = 1.0) -> None:
        """Score the predictions p (K,) and their mixture by the target t, whose weight is w."""
        update_rule(self.table, self.record, p, mixture, t, w, self.squared, DISCOUNT)

    def reinitialise(self, broken: Collection[str]) -> None:
        """Forget all regrets and the ordinary error."""
        super().reinitialise(broken)
        self.record[:] = 0.0


Matrix = NDArray[np.float64]


class LogLossRule(RegretRule):
    """Mixes probabilities, weighting each expert by its positive regret; no learning rate.

    ML-Poly [^1] on the linearised log loss, with a discount of 0.999: the regret to an expert that
    gave the observed class the probability p, where the mixture gave it q, is p / q - 1.

    References
    ----------
    [^1]: P. Gaillard, G. Stoltz, T. van Erven. A second-order bound with excess losses. COLT 2014.

    """

    def mix(self, p: Matrix, n_awake: int, mixture: Matrix) -> None:
        """Write the weighted mean of p (K, C) to the mixture (C,).

        The experts after the first `n_awake` adopt the mixture of these, and so have no regret.
        """
        mix(self.table, p, n_awake, mixture)

    def learn(self, p: Matrix, mixture: Matrix, label: int, w: float = 1.0) -> None:
        """Score the experts' p (K, C) by the class that was observed, with weight w."""
        score(self.table, p, mixture, label, w)


class BayesMixture(Part):
    """Weighs experts by the probability that they gave to the observed class (Bayes' rule).

    With discount 1 the mixture's summed log-loss exceeds that of the best of N experts by at most
    log N, for any data. With discount < 1 it follows a change of the best expert, and there is no
    such bound: with 0.998 and 17 experts an excess of 193 was observed. Past log losses are
    discounted by a factor at each event.
    """

    kept = fixed = ("log_weights",)

    def __init__(self, n_experts: int, discount: float = 0.998) -> None:
        self.discount = discount
        self.log_weights = np.zeros(n_experts)

    @property
    def weights(self) -> NDArray[np.float64]:
        """The experts' weights, (N,), which sum to one."""
        logs = self.log_weights.tolist()  # two numbers: NumPy would take ten times as long
        top = max(logs)
        w = [math.exp(log - top) for log in logs]
        total = sum(w)
        return np.array([each / total for each in w])

    def learn(self, probabilities: NDArray[np.float64], w: float = 1.0) -> None:
        """Score the experts by the positive probabilities (N,) they gave to the observed class.

        Its log-losses have the weight w.
        """
        logs = zip(self.log_weights.tolist(), probabilities.tolist(), strict=True)
        self.log_weights[:] = [self.discount * log + w * math.log(p) for log, p in logs]

    def reinitialise(self, broken: Collection[str]) -> None:
        """Forget the past: the experts weigh the same."""
        self.log_weights[:] = 0.0


class StackedCorrection(Part):
    """Multiplies a mixture P by powers of the experts' ratios p_k / P.

    The powers w start at 0 and follow the log loss by Newton steps: multinomial logistic regression
    on log p_k - log P, with a Gaussian prior, and forgetting 0.999. A mean of probabilities is as
    sure as its experts are on average; several that agree deserve more, and one that exaggerates
    less. `members` has the indices of the experts that take part, (m,).
    """

    kept = fixed = ("weights", "covariance")

    def __init__(self, members: Sequence[int]) -> None:
        m = len(members)
        self.members = np.array(members, np.int64)
        self.weights = np.zeros(m)
        self.covariance = np.eye(m) / PRECISION
        self._ratios = np.zeros((m, 0))

    def correct(self, p: Matrix, base: Matrix, corrected: Matrix) -> None:
        """Write the correction of the base (C,) by the experts' p (K, C); all are positive."""
        if self._ratios.shape[1] != len(base):
            self._ratios = np.zeros((len(self.members), len(base)))
        correct(self.weights, p, self.members, base, self._ratios, corrected)

    def learn(self, corrected: Matrix, label: int, w: float = 1.0) -> None:
        """Learn the class that was observed, where the last correction was `corrected` (C,).

        w is the event's weight.
        """
        newton_step(self.weights, self.covariance, self._ratios, corrected, label, w)

    def reinitialise(self, broken: Collection[str]) -> None:
        """Correct nothing, as at first."""
        self.weights[:] = 0.0
        self.covariance[:] = np.eye(len(self.weights)) / PRECISION


class ExpertMixture(Expert):
    """Mixes the predictions of experts by ML-Poly, and lets rule and experts learn.

    Experts predict, and learn, in the order given; one may use what another before it computed. A
    mixture sleeps while all of its experts do. Experts are by the names under which their states
    are kept. The rule minimises squared errors if `squared`, otherwise absolute ones.
    """

    names = ("mixture",)

    def __init__(self, experts: Mapping[str, Expert], *, squared: bool) -> None:
        self.experts = dict(experts)
        names = list(self._reported())
        if repeated := {name for name in names if names.count(name) > 1}:
            raise ValueError(
                f"the names of predictions must differ, as weights are reported by them; repeated: "
                f"{', '.join(sorted(repeated))}"
            )
        self.rule = MLPoly(
            sum(len(expert.names) for expert in self.experts.values()), squared=squared
        )
        self.bound_value = np.zeros(())  # the last prediction
        self._make_scratch()

    def _make_scratch(self) -> None:
        experts = list(self.experts.values())
        self._p, places = allocate_predictions(experts)
        self._late = np.zeros(len(self._p))
        self._places = dict(zip(self.experts, places, strict=True))
        self._awake_now = np.ones(len(self._p), bool)
        self._enlist([(expert, self._p[at]) for expert, at in zip(experts, places, strict=True)])

    def _enlist(self, members: list[tuple[Expert, Vector]]) -> None:
        """Let these experts take part, each with a view of its predictions."""
        self._members = members
        own = [expert for expert, _ in members if type(expert).learned is not Expert.learned]
        self._due = [expert.learned for expert in own]

    def __getstate__(self) -> dict[str, Any]:
        """What a copy gets: all but the scratch arrays and views of them, which it makes anew."""
        scratch = "_p", "_late", "_places", "_awake_now", "_members", "_due"
        return {k: v for k, v in self.__dict__.items() if k not in scratch}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_scratch()

    @property
    def value(self) -> float:
        """The last prediction."""
        return float(self.bound_value)

    @value.setter
    def value(self, value: float) -> None:
        self.bound_value[()] = value

    def _reported(self) -> Iterator[str]:
        """Yield the names of the predictions, within nested mixtures too."""
        for expert in self.experts.values():
            yield from expert._reported() if isinstance(expert, ExpertMixture) else expert.names

    def widen(self, n_columns: int) -> None:
        """Make room for new columns in every expert."""
        for expert, _ in self._members:
            expert.widen(n_columns)

    def admit(self, event: Observation) -> bool:
        """Let every expert make room."""
        changed = [expert.admit(event) for expert, _ in self._members]
        return any(changed)

    def predicting(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Yield the experts' steps, and the call that writes their mixture to p."""
        for expert, own in self._members:
            yield from expert.predicting(event, own)
        results = self.bound_value, scalar(p)
        if self._find_sleepers():
            yield Call(mixed_of, (self.rule.table, self._p, self._awake_now), results)
        else:
            yield Call(mixed, (self.rule.table, self._p), results)

    def predict(self, event: Observation, p: Vector) -> None:
        """Write the mixture of the experts' predictions to p, without those that have faults."""
        for expert, own in self._members:
            expert.predict(event, own)
        if self._find_sleepers():
            value = mixed_of(self.rule.table, self._p, self._awake_now)
        else:
            value = mixed(self.rule.table, self._p)
        self.value = value if math.isfinite(value) else self._without_faults(event)
        p[0] = self.value

    def frozen(self, event: Observation) -> list[dict[str, Any]]:
        rule = {"weights": self.rule.weights, "awake": self._awake()}
        experts = [form for expert in self.experts.values() for form in expert.frozen(event)]
        return [{"form": "mixture", "rule": rule, "experts": experts}]

    def keep(self, wanted: Callable[[str], bool]) -> None:
        """Let only some experts, by name, take part from now on: to compile what these need.

        Of nested mixtures, name their experts.
        """
        names = list(self.experts)
        for expert in self.experts.values():
            if isinstance(expert, ExpertMixture):
                expert.keep(wanted)
        members = zip(names, self._members, strict=True)
        self._enlist(
            [each for name, each in members if isinstance(each[0], ExpertMixture) or wanted(name)]
        )

    def _find_sleepers(self) -> bool:
        """Note whose predictions count; return whether some do not."""
        found = any(expert.asleep is not False for expert in self.experts.values())
        self.asleep = found and not self._awake().any()
        return found

    def _awake(self) -> NDArray[np.bool_]:
        """Whose predictions count."""
        awake = self._awake_now
        for name, expert in self.experts.items():
            asleep = expert.asleep
            awake[self._places[name]] = not asleep if isinstance(asleep, bool) else ~asleep
        return awake

    def _without_faults(self, event: Observation) -> float:
        """Mix the predictions that are finite, equally if the weights are not; note the faults."""
        event.sound = False
        awake, finite = self._awake().copy(), np.isfinite(self._p)
        for name, expert in self.experts.items():
            at = self._places[name]
            if (faults := awake[at] & ~finite[at]).any():
                event.faults.extend(expert.owners(faults))
        awake &= finite
        value = self.rule.mixed_of(self._p, awake)
        if not math.isfinite(value):
            value = float(self._p[awake].mean()) if awake.any() else 0.0
            self._p[~awake] = value
        return value

    def outputs(self) -> list[float]:
        """Return the experts' last predictions, in order; nan for those that did not count.

        In place of a nested mixture's prediction are its experts'.
        """
        awake, found = self._awake(), []
        for name, expert in self.experts.items():
            at = self._places[name]
            if isinstance(expert, ExpertMixture):
                found += expert.outputs()
            else:
                found += np.where(awake[at], self._p[at], np.nan).tolist()
        return found

    def score(self, outputs: Vector) -> Vector:
        """Score these outputs at the next `learn`, and their mixture by the present weights.

        They are in the order of `outputs`; returns those after this mixture's.
        """
        p = self._late
        for name, expert in self.experts.items():
            at = self._places[name]
            if isinstance(expert, ExpertMixture):
                rest = expert.score(outputs)
                known = np.isfinite(outputs[: len(outputs) - len(rest)]).any()
                p[at] = expert.value if known else np.nan
                outputs = rest
            else:
                p[at], outputs = np.split(outputs, [at.stop - at.start])
        self.value, self.is_late = self.rule.mixed_of(p, np.isfinite(p)), True
        return outputs

    def learning(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Yield the call that scores the experts' predictions, and the experts' steps."""
        arguments = (
            self.rule.table, self.rule.record, self._late if self.is_late else self._p,
            self.bound_value, event.at.t, event.at.weight, self.rule.squared, DISCOUNT,
        )  # fmt: skip
        yield Call(update_rule, arguments)
        for expert, own in self._members:
            yield from expert.learning(event, own)

    def learned(self, event: Observation) -> bool:
        """Let the experts do what is due."""
        self.is_late = False
        changed = [learned(event) for learned in self._due]
        return any(changed)

    def floats(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield the arrays of the rule and of the experts."""
        for name, part in self.named("mixture"):
            for field, array in part.floats():
                yield f"{name}.{field}", array

    def named(self, name: str) -> Iterator[tuple[str, Part]]:
        """Yield the rule and the experts."""
        yield f"{name}-rule", self.rule
        for own, expert in self.experts.items():
            yield from expert.named(own)

    def weights(self) -> dict[str, float]:
        """Return the weight of each prediction, within nested mixtures too, in this one."""
        weights = iter(self.rule.weights.tolist())
        found: dict[str, float] = {}
        for expert in self.experts.values():
            if isinstance(expert, ExpertMixture):
                share = next(weights)
                found |= {name: share * within for name, within in expert.weights().items()}
            else:
                found |= {name: next(weights) for name in expert.names}
        return found

    def weights_of(self, expert: str) -> Vector:
        """Return the weights (n,) of an expert's n predictions, by the expert's name, in the rule.

        Raises
        ------
        KeyError
            When no expert has that name.

        """
        weights: Vector = self.rule.table[WEIGHT, self._places[expert]]
        return weights

    def forget(self, expert: str) -> None:
        """Forget the regrets against an expert, by its name: it weighs nothing for now."""
        self.rule.table[:, self._places[expert]] = 0.0

    def state(self) -> dict[str, Any]:
        """Return the states of the rule and of the experts, by name."""
        experts = {name: expert.state() for name, expert in self.experts.items()}
        return {"rule": self.rule.state(), "experts": experts}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state of the same experts in the same order.

        Raises
        ------
        StateError
            When the state is of other experts.

        """
        require_fields(type(self).__name__, state, ("rule", "experts"))
        found, wanted = list(state["experts"]), list(self.experts)
        if found != wanted:  # the rule's table has a column for each, in order
            raise StateError(f"the state's experts are {found}, not {wanted}: {REMEDY}")
        self.rule.restore(state["rule"])
        for name, expert in self.experts.items():
            expert.restore(state["experts"][name])
