"""`runs_by_time`: how far records at hand can be ordered, and in which order."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from iln_stream.streams.sequencer import runs_by_time


def test_order_of_times():
    """Records come in the order of their times; of equal ones, that of the first partition."""
    runs = runs_by_time([[1.0, 3.0, 4.0], [2.0, 3.0, 5.0]], [False, False])
    assert runs == [(0, 1), (1, 1), (0, 1), (1, 1), (0, 1), (1, 1)]


def test_what_may_still_come_is_waited_for():
    """A record later than the last one at hand of a partition that has more is left out."""
    times = [[1.0, 2.0, 9.0], [2.0, 3.0]]
    assert runs_by_time(times, [False, True]) == [(0, 2), (1, 2)]
    assert runs_by_time(times, [False, False]) == [(0, 2), (1, 2), (0, 1)]
    assert runs_by_time([[5.0], []], [True, True]) == [(0, 1)]


def test_a_time_in_the_future_holds_nothing_back():
    """One record dated in the future comes with its successor."""
    assert runs_by_time([[1.0, 9e9, 2.0, 3.0], [2.5]], [True, False]) == [(0, 3), (1, 1), (0, 1)]


@given(
    times=st.lists(st.lists(st.floats(0, 10), max_size=20), min_size=1, max_size=4),
    more=st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_runs_fit_the_records(times, more):
    """No more records are taken than there are; if any are there, at least one is taken."""
    runs = runs_by_time(times, more[: len(times)])
    taken = [sum(count for number, count in runs if number == n) for n in range(len(times))]
    assert all(n <= len(each) for n, each in zip(taken, times, strict=True))
    assert sum(taken) > 0 or not any(times)
    assert not any(before[0] == after[0] for before, after in pairwise(runs))
    if not any(more[: len(times)]):
        assert taken == list(map(len, times))
