"""Stores cells by "EVENTS STREAM LEARNER SEED"; a shorter run of a cell is a longer one's start."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results" / "long_streams.json"

Cells = dict[str, dict[str, Any]]


def load(file: Path = RESULTS) -> Cells:
    """Return all stored cells."""
    return json.loads(file.read_text("utf-8")) if file.exists() else {}


def put(key: str, cell: dict[str, Any], file: Path = RESULTS) -> Cells:
    """Store one cell beside those that the file has by now; return them all."""
    stored = load(file) | {key: cell}
    beside = file.with_suffix(".tmp")
    beside.write_text(json.dumps(stored, indent=0, sort_keys=True) + "\n", "utf-8")
    beside.replace(file)
    return stored


def seeds(stored: Cells, stream: str, learner: str, n: int) -> list[dict[str, Any]]:
    """Return the cells, one a seed, of the longest runs of at most n events.

    Examples
    --------
    >>> cells = {f"{n} bumps fast 1": {"errors": [n]} for n in (10, 100, 1000)}
    >>> seeds(cells, "bumps", "fast", 500)
    [{'errors': [100]}]

    """
    by_length: dict[int, list[dict[str, Any]]] = {}
    for key, cell in sorted(stored.items()):
        events, *name, _ = key.split(" ")
        if name == [stream, learner] and int(events) <= n:
            by_length.setdefault(int(events), []).append(cell)
    return by_length[max(by_length)] if by_length else []
