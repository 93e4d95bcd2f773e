"""Fitted exponents."""

import numpy as np
import pytest
from scipy import stats

from iln_stream.research.experiments import result as fits
from iln_stream.research.experiments.result import power_law, size_for


def test_covers():
    """95 % intervals contain the true exponent in 93 to 97 % of 2,000 data sets (a false alarm in
    about 20,000 seeds)."""
    rng, sizes = np.random.default_rng(0), np.array([10.0, 100.0, 1000.0])
    hits = 0
    for _ in range(2000):
        found = power_law(sizes, sizes**0.7 * np.exp(rng.normal(0.0, 0.3, (4, 3))))
        hits += found["low"] <= 0.7 <= found["high"]
    assert 0.93 < hits / 2000 < 0.97


def test_quantiles():
    """The table is Student's."""
    wanted = stats.t.ppf(0.975, np.arange(1, 11))
    assert np.abs(np.array(fits._T_975) - wanted).max() < 1e-3


def test_without_interval():
    """One seed has no interval, and values that are not positive have no exponent."""
    assert power_law([1, 10], [[1, 10]]) == {
        "exponent": pytest.approx(1),
        "low": None,
        "high": None,
    }
    assert power_law([1, 10], [[1, -1], [1, 2]])["exponent"] is None


def test_size_for():
    """A goal on a measured value gives its size, one between two a size between, and a curve that
    begins below it gives the first; a rise after a fall does not count."""
    sizes, values = [1, 4, 16, 64], [1.0, 0.5, 0.8, 0.125]
    assert size_for(sizes, values, 0.5) == pytest.approx(4.0)
    assert size_for(sizes, values, 0.7) == pytest.approx(4 ** (np.log(0.7) / np.log(0.5)))
    assert 16 < size_for(sizes, values, 0.4) < 64
    assert size_for(sizes, values, 2.0) == 1.0
    assert size_for(sizes, values, 0.1) is None
