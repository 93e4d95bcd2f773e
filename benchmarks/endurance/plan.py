"""Selects the cells to run."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from benchmarks.endurance.cell import Cell
from benchmarks.endurance.learners import LEARNERS
from benchmarks.endurance.streams import KINDS

EVENTS = 1_000_000

LONGEST = Cell("fast", "smooth", 10 * EVENTS)
"""The cell of ten million events: no decade of ours is cheaper."""

EVENTS_KEPT = 100_000
KINDS_KEPT = "smooth", "drifting"
"""Number of events and streams of learners that keep all events: they slow down as they grow."""


def planned() -> Iterator[Cell]:
    """Yield the cells of the documents, the longest first."""
    yield LONGEST
    for learner, entrant in LEARNERS.items():
        if entrant.keeps_all:
            yield from (Cell(learner, stream, EVENTS_KEPT) for stream in KINDS_KEPT)
        else:
            yield from (Cell(learner, stream, EVENTS) for stream in KINDS)


def chosen(
    learners: tuple[str, ...] = ("*",), streams: tuple[str, ...] = ("*",), events: int | None = None
) -> Iterator[Cell]:
    """Yield the cells whose ids match a pattern, each once; `events` overrides their number."""
    found: dict[Cell, None] = {}
    for cell in planned():
        matches = any(fnmatchcase(cell.learner, p) for p in learners)
        if matches and any(fnmatchcase(cell.stream, p) for p in streams):
            found[cell if events is None else cell._replace(events=events)] = None
    yield from found
