"""Tables and picture, from results made up for a few learners."""

import math

import pytest

from benchmarks.quality import tables
from benchmarks.quality.cell import Cell
from benchmarks.quality.documents import all_tables, with_tables
from benchmarks.quality.plan import cells
from benchmarks.quality.plot import draw
from benchmarks.quality.store import Store
from benchmarks.quality.streams import CLASSES, FILES, HELD_OUT, HELD_OUT_2, STREAMS, TEN
from benchmarks.quality.tables.against_peers import standard_error, within

RATIOS = {"iln-accurate": 0.2, "river-linear": 0.5, "batch-kernel-ridge": 0.3}
RMSE_RATIOS = {"iln-accurate": 0.6, "river-linear": 0.55, "batch-kernel-ridge": 0.4}
COST = {"events_per_s": 1234.0, "longest_ms": 1.0, "memory_mb": 2.0}

CLASSIFICATION = {
    "accuracy": 0.9,
    "log_loss": 0.3,
    "calibration_error": 0.02,
    "roc_auc": 0.95,
    "pr_auc": 0.8,
}


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path)
    for cell in cells((*RATIOS, "vw-logistic"), ("*",)):
        figures = {
            "regression": {
                "ratio": RATIOS.get(cell.learner),
                "rmse_ratio": RMSE_RATIOS.get(cell.learner),
            },
            "classification": CLASSIFICATION,
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
    found = tables.overview(store)
    groups = ["ten", "files", "held out", "held out 2"]
    assert found.heads[1:9] == [*groups, *(f"{group}, RMSE" for group in groups)]
    ours, ridge, linear = found.cells
    assert ours == [
        "**InfiniteLayerRegressor, accurate**",
        *["0.200"] * 4, *["0.600"] * 4, "1.0", "", "1,234", "2"
    ]  # fmt: skip
    assert ridge[:2] == ["kernel ridge, refitted (batch)", "0.300"]
    assert linear[:2] == ["River LinearRegression", "0.500"]


def test_overview_of_an_unfinished_run(store):
    """A learner that lacks a group shows a dash there, and ranks compare what all have."""
    unfinished = Store(store.folder / "unfinished")
    for cell in store:
        if cell.learner != "river-linear" or cell.stream != "kin8nm":
            unfinished.put(cell, store[cell])
    linear = tables.overview(unfinished).cells[-1]
    assert linear[:5] == ["River LinearRegression", "0.500", "–", "0.500", "0.500"]
    assert linear[9] == "3.0"


def test_overview_of_results_without_rmse(store):
    """Cells of older versions have a dash, and a group that nobody ran has no column."""
    older = Store(store.folder / "older")
    for cell in store:
        if STREAMS[cell.stream].group == "ten":
            lacks = cell.learner == "river-linear"
            older.put(cell, {k: v for k, v in store[cell].items() if not lacks or "rmse" not in k})
    found = tables.overview(older)
    assert found.heads[:3] == ["learner", "ten", "ten, RMSE"]
    assert found.cells[-1][:3] == ["River LinearRegression", "0.500", "–"]


def test_the_brief_table_has_a_peer_once(store):
    """The readme shows the better of an online peer's two variants, and ours in any case."""
    lagged = Store(store.folder / "lagged")
    for cell in store:
        lagged.put(cell, store[cell])
        if cell.learner == "river-linear":
            lagged.put(cell._replace(learner="river-linear+lags"), {"ratio": 0.1, **COST})
    found = tables.brief(lagged)
    assert [line[0] for line in found.cells] == [
        "River LinearRegression, with lags",
        "**InfiniteLayerRegressor, accurate**",
    ]
    assert found.heads[-2:] == ["events/s", "MB"]
    assert len(tables.overview(lagged).cells) == 4


def test_explosion_is_told_in_words(store):
    """No reader is shown 1504.000."""
    store.put(Cell("regression", "river-linear", "mv", 1), {"ratio": 1504.0, **COST})
    assert "exploded" in tables.ratios(store, TEN).cells[-1]
    assert tables.overview(store).cells[-1][10] == "1"


def test_best_on_a_stream_is_bold(store):
    """In every column of ratios the best figure is bold, and no other."""
    for group in (TEN, FILES, HELD_OUT, HELD_OUT_2):
        first, *others = tables.ratios(store, group).cells
        assert first[1:-1] == ["**0.200**"] * len(group)
        assert all("**" not in cell for line in others for cell in line[1:])


def test_classification_and_intervals(store):
    """Three figures in a cell, two of ranking, and the score over the rolling quantile's."""
    line = ["Vowpal Wabbit, logistic", *["0.900 / 0.300 / 0.020"] * len(CLASSES)]
    assert tables.classification(store).cells == [line]
    ranked = ["Vowpal Wabbit, logistic", *["0.950 / 0.800"] * len(CLASSES)]
    assert tables.ranking(store).cells == [ranked]
    assert tables.intervals(store).cells[0] == [
        "trump-approval", "0.901", "0.899", "0.800", "–", "–", "–"
    ]  # fmt: skip


def test_results_without_a_figure(store):
    """Cells stored before a figure was measured show a dash in its table only."""
    for cell in store:
        if cell.learner == "vw-logistic" and cell.stream == "adult":
            store.put(cell, {k: v for k, v in store[cell].items() if k != "pr_auc"})
    assert tables.ranking(store).cells[0].count("–") == 1
    assert "–" not in tables.classification(store).cells[0]


def test_ours_against_the_best_online_peer(store):
    """The batch learner is better than the linear one, but no online peer to be measured by."""
    line = tables.against_peers(store).cells[0]
    assert line == [
        "trump-approval",
        "0.200",
        "0.000",
        "0.500",
        "River LinearRegression",
        "-60 %",
        "yes",
        "0.300",
    ]


def test_by_rmse_another_may_be_ahead(store):
    """Whoever leads by absolute errors need not lead by squared ones, and the table says so."""
    line = tables.against_peers(store, "rmse_ratio").cells[0]
    assert line[1:7] == ["0.600", "0.000", "0.550", "River LinearRegression", "+9 %", "**no**"]


def test_a_peer_with_lags_is_a_peer(store):
    """If the best online peer on a stream is one that sees the last targets, ours meets that."""
    store.put(Cell("regression", "river-ewa+lags", "trump-approval", 1), {"ratio": 0.19, **COST})
    line = tables.against_peers(store).cells[0]
    assert line[3:6] == ["0.190", "River EWARegressor, with lags", "+5 %"]


@pytest.mark.parametrize(
    ("ours", "error", "inside"),
    [(0.104, 0.0, True), (0.106, 0.0, False), (0.118, 0.01, True), (0.122, 0.01, False)],
)
def test_margin_is_five_percent_or_two_standard_errors(ours, error, inside):
    """Of a peer at 0.1."""
    assert within(ours, error, 0.1) is inside


def test_a_failed_seed_is_within_no_margin():
    """Its standard error is infinite, which must not excuse it."""
    error = standard_error([0.1, None, 0.1])
    assert not within(math.inf, error, 0.5)


def test_a_document_gets_its_tables_between_its_marks(store):
    """What stands around the marks stays, and renewing twice changes nothing."""
    text = "before\n<!-- quality:ten:begin -->\nold\n<!-- quality:ten:end -->\nafter\n"
    renewed = with_tables(text, all_tables(store))
    assert renewed.startswith("before\n<!-- quality:ten:begin -->\n| learner | trump-approval |")
    assert renewed.endswith("|\n<!-- quality:ten:end -->\nafter\n")
    assert "old" not in renewed
    assert with_tables(renewed, all_tables(store)) == renewed


def test_picture(store, tmp_path):
    """The same results are the same picture, byte for byte, so that only news is committed."""
    draw(store, tmp_path / "a.png")
    draw(store, tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
