"""Coordinates against the linear kernel."""

import numpy as np
import pytest
from scipy import stats

from iln_stream.features import UniformCoordinates

X = np.array([[0.5, -0.5, 0.1], [1.0, 1.0, 1.0], [-1.0, 0.2, 0.9], [7.0, -7.0, 0.0]])


@pytest.mark.parametrize("i", range(len(X)))
def test_draws_have_the_kernel_as_mean(mean_product, i):
    """The closed form is the mean of the draws, for points inside and outside [-1, 1]."""
    family = UniformCoordinates()
    mean, standard_error = mean_product(family, X[i], X[2])
    assert abs(mean - family.kernel(X, X[2])[i]) < 5 * standard_error


def test_psi_is_the_clipped_coordinate():
    """Each draw reads its own column, clipped to [-1, 1], from one point or from its own row."""
    family = UniformCoordinates()
    w = np.array([2, 0, 1])
    np.testing.assert_array_equal(family.psi(np.array([5.0, 0.3, -5.0]), w), [-1.0, 1.0, 0.3])
    np.testing.assert_array_equal(family.psi(np.arange(9.0).reshape(3, 3) / 10, w), [0.2, 0.3, 0.7])


def test_columns_are_uniform():
    """No column is preferred: a chi-square test at the 1e-6 level."""
    w = UniformCoordinates().draw(10_000, 7, np.random.default_rng(0))
    assert stats.chisquare(np.bincount(w, minlength=7)).pvalue > 1e-6


def test_without_columns_psi_and_kernel_are_zero():
    """Without columns psi = 0, and so is the kernel."""
    family = UniformCoordinates()
    w = family.draw(4, 0, np.random.default_rng(0))
    np.testing.assert_array_equal(family.psi(np.zeros(0), w), np.zeros(4))
    np.testing.assert_array_equal(family.kernel(np.zeros((2, 0)), np.zeros(0)), np.zeros(2))
