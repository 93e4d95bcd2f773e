"""Tables of the stored cells, between markers of docs/champion_and_challengers.md."""

import re
from pathlib import Path
from typing import Any

from benchmarks.promotions.designs import DESIGNS
from benchmarks.promotions.differences import EQUAL
from benchmarks.promotions.pairs import PAIRS

DOCUMENT = Path(__file__).parents[2] / "docs" / "champion_and_challengers.md"

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


def _promoted(cell: dict[str, Any] | None) -> str:
    return f"{cell['promoted']}" if cell else "-"


def equal(cells: Cells) -> str:
    """Return the promotions among equal contenders."""
    rows = [
        [kind, *(_promoted(cells.get(f"equal {n} {kind}")) for n in (20_000, 100_000))]
        for kind in EQUAL
    ]
    return _table(["differences of losses", "of 1,000, 20,000 events", "100,000 events"], rows)


def pairs(cells: Cells) -> str:
    """Return the promotions among pairs of learners."""
    rows = []
    for name, (_, _, n_pairs, n_events) in PAIRS.items():
        if cell := cells.get(f"pairs {name}"):
            low, high = (f"{100 * end:.0f}" for end in cell["share_between"])
            share = f"{100 * cell['promoted'] / n_pairs:.1f} % ({low} to {high})"
            rows.append([name, f"{n_events:,}", f"{cell['promoted']} of {n_pairs}", share])
    return _table(["pairs", "events", "promoted", "95 % interval"], rows)


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


def designs(cells: Cells) -> str:
    """Return the promotions, and the median events to one, by design."""
    kinds = [
        *(f"design-equal {kind}" for kind in EQUAL),
        *(f"design-power {correlation}" for correlation in CORRELATIONS),
    ]
    rows = []
    for kind in kinds:
        cell = cells.get(kind)
        title = kind.removeprefix("design-equal ").replace("design-power", "20 % better,")
        rows.append([title, *(_found(cell[name]) if cell else "-" for name in DESIGNS)])
    return _table(["", *DESIGNS], rows)


def _found(number: int | None) -> str:
    return "never" if number is None else f"{number:,}"


TABLES = {"equal": equal, "pairs": pairs, "power": power, "designs": designs}


def with_tables(text: str, cells: Cells) -> str:
    """Return a document's text with updated tables."""
    for name, table in TABLES.items():
        begin, end = f"<!-- promotions:{name}:begin -->", f"<!-- promotions:{name}:end -->"
        lines = f"{begin}\n\n{table(cells)}\n\n{end}"
        text = re.sub(f"{begin}.*?{end}", lambda _, new=lines: new, text, flags=re.DOTALL)
    return text


def report(cells: Cells) -> None:
    """Update the document."""
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text("utf-8"), cells), "utf-8")
