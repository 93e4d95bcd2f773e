"""The tables: as Markdown for the documents, and for a terminal."""

import math
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from rich.table import Table as Drawn

from benchmarks.quality.cell import Cell
from benchmarks.quality.learners import CLASSIFIERS, CONTENDERS, REGRESSORS
from benchmarks.quality.plan import WITH_INTERVALS
from benchmarks.quality.store import Store
from benchmarks.quality.streams import CLASSES, FILES, HELD_OUT, STREAMS, TEN, Stream
from benchmarks.quality.summary import CEILING, Row, complete, rows

REGRESSION = (*TEN, *FILES, *HELD_OUT)


class Table(NamedTuple):
    """Heads and cells, all text; the first `n_left` columns are words, the others figures."""

    title: str
    heads: list[str]
    cells: list[list[str]]
    n_left: int = 1

    def markdown(self) -> str:
        """As Markdown, without the title."""
        rule = ["---" if i < self.n_left else "--:" for i in range(len(self.heads))]
        lines = [self.heads, rule, *self.cells]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def drawn(self) -> Drawn:
        """For a terminal."""
        table = Drawn(title=self.title)
        for i, head in enumerate(self.heads):
            table.add_column(head.replace("**", ""), justify="left" if i < self.n_left else "right")
        for line in self.cells:
            table.add_row(*(cell.replace("**", "") for cell in line))
        return table


def streams() -> Table:
    """One row a stream: what it is."""
    lines = [[f"`{s.id}`", s.group, s.about] for s in STREAMS.values()]
    return Table("streams", ["id", "group", "what"], lines, n_left=3)


def learners() -> Table:
    """One row a learner: how it is set."""
    lines = [[f"`{c.id}`", c.title, c.settings] for c in CONTENDERS.values()]
    return Table("learners", ["id", "learner", "settings"], lines, n_left=3)


def overview(store: Store) -> Table:
    """One row a learner: geometric means by group; ranks, speed and memory over all streams.

    All: those on which every learner of the table has results.
    """
    groups = [(TEN, "ten"), (FILES, "files"), (HELD_OUT, "held out")]
    listed = [c for c in REGRESSORS if complete(store, c, [stream.id for stream in TEN])]
    common = [s for s in REGRESSION if all(complete(store, c, [s.id]) for c in listed)]
    by_group = [{row.learner.id: row for row in _rows(store, group)} for group, _ in groups]
    lines = [
        [
            _name(row),
            *(
                _ratio(found[row.learner.id].mean_ratio) if row.learner.id in found else "–"
                for found in by_group
            ),
            f"{row.mean_rank:.1f}",
            str(row.exploded or ""),
            f"{row.events_per_s:,.0f}",
            f"{row.memory_mb:,.0f}",
        ]
        for row in sorted(
            _rows(store, common), key=lambda row: by_group[0][row.learner.id].mean_ratio
        )
    ]
    heads = ["learner", *(name for _, name in groups), "rank", "exploded", "events/s", "MB"]
    return Table("geometric mean of MAE over the running mean's MAE", heads, lines)


def ratios(store: Store, group: Sequence[Stream]) -> Table:
    """One row a learner, one column a stream, the best in each one bold."""
    found = _rows(store, group)
    best = {s.id: min((r.ratios[s.id] for r in found), default=math.nan) for s in group}
    lines = [
        [
            _name(row),
            *(_ratio(row.ratios[s.id], bold=row.ratios[s.id] == best[s.id]) for s in group),
            _ratio(row.mean_ratio),
        ]
        for row in found
    ]
    return Table(group[0].group, ["learner", *(s.id for s in group), "mean"], lines)


def classification(store: Store) -> Table:
    """One row a learner: accuracy, log-loss and calibration error on each stream."""
    lines = []
    for learner in CLASSIFIERS:
        line = [f"**{learner.title}**" if learner.family == "ours" else learner.title]
        for stream in CLASSES:
            cells = [Cell("classification", learner.id, stream.id, s) for s in learner.seeds]
            line.append(_classified(store, cells))
        if any(cell != "–" for cell in line[1:]):
            lines.append(line)
    heads = ["accuracy / log-loss / calibration error", *(stream.id for stream in CLASSES)]
    return Table("classification", heads, lines)


def intervals(store: Store) -> Table:
    """One row a stream: coverage and interval score, ours over the rolling quantile's."""
    lines = []
    for stream in REGRESSION:
        line = [stream.id]
        for learner in WITH_INTERVALS:
            cell = Cell("intervals", learner, stream.id, 1)
            figures = store.get(cell, {"failed": "not run"})
            if "failed" in figures:
                line += ["–"] * 3
                continue
            line.append(f"{figures['coverage']:.3f}")
            line.append(f"{figures['rolling_coverage']:.3f}")
            line.append(f"{figures['score'] / figures['rolling_score']:.3f}")
        if any(cell != "–" for cell in line[1:]):
            lines.append(line)
    columns = ("coverage", "rolling", "score over rolling's")
    heads = ["stream", *(f"{id_}: {c}" for id_ in WITH_INTERVALS for c in columns)]
    return Table("intervals at 90 %", heads, lines)


def _rows(store: Store, group: Sequence[Stream]) -> list[Row]:
    return rows(store, [stream.id for stream in group])


def _name(row: Row) -> str:
    title = row.learner.title + (" (batch)" if row.learner.family == "batch" else "")
    return f"**{title}**" if row.learner.family == "ours" else title


def _ratio(ratio: float, bold: bool = False) -> str:
    text = "exploded" if ratio >= CEILING else f"{ratio:.3f}"
    return f"**{text}**" if bold else text


def _classified(store: Store, cells: list[Cell]) -> str:
    if not all(cell in store for cell in cells):
        return "–"
    if any("failed" in store[cell] for cell in cells):
        return "failed"
    names = ("accuracy", "log_loss", "calibration_error")
    return " / ".join(f"{median(store[cell][name] for cell in cells):.3f}" for name in names)
