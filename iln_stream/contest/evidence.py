"""Evidence that a challenger is better than the champion, valid under continuous watching."""

from math import pi

from iln_stream.contest.blocks import Blocks
from iln_stream.contest.interval import Interval
from iln_stream.state import StateDict

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
    >>> from iln_stream.contest import Evidence
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
        self.reset()

    def reset(self) -> None:
        """Forget all differences."""
        self._n_before = 0
        self._lost: Interval | None = None  # of the last comparison that the champion won
        self._begin(1)

    def _begin(self, comparison: int) -> None:
        self._comparison = comparison
        self._lengths: list[Blocks] = []
        self._open = 0.0
        self._n_open = 0
        self._n_closed = 0
        self._total = 0.0
        self._interval: Interval | None = None
        self.is_better = False
        """Whether the challenger is better: the lower end of the interval is above 0."""

    @property
    def n(self) -> int:
        """Differences since the start or the last `reset`."""
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
    def _shown(self) -> Interval | None:
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
        self._interval = Interval(n, total, variances, error)
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
        self._interval = None if interval is None else Interval.of(interval)
        lost = state["lost"]
        self._lost = None if lost is None else Interval.of(lost)


def error_of_comparison(error: float, k: int) -> float:
    """Return the error probability of the k-th of any number of comparisons; k begins at 1.

    All together have `error`: it is multiplied by 6 / (pi k)^2.

    >>> print(f"{error_of_comparison(0.05, 1):.4f} {error_of_comparison(0.05, 2):.4f}")
    0.0304 0.0076
    """
    return error * 6.0 / (pi * k) ** 2
