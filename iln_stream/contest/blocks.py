"""Sums over blocks of one length, of which the variance of a long sum is estimated."""

from math import sqrt

from iln_stream.state import StateDict

CLOSEST = 0.99
"""Correlations count as this at most."""

NOTHING = 1e-12
"""A sum of squares of bounded differences below this is rounding error."""


class Blocks:
    """The sums of consecutive blocks of events, as far as a variance needs them.

    Parameters
    ----------
    length
        Events in a block.

    """

    kept = ("n", "total", "squares", "products", "first", "last")

    def __init__(self, length: int) -> None:
        self.length = length
        self.n = 0
        """Number of blocks."""
        self.total = 0.0
        """The sum of all blocks."""
        self.squares = 0.0
        self.products = 0.0
        """Of adjacent blocks."""
        self.first = 0.0
        self.last = 0.0

    def add(self, block: float) -> float | None:
        """Add the sum of a block; return that of a pair of blocks if it completes one."""
        last, self.last = self.last, block
        if self.n:
            self.products += last * block
        else:
            self.first = block
        self.n += 1
        self.total += block
        self.squares += block * block
        return None if self.n % 2 else last + block

    def correlation(self, mean: float) -> float:
        """Return the correlation of adjacent blocks about a mean difference of events."""
        block = self.length * mean
        squares = self.squares - 2.0 * block * self.total + self.n * block * block
        inner = 2.0 * self.total - self.first - self.last
        products = self.products - block * inner + (self.n - 1) * block * block
        return min(max(products / max(squares, NOTHING), -1.0), 1.0)

    def inflation(self, mean: float) -> float:
        """Return how many times the variance of a block the variance of a sum is, per block.

        That is (1 + r) / (1 - r) for an autoregression of blocks. The bias of an estimated r, about
        -(1 + 3r) / n [1]_, is corrected, and a standard error is added.

        References
        ----------
        .. [1] F. Marriott, J. Pope. Bias in the estimation of autocorrelations. Biometrika 41
           (1954), 390-402.

        """
        r = self.correlation(mean)
        r += (1.0 + 3.0 * max(r, 0.0)) / self.n + sqrt((1.0 - r * r) / self.n)
        r = min(max(r, 0.0), CLOSEST)
        return (1.0 + r) / (1.0 - r)

    def variance(self, mean: float) -> tuple[float, float, float]:
        """Return a, b and c: the variance of the sum of all blocks about m is a - 2bm + cm^2.

        `mean` is that of all differences; correlations are about it.
        """
        inflation = self.inflation(mean)
        return (
            inflation * self.squares,
            inflation * self.length * self.total,
            inflation * self.n * self.length * self.length,
        )

    def state(self) -> StateDict:
        """Return all sums."""
        return {name: getattr(self, name) for name in self.kept}

    def restore(self, state: StateDict) -> None:
        """Resume from a `state()`."""
        for name in self.kept:
            setattr(self, name, state[name])
