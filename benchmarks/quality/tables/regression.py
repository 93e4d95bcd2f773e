"""Ratios to the running mean: means by group, and stream by stream."""

import math
from collections.abc import Sequence

from benchmarks.quality.learners import REGRESSORS
from benchmarks.quality.store import Store
from benchmarks.quality.streams import FILES, HELD_OUT, TEN, Stream
from benchmarks.quality.summary import complete
from benchmarks.quality.tables.table import REGRESSION, Table, name, ratio, rows_of


def overview(store: Store) -> Table:
    """One row per learner: geometric means by group; ranks, speed and memory over all streams.

    All: those on which every learner of the table has results.
    """
    groups = [(TEN, "ten"), (FILES, "files"), (HELD_OUT, "held out")]
    listed = [c for c in REGRESSORS if complete(store, c, [stream.id for stream in TEN])]
    common = [s for s in REGRESSION if all(complete(store, c, [s.id]) for c in listed)]
    means = [{r.learner.id: r.mean_ratio for r in rows_of(store, group)} for group, _ in groups]
    lines = [
        [
            name(row.learner),
            *(ratio(mean[row.learner.id]) if row.learner.id in mean else "–" for mean in means),
            f"{row.mean_rank:.1f}",
            str(row.exploded or ""),
            f"{row.events_per_s:,.0f}",
            f"{row.memory_mb:,.0f}",
        ]
        for row in sorted(rows_of(store, common), key=lambda row: means[0][row.learner.id])
    ]
    heads = ["learner", *(title for _, title in groups), "rank", "exploded", "events/s", "MB"]
    return Table("geometric mean of MAE over the running mean's MAE", heads, lines)


def ratios(store: Store, group: Sequence[Stream]) -> Table:
    """One row per learner and one column per stream, with the best in bold."""
    found = rows_of(store, group)
    best = {s.id: min((r.ratios[s.id] for r in found), default=math.nan) for s in group}
    lines = [
        [
            name(row.learner),
            *(ratio(row.ratios[s.id], bold=row.ratios[s.id] == best[s.id]) for s in group),
            ratio(row.mean_ratio),
        ]
        for row in found
    ]
    return Table(group[0].group, ["learner", *(s.id for s in group), "mean"], lines)
