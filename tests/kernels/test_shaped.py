"""Views of flat arrays in compiled code."""

import numpy as np

from iln_stream.kernels.jit import compiled
from iln_stream.kernels.vectors import shaped


@compiled
def fill(flat, m, n):
    """Write to two views."""
    a = shaped(flat, 1, (m, n))
    b = shaped(flat, 1 + m * n, (2, m, n))
    for i in range(m):
        for j in range(n):
            a[i, j] = 10 * i + j
            b[1, i, j] = -a[i, j]
    return b.shape


def test_views_share_the_arrays_entries():
    """A view starts where it should, row by row, and what is written to it is in the array."""
    flat = np.zeros(1 + 3 * 6)
    assert fill(flat, 2, 3) == (2, 2, 3)
    values = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]
    assert flat.tolist() == [0.0, *values, *([0.0] * 6), *(-v for v in values)]
