"""A table, as Markdown for the documents and for a terminal."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.table import Table as Drawn

from benchmarks.quality.learners import Contender
from benchmarks.quality.store import Store
from benchmarks.quality.streams import FILES, HELD_OUT, HELD_OUT_2, TEN, Stream
from benchmarks.quality.summary import CEILING, Row, rows

GROUPS = {"ten": TEN, "files": FILES, "held out": HELD_OUT, "held out 2": HELD_OUT_2}
"""Groups of regression streams by their titles in tables."""

REGRESSION = tuple(stream for group in GROUPS.values() for stream in group)


class Table(NamedTuple):
    """Heads and cells as text; the first `n_left` columns are words, the others figures."""

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


def rows_of(store: Store, group: Sequence[Stream], figure: str = "ratio") -> list[Row]:
    """Return the summary's rows on a group of streams."""
    return rows(store, [stream.id for stream in group], figure)


def name(learner: Contender) -> str:
    """Return a learner's title: ours in bold, batch learners marked."""
    title = learner.title + (" (batch)" if learner.family == "batch" else "")
    return f"**{title}**" if learner.family == "ours" else title


def ratio(value: float | None, bold: bool = False) -> str:
    """Return a ratio with three digits, `exploded` from `CEILING` on, or a dash for None."""
    if value is None:
        return "–"
    text = "exploded" if value >= CEILING else f"{value:.3f}"
    return f"**{text}**" if bold else text
