"""Writes the tables between their markers, and the picture."""

import re
from pathlib import Path

from benchmarks.long_streams.curve import ENDS
from benchmarks.long_streams.plot import draw
from benchmarks.long_streams.results import Cells
from benchmarks.long_streams.table import means

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENT = DOCS / "accuracy.md"
PICTURE = DOCS / "images" / "long_streams.png"
N_EVENTS = 100_000
"""Longer runs are not in the document's table and picture."""

BEGIN, END = "<!-- long-streams:begin -->", "<!-- long-streams:end -->"


def with_tables(text: str, stored: Cells) -> str:
    """Return a document's text with an updated table of means."""
    lines = "\n".join([BEGIN, *means(N_EVENTS, stored), END])
    return re.sub(f"{BEGIN}.*?{END}", lambda _: lines, text, flags=re.DOTALL)


def report(stored: Cells) -> None:
    """Update the document and the picture."""
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text("utf-8"), stored), "utf-8")
    draw(stored, N_EVENTS, ENDS, PICTURE)
