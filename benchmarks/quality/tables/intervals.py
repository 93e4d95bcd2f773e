"""Coverage and interval score, relative to a rolling quantile."""

from benchmarks.quality.cell import Cell
from benchmarks.quality.plan import WITH_INTERVALS
from benchmarks.quality.store import Store
from benchmarks.quality.tables.table import REGRESSION, Table


def intervals(store: Store) -> Table:
    """One row per stream: two figures for each learner with intervals."""
    lines = []
    for stream in REGRESSION:
        line = [stream.id]
        for learner in WITH_INTERVALS:
            cell = Cell("intervals", learner, stream.id, 1)
            figures = store.get(cell, {"failed": "not run"})
            if "failed" in figures:
                line += ["–"] * 2
                continue
            line.append(f"{figures['coverage']:.3f}")
            line.append(f"{figures['score'] / figures['rolling_score']:.3f}")
        if any(cell != "–" for cell in line[1:]):
            lines.append(line)
    columns = ("coverage", "score over rolling's")
    heads = ["stream", *(f"{id_}: {c}" for id_ in WITH_INTERVALS for c in columns)]
    return Table("intervals at 90 %", heads, lines)
