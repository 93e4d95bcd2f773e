"""Inputs made of earlier values and of times."""

from math import hypot
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iln_stream.records.time_inputs import Lags, TimeFeatures, numbers_of_records

series = st.lists(st.none() | st.floats(-1e6, 1e6, width=32), max_size=80)


def inputs(made, values):
    """What is made at each value."""
    found = []
    for value in values:
        made({"a": 9.0})  # an example that is not accepted leaves nothing
        found.append(made({} if value is None else {"a": value}))
        made.accept()
    return found


@given(series, st.lists(st.integers(1, 30), unique=True), st.integers(1, 30))
def test_lags_are_those_of_the_series(values, lags, window):
    """At each record lags and means are those that the whole series defines, nothing later."""
    for i, found in enumerate(inputs(Lags({"a": lags}, {"a": [window]}), values)):
        expected = {f"a.lag_{k}": values[i - k] for k in lags if k <= i}
        known = [each for each in values[max(0, i - window + 1) : i + 1] if each is not None]
        if known:
            expected[f"a.mean_{window}"] = pytest.approx(fmean(known), abs=1e-9)
        assert found == {name: each for name, each in expected.items() if each is not None}


@given(series, st.integers(1, 30))
def test_a_lag_that_is_missing_may_be_the_present_value(values, lag):
    """Of one among several series, from the first record on; a present value that is missing, too,
    takes no place, and lags that are known stay."""
    plain, filled = (Lags({"a": [lag]}, {}, filled=each) for each in (False, True))
    for value, found, other in zip(
        values, inputs(plain, values), inputs(filled, values), strict=True
    ):
        assert other == ({} if value is None else {f"a.lag_{lag}": value}) | found
    fresh = filled.fresh()
    assert fresh({"a": 3.0}) == {f"a.lag_{lag}": 3.0}


@given(series, series)
def test_lags_go_on_after_a_restart(before, after):
    """A restored state continues as if there had been no restart."""
    whole, first, second = (Lags({"a": [1, 7]}, {"a": [5]}) for _ in range(3))
    expected = inputs(whole, before + after)[len(before) :]
    inputs(first, before)
    second.restore(first.state())
    assert inputs(second, after) == expected


def test_the_mean_of_the_largest_numbers():
    """A mean is finite even if the sum of its values is not."""
    assert inputs(Lags({}, {"a": [2]}), [1.5e308, 1.5e308])[1] == {"a.mean_2": 1.5e308}


def test_numbers_of_records():
    """A number stands for all up to it; a list for itself."""
    assert numbers_of_records(3) == (1, 2, 3)
    assert numbers_of_records([24, 1, 24]) == (24, 1)
    for wrong in (0, [], [0], [1.5], [True], "3", None):
        with pytest.raises(ValueError, match="number of records"):
            numbers_of_records(wrong)


@given(st.floats(0, 4e9))
def test_periods_close(time):
    """Each period's features lie on the unit circle; a week later hour and weekday are the same."""
    made = TimeFeatures(["hour", "weekday", "day_of_year"])
    now, later = made(time), made(time + 7 * 86400)
    for name in ("hour", "weekday", "day_of_year"):
        assert hypot(now[f"time.{name}.sin"], now[f"time.{name}.cos"]) == pytest.approx(1.0)
    for name in ("hour", "weekday"):
        assert now[f"time.{name}.sin"] == pytest.approx(later[f"time.{name}.sin"], abs=1e-3)


def test_since_last():
    """The first event has none, and a time that goes back counts as 0."""
    made = TimeFeatures(["since_last"])
    assert made(100.0) == {}
    made.accept(100.0)
    assert made(103.0) == made(103.0) == {"time.since_last": 3.0}
    made.accept(103.0)
    assert made(50.0) == {"time.since_last": 0.0}
