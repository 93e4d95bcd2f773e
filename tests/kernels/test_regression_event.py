"""The scale of targets and the drift; the whole event is recomputed where its engine is tested."""

import numpy as np
import pytest
from kernels import plain

from iln_stream.kernels.columns import no_statistics
from iln_stream.kernels.regression_event import center_and_unit, join_drift, join_target


@pytest.mark.parametrize(
    "ys",
    [
        np.random.default_rng(1).standard_t(1.1, size=100) ** 3,
        np.array([3.0]),
        np.array([1e150, -1e150]),
        np.array([0.0, 1e-200]),
    ],
    ids=["wild", "one", "huge", "tiny"],
)
def test_scale_is_that_of_all_targets(ys):
    """Center and unit are the mean and three deviations of the winsorised targets; or 1."""
    stats = no_statistics(1)
    for n, y in enumerate(ys.tolist(), 1):
        join_target(y, stats, 0)
        assert center_and_unit(stats) == pytest.approx(plain.scale(ys[:n]), rel=1e-9, abs=1e-15)
        assert stats[[0, 3, 4], 0].tolist() == [n, ys[:n].min(), ys[:n].max()]


@pytest.mark.parametrize(
    ("mean", "squares", "unit"),
    [
        (2.0**30, 1.1e-6, 1.0),  # is rounding
        (2.0**30, 1.2e-6, 3.0 * 1.2e-8**0.5),  # is more
        (0.0, 5e-324, 1.0),  # the quotient underflows
    ],
)
def test_unit_where_targets_hardly_differ(mean, squares, unit):
    """A sum of squares that may be rounding gives a unit of 1, and no unit is 0."""
    stats = no_statistics(1)
    stats[:3, 0] = 100.0, mean, squares
    assert center_and_unit(stats) == (mean, pytest.approx(unit))


def test_drift_is_the_means_of_the_latest_errors():
    """Over about 50 and 1,000 errors; the first have plain means, and a larger one counts as 2."""
    errors, record = [], np.zeros(3)
    for error in [0.0, 1e150, *np.random.default_rng(1).exponential(size=3_000).tolist()]:
        join_drift(record, error)
        errors.append(min(error, 2.0))
    means = [plain.running_mean(errors, horizon) for horizon in (50, 1000)]
    assert record == pytest.approx([len(errors), *means], rel=1e-10)
