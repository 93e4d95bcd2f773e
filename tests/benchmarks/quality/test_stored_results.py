"""The stored results describe the present code: a few cells, recomputed at each change.

They are short, and of learners whose figures hardly depend on the processor. ShrinkingGradient with
sampled draws is left out: the last bits of its cosines differ by processor, and decide its draws.
"""

import pytest

from benchmarks.quality.cell import Cell, measured
from benchmarks.quality.store import Store
from benchmarks.quality.tolerance import changes

CELLS = (
    Cell("regression", "iln-accurate", "airline-passengers", 1),
    Cell("regression", "iln-accurate", "trump-approval", 1),
    Cell("regression", "iln-fast", "phishing-signed", 1),
    Cell("regression", "iln-fast", "planes-2d", 1),
    Cell("regression", "iln-pool", "trump-approval", 1),
    Cell("intervals", "iln-accurate", "chick-weights", 1),
    Cell("intervals", "iln-fast", "friedman", 1),
    Cell("classification", "iln-classifier", "phishing", 1),
    Cell("classification", "iln-classifier", "image-segments", 1),
)


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.learner}-{cell.stream}")
def test_a_stored_result_is_that_of_the_present_code(cell):
    """A change of accuracy is measured and committed with the change of code that caused it."""
    found = [
        f"{change.figure} {change.stored} -> {change.fresh}"
        for change in changes(cell, Store()[cell], measured(cell))
    ]
    assert not found, (
        f"{cell.measure} of {cell.learner} on {cell.stream}: {', '.join(found)}. The learner "
        "changed. If that is intended, run `python -m benchmarks.quality run --again --learner "
        f"{cell.learner}` and `python -m benchmarks.quality report`, look at the difference, and "
        "commit the results with the code."
    )
