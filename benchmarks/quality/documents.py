"""Puts the tables where the documents mark a place for them."""

import re
from pathlib import Path

from benchmarks.quality import table
from benchmarks.quality.store import Store
from benchmarks.quality.streams import FILES, HELD_OUT, TEN

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "quality.png"
DOCUMENTS = (ROOT / "docs" / "quality.md", ROOT / "README.md")


def tables(store: Store) -> dict[str, table.Table]:
    """Return every table by the name that marks its place."""
    return {
        "streams": table.streams(),
        "learners": table.learners(),
        "overview": table.overview(store),
        "ten": table.ratios(store, TEN),
        "files": table.ratios(store, FILES),
        "held-out": table.ratios(store, HELD_OUT),
        "classification": table.classification(store),
        "intervals": table.intervals(store),
    }


def with_tables(text: str, filled: dict[str, table.Table]) -> str:
    """Return a document's text with its tables renewed."""
    for name, filling in filled.items():
        begin, end = f"<!-- quality:{name}:begin -->", f"<!-- quality:{name}:end -->"
        body = filling.markdown() if filling.cells else "(No results yet.)"
        replacement = f"{begin}\n{body}\n{end}"
        text = re.sub(
            f"{re.escape(begin)}.*?{re.escape(end)}",
            lambda _, new=replacement: new,
            text,
            flags=re.DOTALL,
        )
    return text
