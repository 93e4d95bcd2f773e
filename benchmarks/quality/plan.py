"""Selects the cells to run."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from benchmarks.quality.cell import Cell
from benchmarks.quality.learners import CONTENDERS
from benchmarks.quality.streams import STREAMS

TEN_ONLY = frozenset(
    {
        *("batch-extra-trees", "batch-extra-trees+lags"),
        *("capymoa-sgbr+lags", "river-arf+lags", "river-ewa+lags"),
    }
)
"""Slow peers that run on the ten streams only: the other groups would take an hour and more."""

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
            if learner.id in TEN_ONLY and stream.group != "ten":
                continue
            for seed in learner.seeds:
                yield Cell(task, learner.id, stream.id, seed)
            if learner.id in WITH_INTERVALS:
                yield Cell("intervals", learner.id, stream.id, learner.seeds[0])
