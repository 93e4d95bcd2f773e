"""The predictors that any learner has to beat."""

from collections.abc import Iterable
from typing import Any

from iln_stream.kernels.program import Step
from iln_stream.learners.infinite_layer.expert import Expert, Observation, Vector


class RunningMean(Expert):
    """Predicts the running mean of the targets, which is 0 on their scale."""

    names = ("running-mean",)

    def predicting(self, event: Observation, p: Vector) -> Iterable[Step]:
        p[0] = 0.0
        return ()

    def frozen(self, event: Observation) -> list[dict[str, Any]]:
        return [{"form": "constant", "value": 0.0}]


class Persistence(Expert):
    """Predicts the last target."""

    names = ("persistence",)

    def predict(self, event: Observation, p: Vector) -> None:
        """Write the prediction. v holds the last target in standard deviations, 1/3 of a unit."""
        p[0] = event.v[0] / 3.0

    def frozen(self, event: Observation) -> list[dict[str, Any]]:
        return [{"form": "last-target"}]
