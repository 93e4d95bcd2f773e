import numpy as np
import pytest
from scipy import stats

from iln_stream.features.uniform_coordinates import draw_columns, pick


@pytest.mark.parametrize("d", [1, 2, 7])
def test_columns_are_uniform(d):
    """Each of d columns is drawn equally often: chi-square at 1e-6 over 70,000 draws."""
    j = draw_columns(70_000, d, np.random.default_rng(0))
    counts = np.bincount(j, minlength=d)
    assert len(counts) == d
    assert d == 1 or stats.chisquare(counts).pvalue > 1e-6


def test_no_columns():
    """Without columns there is nothing to choose: the indices are zeros."""
    assert draw_columns(3, 0, np.random.default_rng(0)).tolist() == [0, 0, 0]


def test_pick_takes_one_point_or_one_for_each_draw():
    """One point is seen by every draw; of n points the k-th by the k-th draw."""
    X, j = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([1, 0, 1])
    assert pick(X[0], j).tolist() == [2.0, 1.0, 2.0]
    assert pick(X, j).tolist() == [2.0, 3.0, 6.0]
