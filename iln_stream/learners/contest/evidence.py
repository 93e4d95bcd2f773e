"""The evidence that one contender predicts better than another."""

from collections.abc import Mapping
from math import pi, sqrt
from typing import Any

from iln_stream.learners.contest.mixing import ConfidenceInterval
from iln_stream.state import StateDict

CLOSEST = 0.99
"""Correlations count as this at most."""

NOTHING = 1e-12
"""A sum of squares of bounded differences below this is rounding error."""


class Blocks:
    """The sums of consecutive blocks of events, as far as a variance needs them.

    A block has `length` events.
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


LIMIT = 4.0
"""Errors of this many typical ones have the loss 1: 3.2 standard deviations of normal errors."""

MEMORY = 1000
"""The typical error is that of about so many events."""


class BoundedError:
    """The loss of a regression's error: |error| over four times the typical one, at most 1.

    The typical error is the mean of past |errors| of the champion, each at most four times the mean
    so far. It is the same for all contenders, and an event does not change its own losses. Errors
    of 0 leave it as it is: where most labels are predicted exactly, the loss stays graded.

    Examples
    --------
    >>> from iln_stream.learners.contest import BoundedError
    >>> loss = BoundedError()
    >>> for error in [1.0, -3.0, 2.0, 1e9]:
    ...     loss.learn(error)
    >>> loss.typical_error
    3.5
    >>> loss(-7.0), loss(100.0)
    (0.5, 1.0)

    """

    def __init__(self) -> None:
        self.typical_error = 0.0
        """In units of the label; 0 before the first error that is not 0."""
        self._n = 0

    def __call__(self, error: float) -> float:
        """Return the loss of a finite error, in [0, 1].

        While nothing is known of errors, it is 0 or 1.
        """
        if error == 0.0:
            return 0.0
        typical = self.typical_error
        return min(abs(error) / LIMIT / typical, 1.0) if typical > 0.0 else 1.0

    def learn(self, error: float) -> None:
        """Learn the champion's error, after all contenders' losses of the event are known."""
        if error == 0.0:
            return
        error = abs(error)
        if not self._n:
            self.typical_error = error
        self._n = min(self._n + 1, MEMORY)
        typical = self.typical_error
        self.typical_error += (min(error, LIMIT * typical) - typical) / self._n

    def state(self) -> StateDict:
        """Return the typical error and the number of errors that it has, at most 1,000."""
        return {"n": self._n, "typical_error": self.typical_error}

    def restore(self, state: StateDict) -> None:
        """Resume from a `state()`."""
        self._n, self.typical_error = state["n"], state["typical_error"]


def brier_loss(probabilities: Mapping[Any, float], y: Any) -> float:
    """Return half the Brier score of predicted probabilities, in [0, 1]; 1/2 if there are none.

    >>> brier_loss({"a": 0.75, "b": 0.25}, "a")
    0.0625
    >>> brier_loss({"a": 1.0}, "b")
    1.0
    """
    total = 1.0 - 2.0 * probabilities.get(y, 0.0)
    for probability in probabilities.values():
        total += probability * probability
    return min(0.5 * total, 1.0)


EVENTS = 16
"""Events in a block of the shortest length; longer ones have 2, 4, 8, ... times as many."""

LONGER = 5
"""A length counts if there are blocks that are longer by so many doublings: 32 blocks of it."""

LEAST_SHARE = 0.25
"""A comparison that the champion has won ends when it has this share of all events."""

SHOWN = 3
"""A comparison that the champion has won is shown until the next one is so many times as long as
all before it: unless something has changed, the next one has been decided by then."""

KEPT = ("comparison", "n_before", "n_closed", "total", "open", "n_open")
"""Sums in the state."""


class Evidence:
    r"""A confidence sequence for how much smaller a challenger's mean loss is than the champion's.

    With S the sum of the differences of N events, and V an estimate of its variance, the interval
    at any N consists of the means :math:`\mu` for which

    .. math:: (S - N\mu)^2 \le (V(\mu) + 4) \log\frac{V(\mu) + 4}{4\alpha^2},

    which is Robbins' normal mixture [1]_ in its self-normalised form [2]_ [3]_. V is the sum of the
    squares of sums over blocks of 16 events, and of 32, 64, ...: the largest of these variances,
    among lengths with 32 blocks and more. Each is multiplied by (1 + r) / (1 - r), where r is at
    least the correlation of adjacent blocks. So the probability that any interval misses the mean
    is at most :math:`\alpha` in two cases: if the sums of blocks are symmetrically distributed
    given all earlier ones, at any N and whatever their variances; and in the limit of long blocks,
    if differences are autocorrelated over a limited time.

    If the champion proves better, and the comparison has at least a quarter of all events, a new
    one begins. So a challenger that was worse can catch up. The k-th comparison has the error
    probability :math:`6\alpha/(\pi k)^2`, so that their sum is :math:`\alpha`.

    Parameters
    ----------
    error
        :math:`\alpha`, the probability of a wrong interval at any time, in (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.learners.contest import Evidence
    >>> evidence = Evidence(error=0.05)
    >>> for difference in np.random.default_rng(1).normal(0.03, 0.1, 2_000).clip(-1.0, 1.0):
    ...     evidence.update(float(difference))
    >>> evidence.is_better, evidence.n
    (True, 2000)
    >>> print(f"{evidence.lower:.3f} to {evidence.upper:.3f}")
    0.017 to 0.040

    References
    ----------
    .. [1] H. Robbins. Statistical methods related to the law of the iterated logarithm. Annals of
       Mathematical Statistics 41 (1970), 1397-1409.
    .. [2] V. de la Peña, M. Klass, T. L. Lai. Self-normalized processes: exponential inequalities,
       moment bounds and iterated logarithm laws. Annals of Probability 32 (2004), 1902-1933.
    .. [3] S. Howard, A. Ramdas, J. McAuliffe, J. Sekhon. Time-uniform, nonparametric, nonasymptotic
       confidence sequences. Annals of Statistics 49 (2021), 1055-1080.

    """

    def __init__(self, error: float = 0.05) -> None:
        if not 0.0 < error < 1.0:
            raise ValueError(f"error = {error} must be a probability between 0 and 1")
        self.error = error
        self._n_before = 0
        self._lost: ConfidenceInterval | None = None  # of the last comparison that the champion won
        self._begin(1)

    def _begin(self, comparison: int) -> None:
        self._comparison = comparison
        self._lengths: list[Blocks] = []
        self._open = 0.0
        self._n_open = 0
        self._n_closed = 0
        self._total = 0.0
        self._interval: ConfidenceInterval | None = None
        self.is_better = False
        """Whether the challenger is better: the lower end of the interval is above 0."""

    @property
    def n(self) -> int:
        """Differences since the start."""
        return self._n_before + self._n_closed + self._n_open

    @property
    def lower(self) -> float:
        """Lower end of the interval of the mean difference; -1 while little is known.

        Of the present comparison; or, until this has three quarters of all events, of the last one
        that the champion has won.
        """
        shown = self._shown
        return shown.lower if shown else -1.0

    @property
    def upper(self) -> float:
        """Upper end of the interval of the mean difference; 1 while little is known."""
        shown = self._shown
        return shown.upper if shown else 1.0

    @property
    def _shown(self) -> ConfidenceInterval | None:
        lost = self._lost
        still = self._n_closed < SHOWN * self._n_before
        return lost if lost is not None and still else self._interval

    def update(self, difference: float) -> None:
        """Add the champion's loss less the challenger's, in [-1, 1], of one event."""
        if not -1.0 <= difference <= 1.0:
            raise ValueError(f"difference = {difference} must be in [-1, 1], as of bounded losses")
        self._open += difference
        self._n_open += 1
        if self._n_open == EVENTS:
            self._close()

    def _close(self) -> None:
        """Add the open block; decide if a block of the longest length that counts ends with it."""
        block: float | None = self._open
        self._total += self._open
        self._open, self._n_open = 0.0, 0
        self._n_closed += EVENTS
        n_ended = 0
        while block is not None:
            if n_ended == len(self._lengths):
                self._lengths.append(Blocks(EVENTS << n_ended))
            block = self._lengths[n_ended].add(block)
            n_ended += 1
        n_that_count = len(self._lengths) - LONGER
        if 0 < n_that_count <= n_ended:
            self._decide(self._lengths[:n_that_count])

    def _decide(self, lengths: list[Blocks]) -> None:
        n, total = self._n_closed, self._total
        variances = [blocks.variance(total / n) for blocks in lengths]
        error = error_of_comparison(self.error, self._comparison)
        self._interval = ConfidenceInterval(n, total, variances, error)
        decided = self._interval.excludes(0.0)
        self.is_better = decided and total > 0.0
        if decided and not self.is_better and n >= LEAST_SHARE * self.n:
            self._n_before = self.n
            self._lost = self._interval
            self._begin(self._comparison + 1)

    def state(self) -> StateDict:
        """Return all sums as plain values."""
        interval, lost = self._interval, self._lost
        return {
            **{name: getattr(self, f"_{name}") for name in KEPT},
            "lengths": [blocks.state() for blocks in self._lengths],
            "is_better": self.is_better,
            "interval": None if interval is None else interval.state(),
            "lost": None if lost is None else lost.state(),
        }

    def restore(self, state: StateDict) -> None:
        """Resume from the `state()` of evidence with the same error probability."""
        self._begin(state["comparison"])
        for name in KEPT:
            setattr(self, f"_{name}", state[name])
        for level, sums in enumerate(state["lengths"]):
            self._lengths.append(Blocks(EVENTS << level))
            self._lengths[level].restore(sums)
        self.is_better = state["is_better"]
        interval = state["interval"]
        self._interval = None if interval is None else ConfidenceInterval.of(interval)
        lost = state["lost"]
        self._lost = None if lost is None else ConfidenceInterval.of(lost)


def error_of_comparison(error: float, k: int) -> float:
    """Return the error probability of the k-th of any number of comparisons; k begins at 1.

    All together have `error`: it is multiplied by 6 / (pi k)^2.

    >>> print(f"{error_of_comparison(0.05, 1):.4f} {error_of_comparison(0.05, 2):.4f}")
    0.0304 0.0076
    """
    return error * 6.0 / (pi * k) ** 2
