"""The cost of an event as the support grows."""

from itertools import cycle, islice

from iln_stream.learners.estimators.base import Iterate

from .candidates import Rows, candidates, grown, points
from .clock import Call, medians, side_by_side
from .effort import Effort
from .findings import Cell, Findings
from .machine_limit import Machine

WIDTH, DRAWS = 10, 1_000
EVENTS = 20

UNTIL = {"full": 10_000, "exact": 100_000}
"""Largest supports for estimators whose cost is proportional to them."""


def measure(effort: Effort) -> list[Findings]:
    """Seconds of estimate + append at each number of points, all sizes in turns."""
    X, alpha = points(max(effort.growth), WIDTH)
    machines = {n: Machine(n, WIDTH) for n in effort.growth}
    calls: dict[str, Call] = {}
    for n in effort.growth:
        for name, estimator in candidates(DRAWS):
            if n <= UNTIL.get(name, n):
                f = grown(estimator, DRAWS, X[:n], alpha[:n])
                calls[f"{name} {n}"] = learning(f, X)
        calls |= {f"{n} {loop}": call for loop, call in machines[n].calls().items()}
    # One call a round, so that a small support does not grow much while it is timed.
    times = medians(side_by_side(calls, 2 * effort.rounds, block=0.0))

    times = {name: t if ":" in name else t / EVENTS for name, t in times.items()}
    limits = {}
    for n, machine in machines.items():
        seconds = {loop: times[f"{n} {loop}"] for loop in machine.calls()}
        limits[n] = machine.units(seconds).limit(DRAWS, WIDTH)
    first = effort.growth[0]
    rows: list[dict[str, Cell]] = []
    for name in ("limit", *(name for name, _ in candidates(DRAWS))):
        row: dict[str, Cell] = {"what": name}
        for n in effort.growth:
            cost = limits[n] if name == "limit" else times.get(f"{name} {n}")
            row[f"µs at {n:,}"] = cost and 1e6 * cost
        at_first = row[f"µs at {first:,}"]
        for n in effort.growth[1:]:
            cost = row[f"µs at {n:,}"]
            row[f"× at {n:,}"] = cost and cost / at_first
        rows.append(row)
    title = f"Estimate + append as the support grows, d = {WIDTH}, m = {DRAWS:,}"
    return [Findings(title, rows, f"×: times the cost at {first:,} points. limit: without append.")]


def learning(f: Iterate, X: Rows) -> Call:
    """Return a call that makes EVENTS events: f is estimated at a row, which then joins."""
    rows = cycle(enumerate(X[:512]))

    def call() -> None:
        for t, x in islice(rows, EVENTS):
            f.append(x, 1e-3 * f.estimate(x, t).value)

    return call
