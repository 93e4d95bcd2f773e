"""The document shows the stored records."""

from benchmarks.endurance.commands import DOCUMENT
from benchmarks.endurance.plan import planned
from benchmarks.endurance.plot import draw
from benchmarks.endurance.store import Store
from benchmarks.endurance.tables import all_tables
from benchmarks.quality.documents import with_tables


def test_tables_are_those_of_the_stored_records():
    """After storing records, run: python -m benchmarks.endurance report."""
    text = DOCUMENT.read_text("utf-8")
    assert "endurance:overview:begin" in text
    assert with_tables(text, all_tables(Store()), "endurance") == text


def test_stored_records_are_of_planned_cells():
    """A learner or a stream that goes takes its records with it."""
    assert set(Store()) <= set(planned())


def test_a_picture_of_stored_records(tmp_path):
    """Records that failed, and streams without records, leave no line."""
    segments = [
        {"end": end, "mean": 1.0, "median": None, "base_mean": 2.0, "base_median": 0.0}
        for end in (100, 200)
    ]
    cells = [cell for cell in planned() if cell.learner == "fast"]
    store = {cells[0]: {"segments": segments}, cells[1]: {"failed": "x"}}
    draw(store, tmp_path / "endurance.png")
    draw(store, tmp_path / "again.png")
    assert (tmp_path / "endurance.png").read_bytes() == (tmp_path / "again.png").read_bytes()
