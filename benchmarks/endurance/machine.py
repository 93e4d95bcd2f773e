"""The machine's own pauses, to compare a learner's longest event with."""

from time import perf_counter, thread_time

from benchmarks.endurance.tally import figure


def longest_pauses(seconds: float) -> dict[str, float | None]:
    """Return the longest time, in ms, between two readings of a clock in an empty loop.

    Parameters
    ----------
    seconds
        Duration of the loop.

    """
    longest_cpu = longest_wall = 0.0
    cpu, wall = thread_time(), perf_counter()
    end = wall + seconds
    while wall < end:
        next_cpu, next_wall = thread_time(), perf_counter()
        longest_cpu = max(longest_cpu, next_cpu - cpu)
        longest_wall = max(longest_wall, next_wall - wall)
        cpu, wall = next_cpu, next_wall
    return {
        "machine_ms": figure(1e3 * longest_cpu),
        "machine_wall_ms": figure(1e3 * longest_wall),
    }
