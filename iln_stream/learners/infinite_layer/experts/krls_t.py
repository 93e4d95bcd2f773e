"""An expert that remembers what matters now."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from iln_stream.kernels.krls_t import BEGAN, EVENTS, N_POINTS, SCALE, SQUARES, learn_event, predict
from iln_stream.kernels.program import Call, Step, scalar
from iln_stream.learners.infinite_layer.expert import Expert, Observation, Vector
from iln_stream.learners.infinite_layer.part import aligned
from iln_stream.state import all_finite

NOISE = 0.05
"""Variance of the noise in a scaled target, whose prior has variance 1."""

FORGETTING = 0.999

WAKES_AFTER = 32
"""Events that it learns before its predictions count."""


class KRLST(Expert):
    """Kernel recursive least squares with a tracking forgetting (KRLS-T) [^1].

    A Gaussian process with a Gaussian kernel, kept by its values at a hundred past inputs. At each
    event its posterior moves a little back to the prior, as if old targets had become noisier, and
    the point whose value the others predict best is left out. It learns a new concept from its
    first events, with all of its capacity. The kernel's width is the root of the inputs' mean
    squared norm: of the number of inputs that vary.

    Parameters
    ----------
    budget
        M, the most points kept. An event costs O(M^2).
    forgetting
        lambda: the past's weight is multiplied by this at each event.

    References
    ----------
    [^1]: S. Van Vaerenbergh, M. Lazaro-Gredilla, I. Santamaria. Kernel recursive least-squares
    tracker for time-varying regression. IEEE Transactions on Neural Networks and Learning Systems
    23, 2012.

    """

    names = ("krls-t",)
    kept = ("points", "inverse", "reduction", "alpha", "record")
    fixed = ("inverse", "reduction", "alpha", "record")

    def __init__(self, budget: int, forgetting: float = FORGETTING) -> None:
        self.forgetting = forgetting
        room = budget + 1
        self.points = np.zeros((0, room))
        self.inverse = aligned(np.zeros((room, room)))
        self.reduction = aligned(self.inverse)
        self.alpha = aligned(np.zeros(room))
        self.record = np.zeros(5)
        self.asleep = True
        self._k = aligned(np.zeros(room))
        self._misfits = np.zeros((), bool)
        self._make_views()

    def _make_views(self) -> None:
        self._basis = (self.points, self.inverse, self.reduction, self.alpha)

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, with deviation 0 at the points."""
        self.points = aligned(np.pad(self.points, [(0, n_columns), (0, 0)]))
        self._make_views()

    def predicting(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Return the call that writes the prediction; 0 before it has begun."""
        return [Call(predict, (self._basis, self.record, event.z, self._k), (scalar(p),))]

    def frozen(self, event: Observation) -> list[dict[str, Any]]:
        n, scale = int(self.record[N_POINTS]), float(self.record[SCALE])
        points, alpha = self.points[:, :n], self.alpha[:n]
        return [{"form": "kernel", "points": points, "alpha": alpha, "scale": scale}]

    def learning(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Return the call that learns t at the row last predicted."""
        arguments = (
            self._basis, self.record, event.z, self._k, event.at.t, event.at.weight,
            self.forgetting, NOISE,
        )  # fmt: skip
        return [Call(learn_event, arguments, (self._misfits,))]

    def learned(self, event: Observation) -> bool:
        """Begin if the kernel's width has yet to be found or no longer fits; wake up in time."""
        if self._misfits:
            self._begin()
            return True
        if self.asleep:
            self._doze()
            return not self.asleep
        return False

    def reinitialise(self, broken: Collection[str]) -> None:
        """Forget everything; if the record is broken, begin as before the first event."""
        if not all_finite(self.record):
            self.record[:] = 0.0
        self._begin()

    def _begin(self) -> None:
        """Forget everything, and set the kernel's width by the inputs."""
        for array in (self.points, self.inverse, self.reduction, self.alpha):
            array[:] = 0.0
        self.record[N_POINTS] = 0.0
        self.record[SCALE], self.record[BEGAN] = self.record[SQUARES], self.record[EVENTS]
        self._doze()

    def _doze(self) -> None:
        since = self.record[EVENTS] - self.record[BEGAN]
        self.asleep = bool(self.record[SCALE] == 0.0 or since < WAKES_AFTER)

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._make_views()
        self._doze()
