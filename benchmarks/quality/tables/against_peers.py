"""Our learner compared with the best online peer on each stream."""

import math
from statistics import stdev

from benchmarks.quality.learners import CONTENDERS, REGRESSORS
from benchmarks.quality.store import Store
from benchmarks.quality.summary import cells_of, complete, median_ratio
from benchmarks.quality.tables.table import REGRESSION, Table, ratio

OURS = "iln-accurate"
MARGIN = 0.05
"""Ours may be worse than the best online peer by 5 %, or by two standard errors."""


def against_peers(store: Store, figure: str = "ratio") -> Table:
    """One row per stream: ours, its standard error, the best online peer, the best batch learner.

    `figure` is "ratio" of the MAE, or "rmse_ratio". Peers with lags are peers, too.
    The standard error is that of the seeds' mean: it tells luck in our draws, not in the stream's.
    """
    lines = []
    for stream in REGRESSION:
        found = {
            c.id: [store[cell].get(figure) for cell in cells_of(c, stream.id)]
            for c in REGRESSORS
            if complete(store, c, [stream.id], figure)
        }
        medians = {id_: median_ratio(values) for id_, values in found.items()}
        best = {
            family: min(
                (id_ for id_ in medians if CONTENDERS[id_].family == family), key=medians.get
            )
            for family in ("online", "batch")
            if any(CONTENDERS[id_].family == family for id_ in medians)
        }
        if OURS not in medians or "online" not in best:
            continue
        ours, theirs = medians[OURS], medians[best["online"]]
        error = standard_error(found[OURS])
        lines.append(
            [
                stream.id,
                ratio(ours),
                f"{error:.3f}",
                ratio(theirs),
                CONTENDERS[best["online"]].title,
                f"{100 * (ours / theirs - 1):+.0f} %",
                "yes" if within(ours, error, theirs) else "**no**",
                ratio(medians[best["batch"]]) if "batch" in best else "–",
            ]
        )
    heads = ["stream", "ours", "SE", "best online peer", "its name"]
    heads += ["ours relative to it", "within", "best batch"]
    return Table("ours against the best online peer", heads, lines)


def standard_error(values: list[float | None]) -> float:
    """Return the standard error of the seeds' mean; infinite where a seed failed."""
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return math.inf
    return stdev(numbers) / math.sqrt(len(numbers)) if len(numbers) > 1 else 0.0


def within(ours: float, error: float, theirs: float) -> bool:
    """Return whether ours is no more than 5 %, or two standard errors, worse than theirs."""
    return math.isfinite(ours) and ours <= theirs + max(MARGIN * theirs, 2 * error)
