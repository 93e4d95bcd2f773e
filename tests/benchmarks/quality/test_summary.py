"""Summary: medians, means and ranks by hand."""

import math

import pytest

from benchmarks.quality.cell import Cell
from benchmarks.quality.learners import CONTENDERS
from benchmarks.quality.store import Store
from benchmarks.quality.summary import CEILING, Row, median_ratio, ranks, rows

LINEAR, KNN = "river-linear", "river-knn"
STREAMS = ["friedman", "mv"]


def stored(tmp_path, ratios):
    store = Store(tmp_path)
    for (learner, stream, seed), ratio in ratios.items():
        figures = {"ratio": ratio, "events_per_s": 100.0, "memory_mb": 1.0}
        if ratio is None:
            figures = {"failed": "ExplodedError: predicts nan at event 7"}
        store.put(Cell("regression", learner, stream, seed), figures)
    return store


def test_geometric_mean_and_ranks(tmp_path):
    """sqrt(.2 * .8) = .4 beats sqrt(.5 * .5) = .5, though each wins one stream."""
    found = rows(
        stored(
            tmp_path,
            {
                (LINEAR, "friedman", 1): 0.5,
                (LINEAR, "mv", 1): 0.5,
                (KNN, "friedman", 1): 0.2,
                (KNN, "mv", 1): 0.8,
            },
        ),
        STREAMS,
    )
    assert [row.learner.id for row in found] == [KNN, LINEAR]
    assert found[0].mean_ratio == pytest.approx(0.4)
    assert found[1].mean_ratio == pytest.approx(0.5)
    assert [row.mean_rank for row in found] == [1.5, 1.5]


def test_median_over_seeds(tmp_path):
    """A learner with five seeds counts by the median of each stream's five."""
    ratios = dict(zip(range(1, 6), [0.9, 0.1, 0.3, 0.2, 0.4], strict=True))
    store = stored(tmp_path, {("iln-accurate", "mv", seed): r for seed, r in ratios.items()})
    assert rows(store, ["mv"])[0].ratios == {"mv": 0.3}


def test_learner_without_all_cells_is_left_out(tmp_path):
    """Means over different streams, or seeds, would be no comparison."""
    store = stored(tmp_path, {(LINEAR, "mv", 1): 0.5, ("iln-accurate", "mv", 1): 0.1})
    assert [row.learner.id for row in rows(store, ["mv"])] == [LINEAR]
    assert rows(store, STREAMS) == []


def test_rows_by_rmse_have_only_learners_with_an_rmse(tmp_path):
    """Cells of older versions, without an RMSE, do not count as good or bad ones."""
    store = stored(tmp_path, {(LINEAR, "mv", 1): 0.5})
    cost = {"events_per_s": 100.0, "memory_mb": 1.0}
    store.put(Cell("regression", KNN, "mv", 1), {"ratio": 0.7, "rmse_ratio": 0.6, **cost})
    (row,) = rows(store, ["mv"], "rmse_ratio")
    assert (row.learner.id, row.ratios) == (KNN, {"mv": 0.6})


def test_failure_counts_as_the_ceiling(tmp_path):
    """One explosion costs a factor of CEILING, however far it went, and is counted."""
    store = stored(
        tmp_path,
        {
            (LINEAR, "friedman", 1): None,
            (LINEAR, "mv", 1): 0.4,
            (KNN, "friedman", 1): 1e9,
            (KNN, "mv", 1): 0.4,
        },
    )
    for row in rows(store, STREAMS):
        assert row.exploded == 1
        assert row.mean_ratio == pytest.approx(math.sqrt(0.4 * CEILING))


def test_a_failed_seed_is_no_median():
    """Four good seeds don't hide the fifth."""
    assert median_ratio([0.1, 0.1, None, 0.1, 0.1]) == math.inf
    assert median_ratio([0.1, 0.2]) == pytest.approx(0.15)


def test_ties_share_their_places():
    """Ranks of n learners sum to n (n + 1) / 2, ties or not."""
    found = ranks({"a": 1.0, "b": 0.5, "c": 1.0, "d": 2.0})
    assert found == {"a": 2.5, "b": 1.0, "c": 2.5, "d": 4.0}
    assert sum(found.values()) == 10


def test_row_without_explosions():
    """CEILING touches no ratio below it."""
    row = Row(CONTENDERS[LINEAR], {"a": 9.0, "b": 4.0}, {"a": 1, "b": 1}, 1.0, 1.0)
    assert row.exploded == 0
    assert row.mean_ratio == pytest.approx(6.0)
