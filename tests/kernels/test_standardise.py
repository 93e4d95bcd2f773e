import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.plain import Column, joined, moments

from iln_stream.kernels.columns import (
    ABSENT,
    COUNT,
    HIGH,
    LOW,
    MEAN,
    SQUARES,
    in_deviations,
    join,
    moments_with,
    no_statistics,
    standardise,
    standardise_again,
    value_of,
)


def check(rows):
    """Statistics updated row by row agree with those recomputed from all values before."""
    d = rows.shape[1]
    stats, columns = no_statistics(d), [Column() for _ in range(d)]
    row, z, again = np.full(d, np.nan), np.full(d, np.nan), np.full(d, np.nan)
    for x in rows:
        standardise(x, stats, row, z)
        assert row.tolist() == [c.value(v) for c, v in zip(columns, x, strict=True)]
        expected = [c.with_itself(v) for c, v in zip(columns, x, strict=True)]
        assert z == pytest.approx(expected, rel=1e-7, abs=1e-7)
        join(x, stats, 0)
        joined(columns, x)
        standardise_again(row, stats, again)
        expected = [c.deviation(v, c.joined) for c, v in zip(columns, row, strict=True)]
        assert again == pytest.approx(expected, rel=1e-7, abs=1e-7)
    for j, column in enumerate(columns):
        mean, squares = moments(column.joined)
        assert stats[COUNT, j] == len(column.joined)
        assert stats[MEAN, j] == pytest.approx(mean, rel=1e-12, abs=1e-12)
        assert stats[SQUARES, j] == pytest.approx(squares, rel=1e-9, abs=1e-18 * mean**2)
        assert stats[LOW, j] == min(column.present, default=ABSENT)
        assert stats[HIGH, j] == max(column.present, default=-ABSENT)


@settings(deadline=None, max_examples=40)  # the first call compiles
@given(
    st.lists(st.tuples(*[st.none() | st.integers(-9, 9)] * 2), max_size=12),
    st.sampled_from([0.0, 5.0, -1e3, 1e6]),
    st.sampled_from([1e-3, 1.0, 1e9]),
)
def test_any_rows(rows, offset, unit):
    """Values and deviations follow the definition, whichever values are wild or absent."""
    values = [[ABSENT if v is None else offset + unit * v for v in row] for row in rows]
    check(np.array(values).reshape(-1, 2))


def test_long_streams():
    """From the 30th value on outliers are winsorised: before and after it, wild and constant."""
    rng = np.random.default_rng(0)
    n = 90
    rows = np.column_stack(
        [
            rng.normal(size=n),
            rng.standard_t(1.1, size=n) ** 3,
            np.full(n, 1e9 + 0.1),
            np.where(rng.random(n) < 0.5, 1000.0 + rng.normal(size=n), ABSENT),
            np.where(rng.random(n) < 0.5, rng.normal(size=n), ABSENT),
            np.full(n, ABSENT),
            np.where(np.arange(n) < 35, 2.0, rng.normal(size=n)),
        ]
    )
    rows[60, 0] = 1e12
    check(rows)


def test_no_columns():
    """A row without columns is a row."""
    check(np.empty((3, 0)))


@pytest.mark.parametrize(
    ("values", "meant"),
    [
        ([], ABSENT),
        ([1.0], 0.0),
        ([1000.0, 1000.0], 0.0),
        ([1.0, 2.0], 0.0),
        ([1.0, 1.9], ABSENT),
        ([-1.9, -1.0], ABSENT),
        ([-2.0, -1.0], 0.0),
        ([-1.0, 5.0], 0.0),
    ],
)
def test_what_absent_means(values, meant):
    """0 for an indicator, and for values that spread at least as far as they are from 0."""
    stats = no_statistics(1)
    for value in values:
        join(np.array([value]), stats, 0)
    assert value_of(np.array([ABSENT]), stats, 0) == meant
    assert value_of(np.array([-3.5]), stats, 0) == -3.5


@pytest.mark.parametrize(("outlier", "counts_as"), [(1e12, 6.0), (-1e150, -6.0), (5.5, 5.5)])
def test_an_outlier_moves_the_moments_as_one_at_six_deviations(outlier, counts_as):
    """Outliers on either side are winsorised from the 30th value on, and no other value is."""
    stats = no_statistics(1)
    stats[:3, 0] = 30.0, 0.0, 30.0
    mean, squares = moments_with(outlier, stats, 0)
    assert mean == pytest.approx(counts_as / 31)
    assert squares == pytest.approx(30.0 + counts_as**2 * 30 / 31)
    stats[COUNT] = 29.0
    assert moments_with(outlier, stats, 0)[0] == pytest.approx(outlier / 30)


@pytest.mark.parametrize(
    ("value", "mean", "squares", "n", "deviation"),
    [
        (3.0, 1.0, 16.0, 4.0, 1.0),
        (1e9, 0.0, 4.0, 4.0, 5.0),
        (-1e12, 0.0, 4.0, 4.0, -5.0),
        (1.0, 1.0, 0.0, 5.0, 0.0),
        (2.0**30 + 2.0**-13, 2.0**30, 1.1e-6, 100.0, 0.0),  # is rounding
        (2.0**30 + 2.0**-13, 2.0**30, 1.2e-6, 100.0, 2.0**-13 / 1.2e-8**0.5),  # is more
        (1e-200, 0.0, 5e-324, 10.0, 0.0),  # the quotient underflows
        (0.0, 0.0, 0.0, 0.0, 0.0),
    ],
)
def test_deviations_at_the_extremes(value, mean, squares, n, deviation):
    """Deviations are clipped at five, and are 0 if values vary by rounding only."""
    assert in_deviations(value, mean, squares, n) == pytest.approx(deviation, abs=1e-12)


@pytest.mark.parametrize("value", [9e12, 1e14, 1e100, -1e100])
def test_a_wild_value_is_not_ordinary(value):
    """A value, however far out, is clipped at 5 deviations; it does not become 0."""
    assert in_deviations(value, 0.0, 1000.0, 1000.0) == np.sign(value) * 5.0
