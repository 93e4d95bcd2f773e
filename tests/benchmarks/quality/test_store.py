"""Store: what was measured is there again, and reads well in a diff."""

from benchmarks.quality.cell import Cell
from benchmarks.quality.store import Store

CELL = Cell("regression", "river-linear", "mv", 1)


def test_what_is_put_is_there_after_a_restart(tmp_path):
    """A suite that was interrupted goes on with the first cell that is not stored."""
    Store(tmp_path).put(CELL, {"ratio": 0.5})
    store = Store(tmp_path)
    assert CELL in store
    assert CELL._replace(seed=2) not in store
    assert store[CELL]["ratio"] == 0.5


def test_a_cell_of_an_older_version_lacks_the_rmse(tmp_path):
    """Such a cell is read and shown, but not complete; one that failed is."""
    store = Store(tmp_path)
    store.put(CELL, {"ratio": 0.5})
    store.put(CELL._replace(seed=2), {"ratio": 0.5, "rmse_ratio": 0.6})
    store.put(CELL._replace(seed=3), {"failed": "took longer than 1 s"})
    assert [store.has(CELL._replace(seed=seed)) for seed in (1, 2, 3, 4)] == [
        False, True, True, False
    ]  # fmt: skip


def test_versions_are_kept(tmp_path):
    """Every figure says what it was measured with."""
    Store(tmp_path).put(CELL, {"ratio": 0.5})
    assert "river 0." in Store(tmp_path)[CELL]["versions"]


def test_a_cell_is_a_line_and_lines_are_in_order(tmp_path):
    """A changed figure is one changed line, whatever the order things ran in."""
    store = Store(tmp_path)
    for stream in ("mv", "friedman", "bananas"):
        store.put(CELL._replace(stream=stream), {"ratio": 0.5})
    lines = (tmp_path / "river-linear.json").read_text().splitlines()
    assert len(lines) == 3 + 2
    assert [line.split('"stream": "')[1].split('"')[0] for line in lines[1:-1]] == [
        "bananas",
        "friedman",
        "mv",
    ]


def test_learners_have_files_of_their_own(tmp_path):
    """Storing one learner touches no other's file."""
    store = Store(tmp_path)
    store.put(CELL, {"ratio": 0.5})
    before = (tmp_path / "river-linear.json").stat().st_mtime_ns
    store.put(CELL._replace(learner="river-knn"), {"ratio": 0.4})
    assert (tmp_path / "river-linear.json").stat().st_mtime_ns == before
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "river-knn.json",
        "river-linear.json",
    ]
