"""Tables of the records."""

from benchmarks.endurance.cell import Cell
from benchmarks.endurance.streams import KINDS
from benchmarks.endurance.tables import errors, overview, streams

SMOOTH, STILL = (Cell("fast", stream, 1_000_000) for stream in ("smooth", "still"))


def record(longest, **changes):
    decade = {"mean": 0.5, "median": 0.1, "base_mean": 2.0, "base_median": 0.5}
    good = {
        "n_finite": 1_000_000,
        "first_not_finite": None,
        "us": 8.0,
        "p999_ms": 0.1,
        "longest_ms": longest,
        "machine_ms": 0.2,
        "n_reset": 0,
        "decades": [{"end": end, **decade} for end in (100, 1_000)],
        "memory": [[200_000, 200.0, 5_000], [1_000_000, 201.5, 5_000]],
        "state_bytes": [[1_000_000, 2_500_000]],
        "resumed": [],
    }
    return good | changes


def test_overview_has_the_worst_of_a_learners_cells():
    """The longest event has the pause of the machine in the same cell beside it."""
    found = overview({SMOOTH: record(0.4), STILL: record(0.9, machine_ms=0.3, n_finite=5)})
    assert found.cells == [
        ["InfiniteLayerRegressor, fast", "2", "8", "0.10", "0.9 (0.3)", "1.5", "2.50", "0",
         "1 of 2"]
    ]  # fmt: skip


def test_errors_are_ratios_with_reasons():
    """Means and medians over the running mean's; no ratio to an error of 0; why a record fails."""
    still = {"end": 1_000, "mean": 0.5, "median": 0.1, "base_mean": 2.0, "base_median": 0.0}
    store = {
        SMOOTH: record(0.4),
        STILL: record(0.9, decades=[still]),
        SMOOTH._replace(stream="rough"): {"failed": "ValueError: x"},
    }
    assert errors(store).cells == [
        ["fast", "rough", "", "", "", "", "", "ValueError: x"],
        ["fast", "smooth", "0.250 (0.200)", "", "", "", "", ""],
        ["fast", "still", "0.250 (–)", "", "", "", "", ""],
    ]


def test_every_kind_is_described():
    """A row for each kind of stream."""
    assert [line[0] for line in streams().cells] == list(KINDS)
