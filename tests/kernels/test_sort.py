"""Sorting and searching, against numpy."""

import numpy as np
import pytest

from iln_stream.kernels.sort import first_at_least, sort


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 64, 2048])
def test_sort(n):
    """Values are sorted as by numpy, also where many are equal."""
    rng = np.random.default_rng(n)
    for values in (rng.normal(size=n), rng.integers(3, size=n)):
        found = values.astype(np.float32)
        sort(found)
        assert found.tolist() == np.sort(values.astype(np.float32)).tolist()


def test_first_at_least():
    """The place of a key among sorted ones is numpy's, before, between, at and after them."""
    keys = np.array([1.0, 2.0, 2.0, 5.0, 0.0])  # only the first four count
    for key in (0.0, 1.0, 1.5, 2.0, 3.0, 5.0, 6.0):
        assert first_at_least(keys, 4, key) == np.searchsorted(keys[:4], key)
