"""Ratios to the running mean: means by group, and stream by stream."""

import math
from collections.abc import Sequence

from benchmarks.quality.learners import REGRESSORS
from benchmarks.quality.learners.lags import SUFFIX
from benchmarks.quality.store import Store
from benchmarks.quality.streams import TEN, Stream
from benchmarks.quality.summary import complete
from benchmarks.quality.tables.table import GROUPS, REGRESSION, Table, name, ratio, rows_of

N_PEERS_IN_BRIEF = 4
BRIEF = ("learner", "files", "held out", "held out 2", "events/s")


def brief(store: Store) -> Table:
    """The overview's rows of ours and of the four best online peers that ran on all groups.

    Of a peer with and without lags, the better variant. Errors and events a second only.
    """
    whole = overview(store)
    shown = [i for i, head in enumerate(whole.heads) if head in BRIEF]
    by_title = {name(learner): learner for learner in REGRESSORS}
    lines: list[list[str]] = []
    peers: set[str] = set()
    for line in whole.cells:
        learner, cells = by_title[line[0]], [line[i] for i in shown]
        if learner.family == "batch" or ratio(None) in cells:
            continue
        if learner.family == "online":
            peer = learner.id.removesuffix(SUFFIX)
            if peer in peers or len(peers) == N_PEERS_IN_BRIEF:
                continue
            peers.add(peer)
        lines.append(cells)
    return Table("ours and the best online peers", [whole.heads[i] for i in shown], lines)


def overview(store: Store) -> Table:
    """One row per learner: geometric means by group; ranks, speed and memory over all streams.

    All: those on which every learner of the table has results. Means are of MAE and of RMSE; a
    group without results has no column.
    """
    listed = [c for c in REGRESSORS if complete(store, c, [stream.id for stream in TEN])]
    common = [s for s in REGRESSION if all(complete(store, c, [s.id]) for c in listed)]
    means = {
        title + suffix: {r.learner.id: r.mean_ratio for r in rows_of(store, group, figure)}
        for figure, suffix in (("ratio", ""), ("rmse_ratio", ", RMSE"))
        for title, group in GROUPS.items()
    }
    means = {title: found for title, found in means.items() if found}
    lines = [
        [
            name(row.learner),
            *(ratio(found.get(row.learner.id)) for found in means.values()),
            f"{row.mean_rank:.1f}",
            str(row.exploded or ""),
            f"{row.events_per_s:,.0f}",
            f"{row.memory_mb:,.0f}" if row.memory_mb >= 1.0 else "<1",
        ]
        for row in sorted(rows_of(store, common), key=lambda row: means["ten"][row.learner.id])
    ]
    heads = ["learner", *means, "rank", "exploded", "events/s", "MB"]
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
