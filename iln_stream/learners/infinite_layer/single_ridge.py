"""The engine of `RandomFeatureRidge`: a single ridge expert."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.infinite_layer.engine import RegressionEngine
from iln_stream.learners.infinite_layer.experts.resampled_ridges import ResampledRidges
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank, RLSSpec
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.target import Target

MEMORY = 2048


class SingleRidgeEngine(RegressionEngine):
    """One random-feature ridge expert; see `RandomFeatureRidge`.

    Parameters
    ----------
    spec
        Description of the expert.
    n_units
        R, the number of hidden units.
    regularization
        Penalty on the squared weights.
    huber
        Errors beyond this many mean absolute errors count linearly.
    resampled
        Whether units are redrawn.
    max_columns
        The most input names that get a column.
    key
        Two words that seed all randomness.

    """

    def __init__(
        self,
        spec: RLSSpec,
        n_units: int,
        regularization: float,
        huber: float,
        *,
        resampled: bool,
        max_columns: int,
        key: NDArray[np.uint64],
    ) -> None:
        memory = Memory(MEMORY if resampled else 1, 0)
        inputs, target = Inputs(max_columns, memory), Target(memory)
        bank = RLSBank((spec,), n_units, 0, regularization, huber)
        self.ridges = ResampledRidges(bank, inputs, target, memory, key, resampled=resampled)
        super().__init__(inputs, target, memory, self.ridges)

    def relevance(self) -> dict[Any, float]:
        """Return each input's share in how the function varies."""
        return self._shares(self.ridges.relevance(0))
