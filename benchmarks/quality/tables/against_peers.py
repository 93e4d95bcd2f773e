"""Our learner compared with the best online peer on each stream."""

import math
from collections.abc import Mapping
from statistics import stdev
from typing import NamedTuple

from benchmarks.quality.learners import CONTENDERS, REGRESSORS
from benchmarks.quality.store import Store
from benchmarks.quality.summary import cells_of, complete, median_ratio
from benchmarks.quality.tables.table import REGRESSION, Table, ratio

OURS = "iln-accurate"
MARGIN = 0.05
"""Ours may be worse than the best online peer by 5 %, or by two standard errors."""


def against_peers(store: Store) -> Table:
    """One row per stream: ours, the best online peer, the best batch learner, and the differences.

    Peers with lags are peers, too. A difference in bold is larger than the margin.
    """
    lines = []
    for stream in REGRESSION:
        by_mae, by_rmse = (best(store, stream.id, f) for f in ("ratio", "rmse_ratio"))
        if by_mae is None:
            continue
        lines.append(
            [
                stream.id,
                ratio(by_mae["ours"].median),
                ratio(by_mae["online"].median),
                CONTENDERS[by_mae["online"].learner].title,
                difference(by_mae),
                difference(by_rmse) if by_rmse else "–",
                ratio(by_mae["batch"].median) if "batch" in by_mae else "–",
            ]
        )
    heads = ["stream", "ours", "best online peer", "its name"]
    heads += ["ours to it, %", "by RMSE, %", "best batch"]
    return Table("ours against the best online peer", heads, lines)


class Best(NamedTuple):
    """A learner's median over seeds, and the standard error of the seeds' mean.

    The standard error tells luck in our draws, not in the stream's.
    """

    median: float
    error: float
    learner: str


def best(store: Store, stream: str, figure: str) -> dict[str, Best] | None:
    """Return ours, and the best of each other family; None if ours or online peers did not run."""
    found: dict[str, Best] = {}
    for c in REGRESSORS:
        family = "ours" if c.id == OURS else c.family
        if (c.id == OURS or family in ("online", "batch")) and complete(store, c, [stream], figure):
            values = [store[cell].get(figure) for cell in cells_of(c, stream)]
            each = Best(median_ratio(values), standard_error(values), c.id)
            found[family] = min(found.get(family, each), each)
    return found if {"ours", "online"} <= set(found) else None


def difference(found: Mapping[str, Best]) -> str:
    """Return by how many percent ours is above the best online peer; bold beyond the margin."""
    ours, theirs = found["ours"], found["online"].median
    text = f"{100 * (ours.median / theirs - 1):+.0f}"
    return text if within(ours.median, ours.error, theirs) else f"**{text}**"


def standard_error(values: list[float | None]) -> float:
    """Return the standard error of the seeds' mean; infinite where a seed failed."""
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return math.inf
    return stdev(numbers) / math.sqrt(len(numbers)) if len(numbers) > 1 else 0.0


def within(ours: float, error: float, theirs: float) -> bool:
    """Return whether ours is no more than 5 %, or two standard errors, worse than theirs."""
    return math.isfinite(ours) and ours <= theirs + max(MARGIN * theirs, 2 * error)
