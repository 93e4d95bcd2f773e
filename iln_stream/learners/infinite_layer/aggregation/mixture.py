"""Experts under one rule, which are an expert again."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from iln_stream.errors import StateError
from iln_stream.learners.infinite_layer.aggregation.ml_poly import MLPoly
from iln_stream.learners.infinite_layer.engine.expert import Expert, allocate_predictions
from iln_stream.learners.infinite_layer.engine.observation import Observation, Vector
from iln_stream.learners.infinite_layer.part import REMEDY, require_fields


class Mixture(Expert):
    """Mixes the predictions of experts by ML-Poly, and lets rule and experts learn.

    Experts predict, and learn, in the order given; one may use what another before it computed.

    Parameters
    ----------
    experts
        By the names under which their states are kept.
    squared
        Whether the rule minimises squared errors; otherwise absolute ones.

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
        members = list(self.experts.values())
        self.rule = MLPoly(sum(len(each.names) for each in members), squared=squared)
        self.value = 0.0  # the last prediction
        self._p, places = allocate_predictions(members)
        self._members = list(zip(members, places, strict=True))
        self._places = dict(zip(self.experts, places, strict=True))

    def _reported(self) -> Iterator[str]:
        """Yield the names of the predictions, within nested mixtures too."""
        for expert in self.experts.values():
            yield from expert._reported() if isinstance(expert, Mixture) else expert.names

    def widen(self, n_columns: int) -> None:
        """Make room for new columns in every expert."""
        for expert, _ in self._members:
            expert.widen(n_columns)

    def predict(self, event: Observation, p: Vector) -> None:
        """Write the mixture of the experts' predictions to p."""
        for expert, place in self._members:
            expert.predict(event, self._p[place])
        sleepers = [place for expert, place in self._members if expert.asleep]
        if sleepers:
            self._predict_without(sleepers)
        else:
            self.value = self.rule.mixed(self._p)
        p[0] = self.value

    def _predict_without(self, sleepers: list[slice]) -> None:
        """Mix the others' predictions. Sleepers adopt the mixture, and so have no regret."""
        awake = np.ones(len(self._p))
        for place in sleepers:
            awake[place] = 0.0
        weights = self.rule.weights * awake
        total = weights.sum()
        weights = weights / total if total > 0.0 else awake / awake.sum()
        self.value = float(weights @ self._p)
        self._p[awake == 0.0] = self.value

    def learn(self, event: Observation, t: float, p: Vector) -> None:
        """Score the experts' predictions by t, then let each learn it."""
        self.rule.learn(self._p, self.value, t)
        for expert, place in self._members:
            expert.learn(event, t, self._p[place])

    def weights(self) -> dict[str, float]:
        """Return the weight of each prediction, within nested mixtures too, in this one."""
        weights = iter(self.rule.weights.tolist())
        found: dict[str, float] = {}
        for expert in self.experts.values():
            if isinstance(expert, Mixture):
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
        return self.rule.weights[self._places[expert]]

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
