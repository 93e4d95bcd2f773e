"""How large the error of a prediction may be, depending on the inputs."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled import error_scale as kernels
from iln_stream.compiled.mixed_intervals import LARGEST_ERROR
from iln_stream.learners.infinite_layer.engine.memory import Memory
from iln_stream.learners.infinite_layer.engine.observation import Observation
from iln_stream.learners.infinite_layer.part import Part

BLOCK = 16


class FindsNearest(Protocol):
    """An expert that found the stored events nearest to the one that it last predicted.

    `nearest` are their slots in the memory, nearest first, and `n_nearest` is their number.
    """

    nearest: NDArray[np.int64]

    @property
    def n_nearest(self) -> int:
        """Number of events found."""
        ...


class ErrorScale(Part):
    """Two estimates of the next |error|: that of the nearest events, and a linear function.

    The first is the mean |error| of the 32 stored events nearest in the relevant inputs. They are
    the inputs on which the prediction depends; where the noise depends on others, the second
    notices: a ridge regression on the deviations z of all inputs and on |z|, with forgetting.

    Parameters
    ----------
    memory
        Of the learner that it belongs to.
    finder
        Finds the nearest events.

    """

    kept = ("n_columns", "absolute", "record", "theta", "P", "huber")
    fixed = ("absolute", "record", "huber")

    def __init__(self, memory: Memory, finder: FindsNearest) -> None:
        self._memory = memory
        self._finder = finder
        self.sizes = np.ones(2)
        self.n_columns = 0
        self.begin()

    def begin(self) -> None:
        """Expect nothing, as before the first event; columns stay."""
        self.absolute = np.zeros(len(self._memory.y))
        self.record = np.zeros(2)
        self.huber = np.zeros(2)
        n_blocks = -(-(1 + 2 * self.n_columns) // BLOCK)
        self.theta = np.zeros(n_blocks * BLOCK)
        self.theta[0] = 1.0
        self.P = _without_data(n_blocks)
        self._make_scratch()

    def _make_scratch(self) -> None:
        self._phi = np.zeros(len(self.theta))
        self._gain = np.zeros(len(self.theta))

    def widen(self, n_columns: int) -> None:
        """Make room for new columns."""
        self.n_columns += n_columns
        more = -(-(1 + 2 * self.n_columns) // BLOCK) - len(self.P)
        self.theta = np.pad(self.theta, (0, more * BLOCK))
        self.P = np.concatenate([self.P, _without_data(more)])
        self._make_scratch()

    def expect(self, event: Observation) -> None:
        """Write the |errors| expected at the event to `sizes` (2,)."""
        finder = self._finder
        kernels.expected_errors(
            event.z, finder.nearest, finder.n_nearest, self.absolute, self.record, self.theta,
            self._phi, self.sizes,
        )  # fmt: skip

    def learn(self, error: float) -> None:
        """Learn the |error| at the event that came last, which the memory stores next."""
        memory = self._memory
        kernels.learn_error(
            min(error, LARGEST_ERROR), memory.n % len(memory.y), self.absolute, self.record,
            self.theta, self.P, self.huber, self._phi, self._gain,
        )  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        super().restore(state)
        self._make_scratch()


def _without_data(n: int) -> NDArray[np.float64]:
    return np.tile(np.eye(BLOCK) / kernels.RIDGE, (n, 1, 1))
