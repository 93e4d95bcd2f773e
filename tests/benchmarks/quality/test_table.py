"""Tables and picture, from results made up for a few learners."""

import pytest

from benchmarks.quality import table
from benchmarks.quality.cell import Cell
from benchmarks.quality.documents import tables, with_tables
from benchmarks.quality.plan import cells
from benchmarks.quality.plot import draw
from benchmarks.quality.store import Store
from benchmarks.quality.streams import FILES, HELD_OUT, TEN

RATIOS = {"iln-accurate": 0.2, "river-linear": 0.5, "batch-kernel-ridge": 0.3}
COST = {"events_per_s": 1234.0, "longest_ms": 1.0, "memory_mb": 2.0}


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path)
    for cell in cells((*RATIOS, "vw-logistic"), ("*",)):
        figures = {
            "regression": {"ratio": RATIOS.get(cell.learner), "mae": 1.0},
            "classification": {"accuracy": 0.9, "log_loss": 0.3, "calibration_error": 0.02},
            "intervals": {
                "coverage": 0.901,
                "rolling_coverage": 0.899,
                "score": 1.0,
                "rolling_score": 1.25,
                "n_scored": 900,
            },
        }[cell.measure]
        made.put(cell, {**figures, **COST})
    return made


def test_overview(store):
    """The best mean comes first, ours is bold, and a batch learner is told from the online ones."""
    found = table.overview(store)
    assert found.cells == [
        ["**InfiniteLayerRegressor, accurate**", *["0.200"] * 3, "1.0", "", "1,234", "2"],
        ["kernel ridge, refitted (batch)", *["0.300"] * 3, "2.0", "", "1,234", "2"],
        ["River LinearRegression", *["0.500"] * 3, "3.0", "", "1,234", "2"],
    ]


def test_overview_of_an_unfinished_run(store):
    """A learner that lacks a group shows a dash there, and ranks compare what all have."""
    unfinished = Store(store.folder / "unfinished")
    for cell in store:
        if cell.learner != "river-linear" or cell.stream != "kin8nm":
            unfinished.put(cell, store[cell])
    linear = table.overview(unfinished).cells[-1]
    assert linear[:5] == ["River LinearRegression", "0.500", "–", "0.500", "3.0"]


def test_explosion_is_told_in_words(store):
    """No reader is shown 1504.000."""
    store.put(Cell("regression", "river-linear", "mv", 1), {"ratio": 1504.0, **COST})
    assert "exploded" in table.ratios(store, TEN).cells[-1]
    assert table.overview(store).cells[-1][5] == "1"


def test_best_on_a_stream_is_bold(store):
    """In every column of ratios the best figure is bold, and no other."""
    for group in (TEN, FILES, HELD_OUT):
        first, *others = table.ratios(store, group).cells
        assert first[1:-1] == ["**0.200**"] * len(group)
        assert all("**" not in cell for line in others for cell in line[1:])


def test_classification_and_intervals(store):
    """Three figures in a cell, and the score over the rolling quantile's."""
    line = ["Vowpal Wabbit, logistic", *["0.900 / 0.300 / 0.020"] * 4]
    assert table.classification(store).cells == [line]
    assert table.intervals(store).cells[0] == [
        "trump-approval", "0.901", "0.899", "0.800", "–", "–", "–"
    ]  # fmt: skip


def test_a_document_gets_its_tables_between_its_marks(store):
    """What stands around the marks stays, and renewing twice changes nothing."""
    text = "before\n<!-- quality:ten:begin -->\nold\n<!-- quality:ten:end -->\nafter\n"
    renewed = with_tables(text, tables(store))
    assert renewed.startswith("before\n<!-- quality:ten:begin -->\n| learner | trump-approval |")
    assert renewed.endswith("|\n<!-- quality:ten:end -->\nafter\n")
    assert "old" not in renewed
    assert with_tables(renewed, tables(store)) == renewed


def test_picture(store, tmp_path):
    """The same results are the same picture, byte for byte, so that only news is committed."""
    draw(store, tmp_path / "a.png")
    draw(store, tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
