"""A short form of `make endurance`, with its verdicts: it fails when a recursion breaks.

Rounding errors of a recursion with factor 1 / .999 reach the size of the numbers themselves after
36,000 events, so cheap learners that forget take more.
"""

import pytest

from benchmarks.endurance.cell import Cell, Run
from benchmarks.endurance.verdict import verdict

CELLS = (
    *(Cell("fast", stream, 60_000) for stream in ("smooth", "still", "one-hot", "bursting")),
    *(Cell("ridge-forgetting", stream, 50_000) for stream in ("smooth", "still", "one-hot")),
    Cell("ridge", "collinear", 20_000),
    Cell("accurate", "smooth", 50_000),
    *(Cell("accurate", stream, 6_000) for stream in ("still", "one-hot", "heavy-tailed")),
    *(Cell("classifier", stream, 10_000) for stream in ("still", "one-hot", "collinear")),
    *(Cell("pool", stream, 20_000) for stream in ("smooth", "collinear")),
    *(
        Cell(learner, stream, 3_000)
        for learner in ("sampled", "block", "full", "exact", "compress", "growing-pool", "averaged")
        for stream in ("drifting", "heavy-tailed")
    ),
)


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.learner}-{cell.stream}")
def test_a_learner_lasts(cell, tmp_path):
    """Finite predictions, errors that do not rise where nothing changes, flat memory."""
    run = Run(cell, tmp_path)
    run.take(cell.events)
    found = verdict(cell, run.figures())
    assert found.passes, "; ".join(reason for reason in found if reason)
