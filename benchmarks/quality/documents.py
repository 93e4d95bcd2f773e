"""Writes the tables between their markers in the documents."""

import re
from pathlib import Path

from benchmarks.quality import tables
from benchmarks.quality.store import Store
from benchmarks.quality.streams import FILES, HELD_OUT, HELD_OUT_2, TEN

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "quality.png"
SPEEDS = ROOT / "docs" / "images" / "accuracy_and_speed.png"
DOCUMENTS = tuple(ROOT / f for f in ("docs/accuracy.md", "docs/how_accurate.md", "README.md"))


def all_tables(store: Store) -> dict[str, tables.Table]:
    """Return each table by the name of its marker."""
    return {
        "streams": tables.streams(),
        "settings": tables.settings(),
        "overview": tables.overview(store),
        "brief": tables.brief(store),
        "against-peers": tables.against_peers(store),
        "ten": tables.ratios(store, TEN),
        "files": tables.ratios(store, FILES),
        "held-out": tables.ratios(store, HELD_OUT),
        "held-out-2": tables.ratios(store, HELD_OUT_2),
        "classification": tables.classification(store),
        "ranking": tables.ranking(store),
        "intervals": tables.intervals(store),
    }


def with_tables(text: str, filled: dict[str, tables.Table], suite: str = "quality") -> str:
    """Return a document's text with updated tables between the markers of a suite."""
    for name, filling in filled.items():
        begin, end = f"<!-- {suite}:{name}:begin -->", f"<!-- {suite}:{name}:end -->"
        body = filling.markdown() if filling.cells else "(No results yet.)"
        replacement = f"{begin}\n{body}\n{end}"
        text = re.sub(
            f"{re.escape(begin)}.*?{re.escape(end)}",
            lambda _, new=replacement: new,
            text,
            flags=re.DOTALL,
        )
    return text
