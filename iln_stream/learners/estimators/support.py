"""The support: the points x_i that carry the function, and their coefficients alpha_i."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from iln_stream.state import Form, Tree

_FORM = Form("Support", 1)
_FIRST_CAPACITY = 64
_RESUM_ABOVE = 1e6


class Support:
    """Rows x_i with alpha_i, oldest first, ready for drawing i with probability ~ |alpha_i|.

    A window [first, last) of growing arrays: a point enters at the end and, with a budget, the
    oldest leaves at the front, each in O(1) amortised. Prefix sums of |alpha| are kept so that a
    draw is one binary search.

    Parameters
    ----------
    budget
        The most points kept; the oldest leaves first. None: all of them.

    """

    def __init__(self, budget: int | None = None) -> None:
        self.budget = budget
        self._first = 0
        self._last = 0
        self._rows = np.zeros((_FIRST_CAPACITY, 0))
        self._alpha = np.zeros(_FIRST_CAPACITY)
        self._prefix = np.zeros(_FIRST_CAPACITY + 1)  # _prefix[i + 1] = sum of |alpha| up to i

    def __len__(self) -> int:
        return self._last - self._first

    @property
    def alpha(self) -> NDArray[np.float64]:
        """Coefficients, shape (n,), oldest first. A view: don't write to it."""
        return self._alpha[self._first : self._last]

    def rows(self, d: int) -> NDArray[np.float64]:
        """Points, shape (n, d), oldest first. A view: don't write to it.

        `d` may be more than any point had when it came: what was not observed is 0.
        """
        if d > self._rows.shape[1]:
            return _resized(self._rows[self._first : self._last], len(self), d)
        return self._rows[self._first : self._last, :d]

    @property
    def alpha_l1(self) -> float:
        """||alpha||_1."""
        return float(self._prefix[self._last] - self._prefix[self._first])

    def append(self, x: NDArray[np.float64], alpha: float) -> None:
        """Let (x, alpha) join; with a full budget the oldest point leaves."""
        if self._last == len(self._alpha):
            self._make_room()
        if len(x) > self._rows.shape[1]:
            self._rows = _resized(self._rows, len(self._rows), len(x))
        self._rows[self._last, : len(x)] = x
        self._rows[self._last, len(x) :] = 0.0
        self._alpha[self._last] = alpha
        self._prefix[self._last + 1] = self._prefix[self._last] + abs(alpha)
        self._last += 1
        if self.budget is not None and len(self) > self.budget:
            self._first += 1
            # What left must not drown the digits of what stays (one alpha of 1e15 would).
            if self._prefix[self._first] > _RESUM_ABOVE * self.alpha_l1:
                self._resum()

    def shrink(self, factor: float) -> None:
        """Multiply every alpha_i by `factor`."""
        self.alpha[:] *= factor
        self._prefix[self._first : self._last + 1] *= factor

    def sample(self, m: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw m indices i, independent, with probability |alpha_i| / ||alpha||_1."""
        below = self._prefix[self._first]
        u = below + rng.random(m) * (self._prefix[self._last] - below)
        ends = self._prefix[self._first + 1 : self._last + 1]
        # Rounding may push u onto the total; the last point takes what is past the end.
        i: NDArray[np.intp] = np.minimum(np.searchsorted(ends, u, side="right"), len(self) - 1)
        return i

    def reweighed(self, alpha: NDArray[np.float64]) -> "Support":
        """Return the same points with other coefficients, shape (n,), and no budget."""
        if len(alpha) != len(self):
            raise ValueError(f"{len(alpha)} coefficients were given for {len(self)} points")
        support = Support()
        # Shared: what is in the window is never written again, and a full array is replaced.
        support._rows = self._rows[self._first : self._last]
        support._alpha = np.array(alpha)
        support._prefix = np.zeros(len(alpha) + 1)
        support._last = len(alpha)
        support._resum()
        return support

    def state(self) -> Tree:
        """Return the points, and how they lie in their arrays: it decides when sums are redone."""
        window = slice(self._first, self._last)
        return _FORM.write(
            budget=self.budget,
            first=self._first,
            capacity=len(self._alpha),
            rows=self._rows[window].copy(),
            alpha=self._alpha[window].copy(),
            prefix=self._prefix[self._first : self._last + 1].copy(),
        )

    @classmethod
    def from_state(cls, state: Tree) -> Self:
        """Return the support that has this state."""
        budget, first, capacity, rows, alpha, prefix = _FORM.read(
            state, "budget", "first", "capacity", "rows", "alpha", "prefix"
        )
        support = cls(budget)
        support._first, support._last = first, first + len(alpha)
        window = slice(support._first, support._last)
        support._rows = np.zeros((capacity, rows.shape[1]))
        support._rows[window] = rows
        support._alpha = np.zeros(capacity)
        support._alpha[window] = alpha
        support._prefix = np.zeros(capacity + 1)
        support._prefix[first : support._last + 1] = prefix
        return support

    def _make_room(self) -> None:
        """Move the window to the front of arrays at least twice its size."""
        n = len(self)
        capacity = max(_FIRST_CAPACITY, 2 * n)
        window = slice(self._first, self._last)
        self._rows = _resized(self._rows[window], capacity, self._rows.shape[1])
        self._alpha = _resized(self._alpha[window], capacity)
        self._prefix = np.zeros(capacity + 1)
        self._first, self._last = 0, n
        self._resum()

    def _resum(self) -> None:
        """Sum |alpha| afresh: differences of ever-growing prefix sums would lose digits."""
        self._prefix[self._first] = 0.0
        np.cumsum(np.abs(self.alpha), out=self._prefix[self._first + 1 : self._last + 1])


def _resized(array: NDArray[np.float64], *shape: int) -> NDArray[np.float64]:
    """Return a zero-padded copy of `array` with the given, nowhere smaller, shape."""
    larger = np.zeros(shape)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger
