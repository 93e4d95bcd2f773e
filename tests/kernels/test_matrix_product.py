import numpy as np
import pytest

from iln_stream.kernels.networks import add_rows, set_product, set_sparse_product, transpose


def matrix(m, n, seed=0):
    return np.random.default_rng(seed).normal(size=(m, n)).astype(np.float32)


@pytest.mark.parametrize(("m", "k", "n"), [(16, 12, 64), (1, 6, 96), (4, 1, 32), (64, 16, 32)])
def test_product(m, k, n):
    """The product and the bias in each row, whatever C held before."""
    A, B, bias, C = matrix(m, k), matrix(k, n, 1), matrix(1, n, 2), matrix(m, n, 3)
    set_product(A, B, bias, C)
    np.testing.assert_allclose(C, A @ B + bias, rtol=1e-4, atol=1e-5)


def test_product_of_parts_of_arrays():
    """A may be transposed, and B and C may be columns of wider arrays, which keep the others."""
    A, wide, bias, target = matrix(12, 16), matrix(12, 96, 1), matrix(1, 32, 2), matrix(16, 96, 3)
    expected = target.copy()
    expected[:, 64:] = A.T @ wide[:, 32:64] + bias
    set_product(A.T, wide[:, 32:64], bias, target[:, 64:])
    np.testing.assert_allclose(target, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("zeros", [0.0, 0.7, 1.0])
def test_sparse_product(zeros):
    """The same product; rows of B that meet a zero don't matter, even if they are nan."""
    A, B, bias, C = matrix(5, 7), matrix(7, 128, 1), matrix(1, 128, 2), matrix(5, 128, 3)
    A[np.random.default_rng(4).random(A.shape) < zeros] = 0.0
    A[:, 3] = 0.0
    expected = A @ B + bias
    B[3] = np.nan
    set_sparse_product(A, B, bias, C)
    np.testing.assert_allclose(C, expected, rtol=1e-4, atol=1e-5)


def test_transpose_and_sum_of_rows():
    """Both treat each entry once."""
    A, T, sums = matrix(32, 48), matrix(48, 32, 1), matrix(1, 48, 2)
    transpose(A, T)
    add_rows(A, sums)
    np.testing.assert_array_equal(T, A.T)
    np.testing.assert_allclose(sums[0], A.sum(axis=0), rtol=1e-4, atol=1e-5)
