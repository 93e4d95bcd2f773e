"""How often a process that fails is restarted, and after how long."""

from collections import deque
from typing import NamedTuple


class RestartPolicy(NamedTuple):
    """Restarts a process at most `limit` times within `within` seconds.

    Parameters
    ----------
    limit
        Number of restarts; the next failure is final.
    within
        Seconds in which they are counted.
    first, longest
        Seconds before the first restart; each further one waits twice as long, up to `longest`.

    """

    limit: int = 5
    within: float = 600.0
    first: float = 1.0
    longest: float = 60.0

    def __str__(self) -> str:
        """Return the limit in words."""
        return f"{self.limit} restarts within {self.within / 60:g} minutes"


class Restarts:
    """The restarts of one process.

    Parameters
    ----------
    policy
        How many are allowed.

    Attributes
    ----------
    n : int
        Number of restarts so far.

    Examples
    --------
    >>> from iln_stream.supervising.restarts import RestartPolicy, Restarts
    >>> restarts = Restarts(RestartPolicy(limit=2, within=60.0, first=1.0))
    >>> [restarts.after_failure(now) for now in (0.0, 5.0, 9.0, 61.0)]
    [1.0, 2.0, None, 2.0]

    """

    def __init__(self, policy: RestartPolicy) -> None:
        self.n = 0
        self._policy = policy
        self._failed_at: deque[float] = deque(maxlen=policy.limit)

    def after_failure(self, now: float) -> float | None:
        """Return after how many seconds to restart the process that failed; None: not at all.

        Parameters
        ----------
        now
            Monotonic time in seconds.

        """
        policy = self._policy
        recent = [each for each in self._failed_at if now - each < policy.within]
        if len(recent) >= policy.limit:
            return None
        self._failed_at.append(now)
        self.n += 1
        return float(min(policy.first * 2.0 ** len(recent), policy.longest))
