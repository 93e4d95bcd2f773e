import numpy as np
from numba import njit

from iln_stream.kernels.jit import borrowed


@njit
def fill(array):
    part = borrowed(array)[2:8].reshape(2, 3)
    for i in range(2):
        part[i] = i + 1.0


def test_slices_of_a_borrowed_array_are_parts_of_it():
    """What is written to them is in the array, which is not freed with them."""
    array = np.zeros(10)
    for _ in range(1_000):
        fill(array)
    assert array.tolist() == [0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 0.0, 0.0]
