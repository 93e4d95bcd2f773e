"""`TimeFeatures`: inputs made of times."""

from math import hypot

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iln_stream.records.time_inputs import TimeFeatures

times = st.floats(0, 4e9)


@given(times)
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


def test_unknown_name():
    """A misspelt feature is refused with the names that exist."""
    with pytest.raises(ValueError, match="'hours' is not among hour, weekday"):
        TimeFeatures(["hours"])
