"""Ratios to the running mean: means by group, and stream by stream."""

import math
from collections.abc import Sequence

from benchmarks.quality.learners import REGRESSORS
from benchmarks.quality.learners.lags import SUFFIX
from benchmarks.quality.store import Store
from benchmarks.quality.streams import TEN, Stream
from benchmarks.quality.summary import Row, complete
from benchmarks.quality.tables.table import GROUPS, REGRESSION, Table, name, ratio, rows_of

MOST_IN_BRIEF = {"online": 4, "batch": 1}
BRIEF = ("learner", "files", "held out", "held out 2", "events/s")
RMSE = ("ten", "held out")
"""Groups whose means of RMSE are shown beside those of MAE."""


def brief(store: Store) -> Table:
    """The overview's rows of ours, the four best online peers, and the best batch learner.

    Errors and events a second only, of learners that ran on all groups; the best is that with the
    least mean of the shown errors.
    """
    whole = overview(store)
    shown = [i for i, head in enumerate(whole.heads) if head in BRIEF]
    family = {name(learner): learner.family for learner in REGRESSORS}
    rows = [[line[i] for i in shown] for line in whole.cells if ratio(None) not in line]
    rows.sort(key=lambda line: math.prod(map(float, line[1:-1])))
    left_out = [
        line
        for kind, most in MOST_IN_BRIEF.items()
        for line in [each for each in rows if family[each[0]] == kind][most:]
    ]
    lines = [line for line in rows if line not in left_out]
    return Table("ours and the best online peers", [whole.heads[i] for i in shown], lines)


def overview(store: Store) -> Table:
    """One row per learner: geometric means by group; ranks, speed and memory over all streams.

    All: those on which every learner has results. Of a peer with and without lags, the variant
    that ran on more groups, or else the better one. A group without results has no column.
    """
    listed = [c for c in REGRESSORS if complete(store, c, [stream.id for stream in TEN])]
    common = [s for s in REGRESSION if all(complete(store, c, [s.id]) for c in listed)]
    means = {
        title + suffix: {r.learner.id: r.mean_ratio for r in rows_of(store, GROUPS[title], figure)}
        for figure, suffix, titles in (("ratio", "", GROUPS), ("rmse_ratio", ", RMSE", RMSE))
        for title in titles
    }
    means = {title: found for title, found in means.items() if found}
    by_ten = sorted(rows_of(store, common), key=lambda row: means["ten"][row.learner.id])
    variants: dict[str, Row] = {}
    for row in sorted(by_ten, key=lambda row: -sum(row.learner.id in m for m in means.values())):
        variants.setdefault(row.learner.id.removesuffix(SUFFIX), row)
    lines = [
        [
            name(row.learner),
            *(ratio(found.get(row.learner.id)) for found in means.values()),
            f"{row.mean_rank:.1f}",
            f"{row.events_per_s:,.0f}",
            f"{row.memory_mb:,.0f}" if row.memory_mb >= 1.0 else "<1",
        ]
        for row in by_ten
        if row in variants.values()
    ]
    heads = ["learner", *means, "rank", "events/s", "MB"]
    return Table("geometric mean of the error over the running mean's", heads, lines)


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
