"""The longest single event: a rebuild or a compression of the support.

What a support rebuilds, it rebuilds at the same events in every run, while the machine's own pauses
come anywhere and only add. So the same run is made several times, and each event's time is the
least of them.
"""

from statistics import median
from time import thread_time
from typing import get_args

import numpy as np

from iln_stream.features import GaussianFourier
from iln_stream.learners.estimators import ESTIMATORS, DrawPolicy, EstimatorContext, Policy
from iln_stream.learners.estimators.base import Iterate

from .candidates import Rows, points
from .effort import Effort
from .findings import Cell, Findings

WIDTH = 10
RUNS = 5


def measure(effort: Effort) -> list[Findings]:
    """The longest append + estimate of one draw, in a stream two and a half times n long."""
    n = effort.rebuilt
    X, alpha = points(5 * n // 2, WIDTH)
    kinds: list[tuple[str, str | None]] = [("sampled", None)]
    kinds += [("sampled", policy) for policy in get_args(Policy)]
    kinds += [("growing-pool", None)] if "growing-pool" in ESTIMATORS else []
    rows: list[dict[str, Cell]] = []
    for name, policy in kinds:
        longest, usual, left = longest_event(name, policy, n, X, alpha)
        rows.append(
            {"estimator": name, "budget": policy and n, "policy": policy, "points at last": left}
            | {"longest, ms": 1e3 * longest, "median, ms": 1e3 * usual}
        )
    title = f"The longest single event of {n // 2:,} to {len(X):,}: a rebuild, or a compression"
    note = f"append + estimate with one draw; each event's time is the least of {RUNS} runs"
    return [Findings(title, rows, note)]


def longest_event(
    name: str, policy: str | None, n: int, X: Rows, alpha: Rows
) -> tuple[float, float, int]:
    """Seconds of the longest and of the median event from n / 2 on, and the points at last."""
    budget = None if policy is None else n
    key = np.arange(2, dtype=np.uint64)
    given = EstimatorContext(
        GaussianFourier(), DrawPolicy(1, 0.01, 1, 1), budget, policy or "oldest", key
    )
    runs, left = [], 0
    for _ in range(RUNS):
        f = ESTIMATORS[name]().start(given)
        runs.append(event_times(f, X, alpha)[n // 2 :])
        left = f.n_support
    times = [min(event) for event in zip(*runs, strict=True)]
    return max(times), median(times), left


def event_times(f: Iterate, X: Rows, alpha: Rows) -> list[float]:
    """Seconds of the processor for each event."""
    times = []
    for t, (x, a) in enumerate(zip(X, alpha.tolist(), strict=True)):
        started = thread_time()
        f.append(x, a)
        f.estimate(x, t)
        times.append(thread_time() - started)
    return times
