"""Accuracy, log-loss and calibration error."""

from statistics import median

from benchmarks.quality.cell import Cell
from benchmarks.quality.learners import CLASSIFIERS
from benchmarks.quality.store import Store
from benchmarks.quality.streams import CLASSES
from benchmarks.quality.tables.table import Table, name


def classification(store: Store) -> Table:
    """One row per learner: the three figures on each stream."""
    lines = []
    for learner in CLASSIFIERS:
        line = [name(learner)]
        for stream in CLASSES:
            cells = [Cell("classification", learner.id, stream.id, s) for s in learner.seeds]
            line.append(_figures(store, cells))
        if any(cell != "–" for cell in line[1:]):
            lines.append(line)
    heads = ["accuracy / log-loss / calibration error", *(stream.id for stream in CLASSES)]
    return Table("classification", heads, lines)


def _figures(store: Store, cells: list[Cell]) -> str:
    if not all(cell in store for cell in cells):
        return "–"
    if any("failed" in store[cell] for cell in cells):
        return "failed"
    names = ("accuracy", "log_loss", "calibration_error")
    return " / ".join(f"{median(store[cell][figure] for cell in cells):.3f}" for figure in names)
