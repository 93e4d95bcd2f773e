"""Each estimator compared with the machine's limit, over support, width and draws."""

from collections.abc import Callable
from itertools import cycle, product
from math import inf
from statistics import median

from iln_stream.learners.estimators.base import Iterate

from .candidates import Rows, candidates, grown, points
from .clock import Call, medians, side_by_side
from .effort import Effort
from .findings import Cell, Findings
from .machine_limit import Machine

LARGEST = {"full": 2e7, "pool": 2e8, "growing-pool": 2e8}
"""Cells with more than so many points times features are left out: an estimate of `full` takes that
many evaluations, and filling a pool with the support does.
"""


def measure(effort: Effort) -> list[Findings]:
    """Return the seconds of one estimate, and their ratio to the limit of m direct draws."""
    rows: list[dict[str, Cell]] = []
    for n, d in product(effort.supports, effort.widths):
        X, alpha = points(n, d)
        machine = Machine(n, d)
        for m in effort.draws:
            estimates: dict[str, Call] = {}
            for name, estimator in candidates(m):
                if n * m <= LARGEST.get(name, inf):
                    estimates[name] = estimating(grown(estimator, m, X, alpha), X)
            times = medians(
                side_by_side({**machine.calls(), **estimates}, effort.rounds, effort.block)
            )
            units = machine.units(times)
            limit = units.limit(m, d)
            rows += [
                {
                    "estimator": name,
                    "support": n,
                    "d": d,
                    "m": m,
                    "µs": 1e6 * times[name],
                    "limit, µs": 1e6 * limit,
                    "× limit": times[name] / limit,
                    "× with a guide table": times[name] / units.limit(m, d, growing=True),
                }
                for name in estimates
            ]
    rows.sort(key=lambda row: str(row["estimator"]))  # stable: cells stay in order
    return [
        Findings("Estimates of <f, Phi(x)> against the limit of m direct draws", rows, NOTE),
        Findings("The median of the cells above", _middle(rows)),
    ]


NOTE = (
    "limit: m × (d normals + index + row + 2 cosines), each in its best loop, timed in the same "
    "turns. An estimator that needs less than that can be below 1; full and pool have m features, "
    "a block m / 20 features on 20 points each."
)


def estimating(f: Iterate, X: Rows) -> Call:
    """Return a call that estimates f at one row after another, with new random draws for each."""
    rows = cycle(enumerate(X[:512]))
    estimate: Callable[..., object] = f.estimate

    def call() -> None:
        t, x = next(rows)
        estimate(x, t)

    return call


def _middle(rows: list[dict[str, Cell]]) -> list[dict[str, Cell]]:
    columns = "× limit", "× with a guide table"
    names = dict.fromkeys(row["estimator"] for row in rows)
    found: list[dict[str, Cell]] = []
    for name in names:
        cells = [row for row in rows if row["estimator"] == name]
        middle = {column: median(float(row[column] or 0) for row in cells) for column in columns}
        found.append({"estimator": name, "cells": len(cells), **middle})
    return found
