"""The table of stored cells, between markers of docs/champion_and_challengers.md."""

import re
from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).parents[2] / "docs" / "champion_and_challengers.md"
RESULTS = Path(__file__).parents[1] / "results" / "promotions.json"

GAINS = 0.02, 0.05, 0.1, 0.2, 0.5
CORRELATIONS = 0.0, 0.9, 0.99
COMMON = 0.0, 0.8
"""Correlations of one contender's successive errors, and of the contenders' errors."""

Cells = dict[str, dict[str, Any]]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _table(head: list[str], rows: list[list[str]]) -> str:
    rule = "|---" * len(head) + "|"
    return "\n".join([_row(*head), rule, *(_row(*row) for row in rows)])


def power(cells: Cells) -> str:
    """Return the median events to a promotion, by how much smaller the errors are."""
    rows = []
    for correlation in CORRELATIONS:
        for common in COMMON:
            found = [cells.get(f"power {gain} {correlation} {common}") for gain in GAINS]
            rows.append([f"{correlation}", f"{common}", *(_median(cell) for cell in found)])
    head = ["successive errors", "contenders' errors", *(f"{100 * gain:.0f} %" for gain in GAINS)]
    return _table(head, rows)


def _median(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "-"
    return f"{cell['median']:,.0f}" if cell["median"] else f"> {cell['events']:,}"


def with_table(text: str, cells: Cells) -> str:
    """Return a document's text with an updated table."""
    begin, end = "<!-- promotions:power:begin -->", "<!-- promotions:power:end -->"
    new = f"{begin}\n\n{power(cells)}\n\n{end}"
    return re.sub(f"{begin}.*?{end}", lambda _: new, text, flags=re.DOTALL)


def report(cells: Cells) -> None:
    """Update the document."""
    DOCUMENT.write_text(with_table(DOCUMENT.read_text("utf-8"), cells), "utf-8")
