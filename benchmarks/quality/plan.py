"""Selects the cells to run."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from benchmarks.quality.cell import Cell
from benchmarks.quality.learners import CONTENDERS
from benchmarks.quality.streams import STREAMS

WITH_INTERVALS = ("iln-accurate", "iln-fast")


def cells(learners: tuple[str, ...] = ("*",), streams: tuple[str, ...] = ("*",)) -> Iterator[Cell]:
    """Return each cell whose ids match a pattern, stream by stream.

    A stream's pattern may also name its group.
    """
    for stream in STREAMS.values():
        if not any(fnmatchcase(name, p) for p in streams for name in (stream.id, stream.group)):
            continue
        task = "classification" if stream.group == "classes" else "regression"
        for learner in CONTENDERS.values():
            if learner.task != task or not any(fnmatchcase(learner.id, p) for p in learners):
                continue
            for seed in learner.seeds:
                yield Cell(task, learner.id, stream.id, seed)
            if learner.id in WITH_INTERVALS:
                yield Cell("intervals", learner.id, stream.id, learner.seeds[0])
