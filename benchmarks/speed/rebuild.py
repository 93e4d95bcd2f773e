"""The longest single event: a rebuild or a compression of the support, timed alone.

What a support rebuilds, it rebuilds at the same events in every run, while the machine's own pauses
come anywhere and only add. So the same run is made several times, and each event's time is the
least of them.
"""

from statistics import median
from time import perf_counter
from typing import get_args

import numpy as np

from iln_stream.features import GaussianFourier
from iln_stream.learners.estimators import ESTIMATORS, Draws, Given, Policy
from iln_stream.learners.estimators.base import Iterate

from .candidates import Rows, points
from .effort import Effort
from .findings import Cell, Findings

WIDTH = 10
RUNS = 5


def measure(effort: Effort) -> list[Findings]:
    """The longest append + estimate of one draw, in a stream two and a half times n long."""
    rows: list[dict[str, Cell]] = []
    n = effort.rebuilt
    X, alpha = points(5 * n // 2, WIDTH)
    for policy, budget in [(None, None), *((policy, n) for policy in policies())]:
        key = np.arange(2, dtype=np.uint64)
        given = Given(GaussianFourier(), Draws(1, 0.01, 1, 1), budget, policy or "oldest", key)
        longest, usual, left = longest_event(given, X, alpha, n // 2)
        rows.append(
            {"budget": budget, "policy": policy or "-", "points at last": left}
            | {"longest, ms": 1e3 * longest, "median, ms": 1e3 * usual}
        )
    title = f"The longest single event of sampled, {n // 2:,} to {len(X):,} events"
    note = f"append + estimate with one draw; each event's time is the least of {RUNS} runs"
    return [Findings(title, rows, note)]


def policies() -> tuple[str, ...]:
    """The policies that there are."""
    return get_args(Policy)


def longest_event(given: Given, X: Rows, alpha: Rows, skip: int) -> tuple[float, float, int]:
    """Seconds of the longest and of the median event after `skip`, and the points left at last."""
    runs, f = [], None
    for _ in range(RUNS):
        f = ESTIMATORS["sampled"]().start(given)
        runs.append(event_times(f, X, alpha)[skip:])
    times = [min(event) for event in zip(*runs, strict=True)]
    return max(times), median(times), f.n_support


def event_times(f: Iterate, X: Rows, alpha: Rows) -> list[float]:
    """Seconds of each event."""
    times = []
    for t, (x, a) in enumerate(zip(X, alpha.tolist(), strict=True)):
        started = perf_counter()
        f.append(x, a)
        f.estimate(x, t)
        times.append(perf_counter() - started)
    return times
