"""Profile accurate of `InfiniteLayerRegressor`: its experts, and the rules that mix them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.networks import Shape
from iln_stream.learners.infinite_layer.engine import RegressionEngine
from iln_stream.learners.infinite_layer.experts.forgetting_rls import ForgettingRLS
from iln_stream.learners.infinite_layer.experts.krls_t import KRLST
from iln_stream.learners.infinite_layer.experts.naive import Persistence, RunningMean
from iln_stream.learners.infinite_layer.experts.neighbours import Neighbours
from iln_stream.learners.infinite_layer.experts.networks import ReplayedNetworks
from iln_stream.learners.infinite_layer.experts.resampled_ridges import ResampledRidges
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank, RLSSpec, WeightDistribution
from iln_stream.learners.infinite_layer.experts.shrinking_gradient import ShrinkingGradientExpert
from iln_stream.learners.infinite_layer.experts.sleepers import ALARM, SleepingExperts
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.intervals import ErrorScale, Intervals
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.mixing import ExpertMixture
from iln_stream.learners.infinite_layer.plain_forecasts import PlainForecasts
from iln_stream.learners.infinite_layer.target import Target
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

N_UNITS = 320
N_LAGS = 2
MEMORY = 2048
RANDOM = (
    RLSSpec("dense", WeightDistribution("cos", 0.7, sparse=False)),
    RLSSpec("sparse", WeightDistribution("relu", 3.0, sparse=True), renewed=True),
    RLSSpec("recent", WeightDistribution("cos", 1.0, sparse=True, recent=True), recent=True),
)
LINEAR = (
    RLSSpec("linear", None),
    RLSSpec("linear-fast", None, forgetting=0.97),
    RLSSpec("linear-recent", None, recent=True, forgetting=0.995),
)
DENSE, SPARSE = 0, 1
RING = 65_536
"""Events that the networks replay."""

NETWORKS = {
    "net-piecewise": Shape(192, 32, 64, RING, 4e-3, 3e4),
    "net-smooth": Shape(128, 64, 0, RING, 3e-3, 3e4),
    "net-recent": Shape(128, 64, 0, 4_000, 4e-3, 1e9),
}
"""The first also sees piecewise-linear functions of its inputs; the last replays the last 4,000
events only, at a constant rate, and so follows drift."""

ENDS = {
    "net-piecewise": ("-short", "-long"),
    "net-smooth": ("-short", "-long"),
    "net-recent": ("", "-short"),
}
"""How they predict: those that settle by averages of their weights, the last also by the latest."""

POINTS = 103
"""Points of KRLS-T: with one more in work, its matrices' rows are whole cache lines."""


class AccurateEngine(RegressionEngine):
    """Ridges, networks and others under a rule for squared errors; then one for absolute errors.

    `key`, two words, seeds all randomness. If `squared`, the second rule minimises squared errors,
    too, and so predicts the mean.
    """

    def __init__(self, max_columns: int, key: NDArray[np.uint64], *, squared: bool = False) -> None:
        memory = Memory(MEMORY, N_LAGS)
        inputs, target = Inputs(max_columns, memory), Target(memory)
        bank = RLSBank(RANDOM, N_UNITS, N_LAGS)
        self.ridges = ResampledRidges(bank, inputs, target, memory, key)
        self.sleepers = SleepingExperts(
            {"ridges": self.ridges, "forgetting-rls": ForgettingRLS(bank, DENSE, 0.999)}
        )
        self.shrinking_gradient = ShrinkingGradientExpert(N_UNITS, int(key[1]))
        self.networks = ReplayedNetworks(NETWORKS, ENDS, RING, inputs, target, memory, key)
        self.moving = ExpertMixture(
            {"networks": self.networks, "krls-t": KRLST(POINTS)}, squared=True
        )
        self.mean = ExpertMixture(
            {
                "ridges": self.sleepers,
                "linear": RLSBank(LINEAR, 0, N_LAGS),
                "first-order": self.shrinking_gradient,
                "running-mean": RunningMean(),
                "persistence": Persistence(),
                "moving": self.moving,
            },
            squared=True,
        )
        neighbours = Neighbours(self.mean, self.ridges, SPARSE, inputs, memory)
        self.mixture = ExpertMixture({"mean": self.mean, "neighbours": neighbours}, squared=squared)
        self.error_scale = ErrorScale(memory, neighbours)
        super().__init__(
            inputs, target, memory, self.mixture, Intervals(self.error_scale), squared=squared,
            plain=PlainForecasts(),
        )  # fmt: skip

    def _after_event(self) -> bool:
        """Let sleepers fall asleep, or begin anew."""
        if not self.sleepers.resting:
            return self.sleepers.weigh(sum(self.mean.weights_of("ridges").tolist()))
        if self.drift <= ALARM:
            return False
        self.sleepers.begin_anew()
        self.mean.forget("ridges")
        return True

    @property
    def first_order(self) -> ShrinkingGradient:
        """The expert that is Algorithm 1."""
        return self.shrinking_gradient.learner

    def expert_weights(self) -> dict[str, float]:
        """Return the weight of each expert in the prediction."""
        assert self.plain is not None
        weights = self._with_fresh(self.mixture.weights())
        return self.plain.shares(weights, self.target.center, self.unit)

    def relevance(self) -> dict[Any, float]:
        """Return each input's share in how the function varies: for networks, if ridges sleep."""
        if self.sleepers.resting:
            weights = self.moving.weights_of("networks") + 1e-9
            return self._shares(self.networks.relevance(weights))
        weights = self.mean.weights_of("ridges")[: len(RANDOM)] + 1e-9
        by_expert = np.stack([self.ridges.relevance(k) for k in range(len(RANDOM))])
        return self._shares(weights @ by_expert)

    def redrawn_at(self) -> dict[str, int]:
        """Return the number of events after which each expert's units were last drawn."""
        bank = self.ridges.bank
        return dict(zip(bank.names, bank.drawn_at.tolist(), strict=True))
