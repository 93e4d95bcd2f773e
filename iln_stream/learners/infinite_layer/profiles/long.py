"""Profile long of `InfiniteLayerRegressor`: profile accurate and networks that go on learning."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.network_layout import Shape
from iln_stream.learners.infinite_layer.engine.expert import Expert
from iln_stream.learners.infinite_layer.engine.inputs import Inputs
from iln_stream.learners.infinite_layer.engine.memory import Memory
from iln_stream.learners.infinite_layer.engine.target import Target
from iln_stream.learners.infinite_layer.experts.replayed_networks import ReplayedNetworks
from iln_stream.learners.infinite_layer.profiles.accurate import AccurateEngine

RING = 65_536
"""Events that the networks replay."""

NETWORKS = {
    "net-piecewise": Shape(192, 32, 64, RING, 4e-3, 3e4),
    "net-smooth": Shape(128, 64, 0, RING, 3e-3, 3e4),
    "net-recent": Shape(128, 64, 0, 4_000, 4e-3, 1e9),
}
"""The first also sees piecewise-linear functions of its inputs; the last replays the last 4,000
events only, at a constant rate, and so follows drift."""


class LongEngine(AccurateEngine):
    """Profile accurate, whose first rule also mixes networks trained by replay."""

    def _more_experts(
        self, inputs: Inputs, target: Target, memory: Memory, key: NDArray[np.uint64]
    ) -> Mapping[str, Expert]:
        return {"networks": ReplayedNetworks(NETWORKS, RING, inputs, target, memory, key)}
