"""`RecordClock`: the time of records."""

from statistics import median_low

from hypothesis import given
from hypothesis import strategies as st

from iln_stream.loop.late_labels import RecordClock

times = st.lists(st.none() | st.floats(0, 4e9), max_size=100)


@given(times=times)
def test_the_median_of_the_last_31(times):
    """It shows the lower median of the last 31 known times."""
    clock = RecordClock()
    known = []
    for time in times:
        clock.see(time)
        known += [] if time is None else [time]
        assert clock.time == (median_low(known[-31:]) if known else None)


@given(before=times, after=times)
def test_restored(before, after):
    """After `restore` it shows the same times."""
    clock, restored = RecordClock(), RecordClock()
    for time in before:
        clock.see(time)
    restored.restore(clock.state())
    for time in after:
        assert clock.time == restored.time
        clock.see(time)
        restored.see(time)
    assert clock.time == restored.time


def test_fifteen_wrong_times():
    """Up to 15 wrong times of 31 in a row do not move it beyond the right ones."""
    clock = RecordClock()
    for n in range(200):
        clock.see(4e9 if n % 31 < 15 else 1e9 + n)
        if n >= 31:
            assert 1e9 <= clock.time <= 1e9 + n
