from numba import njit

from iln_stream.kernels.vectors import widest_vectors


@njit
def wide_doubled(x):
    """Double x, with wide vectors."""
    widest_vectors()
    return 2.0 * x


@njit
def doubled(x):
    """Double x."""
    return 2.0 * x


def test_only_the_caller_gets_the_attribute():
    """LLVM vectorises a function's loops at full width only if it has this attribute."""
    assert wide_doubled(3.0) == doubled(3.0) == 6.0
    (wide,), (narrow,) = wide_doubled.inspect_llvm().values(), doubled.inspect_llvm().values()
    assert '"prefer-vector-width"="512"' in wide
    assert "prefer-vector-width" not in narrow
