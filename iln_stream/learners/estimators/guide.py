"""Index draws in constant time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_BUCKETS_A_POINT = 2
_FEWEST_BUCKETS = 64


class Guide:
    """A guide table over prefix sums of |alpha|, which gives the start of a draw's search.

    The next draw updates it: in O(1) per added point, or by a rebuild when the number of points
    has about doubled. It is derived from the sums alone, so it is not part of any state.

    Half of the table is reserved for future points. A point so large that it fills the table alone
    does no harm: draws beyond the table take O(log n) time until it is rebuilt.
    """

    def __init__(self) -> None:
        # Imported on the first draw: numba takes a moment to import.
        from iln_stream.compiled import guide

        self._kernels = guide
        self.table = np.empty(0, np.int32)
        self.origin = 0.0
        self.per_unit = 0.0
        self.clear()

    def clear(self) -> None:
        """Discard the table, because positions have changed."""
        self._made_of = 0
        self._made_at = self._covered = -1
        self._filled = 0

    def follow(self, prefix: NDArray[np.float64], first: int, last: int) -> None:
        """Cover positions first <= p < last, with prefix[last] > prefix[first]."""
        if last == self._covered:
            return
        joined = last - self._made_at
        full = self._filled == len(self.table) - 1
        if self._covered < 0 or joined > self._made_of or (full and 4 * joined > self._made_of):
            self._make(prefix, first, last)
        else:
            self._extend(prefix, self._covered, last)

    def draw(
        self, r: NDArray[np.float64], prefix: NDArray[np.float64], first: int, last: int
    ) -> NDArray[np.int64]:
        """Return the positions, shape (n,), of the shares r in [0, 1) of the sums followed."""
        p = np.empty(len(r), np.int64)
        self._kernels.positions(
            r.copy(), len(r), prefix, first, last, self.table, self.origin, self.per_unit, p
        )
        return p

    def _make(self, prefix: NDArray[np.float64], first: int, last: int) -> None:
        n = last - first
        buckets = max(_FEWEST_BUCKETS, 2 * _BUCKETS_A_POINT * n)
        if not buckets < len(self.table) <= 4 * buckets:
            self.table = np.empty(buckets + 1, np.int32)
        self.origin = float(prefix[first])
        # Bounded, because sums may be as small as the smallest double.
        self.per_unit = min(len(self.table) / 2 / float(prefix[last] - prefix[first]), 1e300)
        self._made_of, self._made_at, self._filled = max(n, _FEWEST_BUCKETS), last, 0
        self._extend(prefix, first, last)

    def _extend(self, prefix: NDArray[np.float64], first: int, last: int) -> None:
        self._filled = self._kernels.extend(
            prefix, first, last, self.table, self._filled, self.origin, self.per_unit
        )
        self._covered = last

    def __reduce__(self) -> tuple[Any, ...]:
        return Guide, ()
