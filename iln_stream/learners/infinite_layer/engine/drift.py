"""A signal of drift."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled import drift as kernels
from iln_stream.learners.infinite_layer.part import Part


class Drift(Part):
    """Mean |error| of about the last 50 events over that of about the last 1000.

    Errors are in units of the target's scale, so a change of that scale alone is no drift. About 1
    while the stream is steady; above 1.5 usually only after a change.
    """

    kept = fixed = ("record",)

    def __init__(self) -> None:
        self.record = np.zeros(3)  # events, mean |error| over about 50 and over about 1000

    @property
    def signal(self) -> float:
        """The ratio; 1 before the first event."""
        return signal(self.record)

    def reinitialise(self, broken: Collection[str]) -> None:
        """Begin the means anew."""
        self.record[:] = 0.0


def signal(record: NDArray[np.float64]) -> float:
    """Return the ratio of the two means in a record; 1 before the first event."""
    fast, slow = record[kernels.FAST], record[kernels.SLOW]
    return float(fast / slow) if slow > 0.0 else 1.0
