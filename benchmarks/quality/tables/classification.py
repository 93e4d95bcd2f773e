"""Accuracy, log-loss and calibration error; and how well probabilities rank events."""

from statistics import median

from benchmarks.quality.cell import Cell
from benchmarks.quality.learners import CLASSIFIERS
from benchmarks.quality.store import Store
from benchmarks.quality.streams import CLASSES
from benchmarks.quality.tables.table import Table, name


def classification(store: Store) -> Table:
    """One row per learner: accuracy, log-loss and calibration error on each stream."""
    figures = ("accuracy", "log_loss", "calibration_error")
    return _table(store, "classification", "accuracy, log-loss, calibration error", figures)


def ranking(store: Store) -> Table:
    """One row per learner: the areas under two curves on each stream."""
    return _table(store, "ranking", "ROC AUC, PR AUC", ("roc_auc", "pr_auc"))


def _table(store: Store, title: str, head: str, figures: tuple[str, ...]) -> Table:
    lines = []
    for learner in CLASSIFIERS:
        line = [name(learner)]
        for stream in CLASSES:
            cells = [Cell("classification", learner.id, stream.id, s) for s in learner.seeds]
            line.append(_medians(store, cells, figures))
        if any(cell != "–" for cell in line[1:]):
            lines.append(line)
    return Table(title, [head, *(stream.id for stream in CLASSES)], lines)


def _medians(store: Store, cells: list[Cell], figures: tuple[str, ...]) -> str:
    if not all(cell in store for cell in cells):
        return "–"
    if any("failed" in store[cell] for cell in cells):
        return "failed"
    if not all(figure in store[cell] for cell in cells for figure in figures):
        return "–"
    return ", ".join(f"{median(store[cell][figure] for cell in cells):.3f}" for figure in figures)
