"""Which numbers are not finite."""

from pathlib import Path

import numpy as np
import pytest

import iln_stream.kernels
from iln_stream.kernels.columns import LARGEST_FLOAT, n_broken
from iln_stream.kernels.mixing import fill


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


def test_nothing_else_asks_whether_a_number_is_finite():
    """With reordered arithmetic np.isfinite may answer True for nan, as x - x is taken for 0. The
    three uses left are in loops in which it answers right: see the next test, that of `update_agop`
    and those of healing.
    """
    folder = Path(iln_stream.kernels.__file__).parent
    found = {file.name for file in folder.glob("*.py") if "np.isfinite(" in file.read_text("utf-8")}
    assert found == {"mixing.py", "ridges.py"}


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_probabilities_that_are_not_finite(value):
    """They are told from sound ones."""
    scores, sharpness, counts = np.zeros((1, 2)), np.array([3.0, 6.0]), np.array([3, 4])
    for row, sound in ((None, True), (3, False), (5, False)):
        p = np.full((6, 2), 0.5)
        if row is not None:
            p[row, 0] = value
        assert fill(scores, sharpness, counts, p) == sound
