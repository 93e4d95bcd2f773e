import numpy as np
import pytest

from iln_stream.compiled.finite import LARGEST_FLOAT, n_broken


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_number_is_looked_at(dtype):
    """At all places of vectorised loops; the largest numbers are finite."""
    for size in range(40):
        numbers = np.full(size, np.finfo(dtype).max, dtype)
        numbers[::2] *= -1
        assert n_broken(numbers) == 0
        for i in range(size):
            for value in (np.nan, np.inf, -np.inf):
                broken = numbers.copy()
                broken[i] = value
                assert n_broken(broken) == 1
    assert np.finfo(np.float64).max == LARGEST_FLOAT
