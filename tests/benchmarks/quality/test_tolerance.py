"""Tolerance: a change in quality is seen, in either direction."""

import pytest

from benchmarks.quality.cell import Cell
from benchmarks.quality.tolerance import changes

CELL = Cell("regression", "iln-accurate", "mv", 1)
STORED = {"ratio": 0.2, "mae": 3.0, "events_per_s": 1000.0}


@pytest.mark.parametrize("ratio", [0.2, 0.2019, 0.1981])
def test_within_tolerance(ratio):
    """Last bits of another machine are no change in quality; speed is not compared at all."""
    assert changes(CELL, STORED, {"ratio": ratio, "events_per_s": 1.0}) == []


@pytest.mark.parametrize(("ratio", "worse"), [(0.2021, True), (0.1979, False), (5.0, True)])
def test_beyond_tolerance(ratio, worse):
    """A ratio more than 1 % off is a change, and which way it went is said."""
    (change,) = changes(CELL, STORED, {"ratio": ratio})
    assert change.worse is worse
    assert (change.stored, change.fresh) == (0.2, ratio)


def test_a_figure_that_older_versions_did_not_store_is_not_compared():
    """A stored cell without an RMSE is no change, and one with it is compared."""
    assert changes(CELL, STORED, {"ratio": 0.2, "rmse_ratio": 0.3}) == []
    (change,) = changes(CELL, {**STORED, "rmse_ratio": 0.25}, {"ratio": 0.2, "rmse_ratio": 0.3})
    assert (change.figure, change.worse) == ("rmse_ratio", True)


def test_a_run_that_fails_is_worse():
    """A learner that begins to fail is not overlooked for want of a figure."""
    (change,) = changes(CELL, STORED, {"failed": "ExplodedError"})
    assert change.worse


def test_a_run_that_no_longer_fails_is_better():
    """Nor one that ceases to; that it fails as before is no change."""
    (change,) = changes(CELL, {"failed": "ExplodedError"}, STORED)
    assert not change.worse
    assert changes(CELL, {"failed": "a"}, {"failed": "b"}) == []


@pytest.mark.parametrize(
    ("measure", "stored", "fresh", "figures"),
    [
        ("classification", {"accuracy": 0.9, "log_loss": 0.3}, (0.85, 0.3), ["accuracy"]),
        ("classification", {"accuracy": 0.9, "log_loss": 0.3}, (0.9, 0.32), ["log_loss"]),
        ("intervals", {"coverage": 0.9, "score": 2.0}, (0.93, 2.0), ["coverage"]),
        ("intervals", {"coverage": 0.9, "score": 2.0}, (0.9, 2.1), ["score"]),
    ],
)
def test_other_measures(measure, stored, fresh, figures):
    """Each measure's own figures are compared, and a loss of any of these is worse."""
    cell = CELL._replace(measure=measure)
    found = changes(cell, stored, dict(zip(stored, fresh, strict=True)))
    assert [change.figure for change in found] == figures
    assert all(change.worse for change in found)
