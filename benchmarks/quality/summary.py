"""Summarises cells: medians over seeds, geometric means, ranks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, geometric_mean, median

from benchmarks.quality.cell import Cell
from benchmarks.quality.learners import CONTENDERS, Contender
from benchmarks.quality.store import Store

CEILING = 10.0
"""A learner ten times worse than the running mean has exploded; the cap keeps one such stream from
dominating a geometric mean."""


@dataclass(frozen=True)
class Row:
    """A learner on some streams.

    Parameters
    ----------
    learner
        Which.
    ratios
        For each stream its error over the running mean's, the median over seeds; infinite where a
        seed failed.
    ranks
        For each stream its place among all learners compared, 1 the best; ties share the mean.
    events_per_s
        Geometric mean over the streams.
    memory_mb
        The most that it grew by on a stream.

    """

    learner: Contender
    ratios: Mapping[str, float]
    ranks: Mapping[str, float]
    events_per_s: float
    memory_mb: float

    @property
    def mean_ratio(self) -> float:
        """Geometric mean of the ratios, none counted as more than `CEILING`."""
        return geometric_mean(min(ratio, CEILING) for ratio in self.ratios.values())

    @property
    def mean_rank(self) -> float:
        """Mean of the ranks."""
        return fmean(self.ranks.values())


def rows(store: Store, streams: Sequence[str], figure: str = "ratio") -> list[Row]:
    """Return the learners that have a result on each of the streams, the best mean first.

    Parameters
    ----------
    store
        The results.
    streams
        Ids.
    figure
        Which ratio: "ratio" of the MAE, or "rmse_ratio".

    """
    found = {
        learner.id: {stream: cells_of(learner, stream) for stream in streams}
        for learner in CONTENDERS.values()
        if complete(store, learner, streams, figure)
    }
    ratios = {
        id_: {
            stream: median_ratio([store[c].get(figure) for c in cs]) for stream, cs in cells.items()
        }
        for id_, cells in found.items()
    }
    placed = {stream: ranks({id_: ratios[id_][stream] for id_ in found}) for stream in streams}
    made = []
    for id_, cells in found.items():
        kept = [store[c] for cs in cells.values() for c in cs if "failed" not in store[c]]
        made.append(
            Row(
                CONTENDERS[id_],
                ratios[id_],
                {stream: placed[stream][id_] for stream in streams},
                geometric_mean(f["events_per_s"] for f in kept) if kept else math.nan,
                max((f["memory_mb"] for f in kept), default=math.nan),
            )
        )
    return sorted(made, key=lambda row: row.mean_ratio)


def cells_of(learner: Contender, stream: str) -> list[Cell]:
    """Return a regressor's cells on a stream, one a seed."""
    return [Cell("regression", learner.id, stream, seed) for seed in learner.seeds]


def complete(
    store: Store, learner: Contender, streams: Sequence[str], figure: str = "ratio"
) -> bool:
    """Return whether a regressor has the figure on each of the streams, with each of its seeds.

    A cell that failed has every figure. Cells that were stored by older versions have no
    `rmse_ratio`.
    """
    return learner.task == "regression" and all(
        figure in store.get(cell, {}) or "failed" in store.get(cell, {})
        for stream in streams
        for cell in cells_of(learner, stream)
    )


def median_ratio(ratios: Sequence[float | None]) -> float:
    """Return the median over seeds; None stands for a seed that failed, which spoils the lot."""
    return math.inf if None in ratios else median(r for r in ratios if r is not None)


def ranks(values: Mapping[str, float]) -> dict[str, float]:
    """Return each one's place, 1 the smallest; equals share the mean of their places.

    Examples
    --------
    >>> ranks({"a": 0.5, "b": 0.2, "c": 0.5})
    {'a': 2.5, 'b': 1.0, 'c': 2.5}

    """
    others = list(values.values())
    return {
        name: sum(o < value for o in others) + (1 + sum(o == value for o in others)) / 2
        for name, value in values.items()
    }
