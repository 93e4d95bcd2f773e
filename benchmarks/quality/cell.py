"""Runs a cell of the table (one learner, stream and seed) in its own process."""

import gc
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import own_process
from benchmarks.quality.learners import CONTENDERS
from benchmarks.quality.measures import classification, intervals, regression
from benchmarks.quality.streams import STREAMS, Event, checksum

MEASURES = {
    "regression": regression,
    "classification": classification,
    "intervals": intervals,
}
N_WARMING = 40
"""Events for warming up a copy of the learner, before timing."""


class Cell(NamedTuple):
    """A cell: permanent ids of measure, learner and stream, and a seed."""

    measure: str
    learner: str
    stream: str
    seed: int


class StreamChangedError(Exception):
    """The events differ from those of the stream's id."""


def run(cell: Cell, time_limit: float) -> dict[str, Any]:
    """Return the cell's figures, or the error as `failed`; see `own_process.call`."""
    return own_process.call(measured, cell, time_limit)


def measured(cell: Cell) -> dict[str, Any]:
    """Run the cell here, in this process."""
    warnings.simplefilter("ignore")
    stream, make = STREAMS[cell.stream], CONTENDERS[cell.learner].make
    events = stream.events()
    if checksum(events) != stream.checksum:
        raise StreamChangedError(
            f"{stream.id} has checksum {checksum(events)}, not {stream.checksum}"
        )
    measure = MEASURES[cell.measure]
    _warm(make(cell.seed), measure, events)
    model = make(cell.seed)
    before = _resident_mb()
    figures = measure(model, events)
    return {**figures, "memory_mb": round(max(_resident_mb() - before, 0.0), 1)}


def _warm(model: Any, measure: Any, events: Sequence[Event]) -> None:
    # The last events: the first, learned twice, would look better than they are to any cache.
    measure(model, events[-N_WARMING:])


def _resident_mb() -> float:
    """Return the memory of this process in MB; 0 if unknown."""
    gc.collect()
    status = Path("/proc/self/statm")
    if not status.exists():
        return 0.0
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
