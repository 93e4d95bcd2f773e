"""Stumps against the kernel of clipped L1 distances."""

import numpy as np
import pytest

from iln_stream.features import DecisionStumps
from iln_stream.features.decision_stumps import Stumps

X = np.array([[0.0, 0.0], [1.0, -0.5], [2.0, 2.0], [-2.0, 3.0], [50.0, -50.0]])


@pytest.mark.parametrize("span", [2.0, 5.0])
@pytest.mark.parametrize("i", range(len(X)))
def test_draws_have_the_kernel_as_mean(mean_product, span, i):
    """The closed form is the mean of the draws, for points inside, on and beyond the span."""
    family = DecisionStumps(span)
    mean, standard_error = mean_product(family, X[i], X[1])
    assert abs(mean - family.kernel(X, X[1])[i]) <= 5 * standard_error


def test_kernel_by_hand():
    """One column differs by half the span, the other by the remainder after clipping."""
    family = DecisionStumps(span=2.0)
    k = family.kernel(np.array([[1.0, 0.0], [9.0, 0.0], [9.0, 9.0]]), np.array([0.0, 0.0]))
    np.testing.assert_allclose(k, [1 - 0.25, 1 - 0.5, 1 - 1.0], rtol=1e-12)


def test_sign_of_zero_is_one():
    """An input that meets its threshold exactly still gives +1: psi is never 0, so psi^2 = 1."""
    w = Stumps(j=np.array([0, 0, 0]), theta=np.array([0.5, 0.4, 0.6]))
    np.testing.assert_array_equal(DecisionStumps().psi(np.array([0.5]), w), [1.0, 1.0, -1.0])


def test_rows_meet_their_own_stump():
    """Given n points, the k-th is read at the k-th draw's column."""
    w = Stumps(j=np.array([1, 0, 1]), theta=np.zeros(3))
    rows = np.array([[-1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    np.testing.assert_array_equal(DecisionStumps().psi(rows, w), [1.0, -1.0, -1.0])


def test_without_columns_psi_and_kernel_are_zero():
    """Without columns psi = 0, and so is the kernel."""
    family = DecisionStumps()
    w = family.draw(4, 0, np.random.default_rng(0))
    np.testing.assert_array_equal(family.psi(np.zeros(0), w), np.zeros(4))
    np.testing.assert_array_equal(family.kernel(np.zeros((2, 0)), np.zeros(0)), np.zeros(2))
