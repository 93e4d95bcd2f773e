import numpy as np
from numba import njit

from iln_stream.kernels.vectors import LANES, lanes, minus, no_lanes, plus_product, sum_of

N = 3 * LANES


@njit
def sums(a, i, b, j):
    """Sums over lanes: of none, of a[i:] b[j:] twice, and of a[i:] - b[j:]."""
    once = plus_product(no_lanes(), lanes(a, i), lanes(b, j))
    twice = plus_product(once, lanes(a, i), lanes(b, j))
    return sum_of(no_lanes()), sum_of(twice), sum_of(minus(lanes(a, i), lanes(b, j)))


def test_eight_lanes_from_any_place():
    """Each of eight numbers counts once, and none beside them, wherever they begin."""
    a = np.arange(1.0, N + 1.0, dtype=np.float32)
    for i in range(N - LANES + 1):
        at_a = a[i : i + LANES]
        for k in range(N):
            b = np.zeros(N, np.float32)
            b[k] = 2.0 ** (k % LANES)  # exact, and no two lanes are the same
            j = k // LANES * LANES
            at_b = b[j : j + LANES]
            expected = 0.0, 2.0 * (at_a @ at_b), (at_a - at_b).sum()
            assert sums(a, i, b, j) == expected
