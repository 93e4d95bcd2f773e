"""The findings of a section, as rows for a table and for JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rich.console import Console
from rich.table import Table

Cell: TypeAlias = str | int | float | None


@dataclass(frozen=True)
class Findings:
    """A table of measurements.

    Parameters
    ----------
    title
        What was measured, and in which unit.
    rows
        One mapping a row, all with the same keys, the table's columns. None: not measured.
    note
        How to read it.

    """

    title: str
    rows: Sequence[Mapping[str, Cell]]
    note: str = ""

    def show(self, console: Console) -> None:
        """Print the table."""
        table = Table(title=self.title, caption=self.note, title_justify="left")
        table.caption_justify = "left"
        for name in self.rows[0] if self.rows else ():
            texts = any(isinstance(row[name], str) for row in self.rows)
            table.add_column(name, justify="left" if texts else "right")
        for row in self.rows:
            table.add_row(*map(shown, row.values()))
        console.print(table)


def shown(cell: Cell) -> str:
    """Return a cell's text: three digits of a measurement, all of a count."""
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
    return f"{cell:,}" if isinstance(cell, int) else cell
