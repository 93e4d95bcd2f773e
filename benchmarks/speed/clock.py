"""Times functions in turns, so that noise of the machine affects all alike.

It measures processor time, not wall time, so that other processes do not count. Both are equal for
one thread on an idle machine; if numpy uses several threads, their times are added.
"""

from collections.abc import Callable, Mapping
from statistics import median
from time import process_time
from typing import Any

Call = Callable[[], Any]


def side_by_side(
    calls: Mapping[str, Call], rounds: int = 7, block: float = 0.02
) -> dict[str, list[float]]:
    """Seconds that one call takes, `rounds` times for each, in turns.

    A time is that of a block of calls that takes about `block` seconds, divided by their number.
    Each is called at least twice before the clock runs: compiled, and warm.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    repeats = {name: max(1, round(block / _once(call))) for name, call in calls.items()}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(_seconds(call, repeats[name]))
    return times


def medians(times: Mapping[str, list[float]]) -> dict[str, float]:
    """The median of each one's times."""
    return {name: median(seconds) for name, seconds in times.items()}


def _once(call: Call) -> float:
    """About the time of one call; never 0."""
    call()
    n, seconds = 1, _seconds(call, 1)
    while seconds * n < 1e-4 and n < 1 << 16:
        n *= 8
        seconds = _seconds(call, n)
    return max(seconds, 1e-9)


def _seconds(call: Call, repeats: int) -> float:
    started = process_time()
    for _ in range(repeats):
        call()
    return (process_time() - started) / repeats
