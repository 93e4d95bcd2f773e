"""Numbers that are not finite, found wherever they are in a state."""

import numpy as np
import pytest

from iln_stream.state import all_finite, not_finite


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_number_of_an_array(value, dtype):
    """It is found at any place, also among numbers whose sum overflows."""
    array = np.full((3, 4), np.finfo(dtype).max, dtype)
    assert all_finite(array)
    for i in range(array.size):
        broken = array.copy()
        broken.flat[i] = value
        assert not all_finite(broken)


def test_paths():
    """Arrays, numpy's scalars and Python's numbers, in dicts and lists; others are ignored."""
    nan = float("nan")
    state = {"a": nan, "b": [0.0, {"c": np.float32("inf")}], "d": np.array([[1.0, nan]])}
    fine = {"e": 1, "f": None, "g": "nan", "h": np.array([1, 2]), "i": True, "j": np.zeros(0)}
    assert not_finite(state | fine) == ["a", "b/1/c", "d"]
    assert not_finite(fine) == []
