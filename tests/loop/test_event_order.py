"""Events that are older than the event before: counted, shown, and refused where all are."""

import pytest
from support.list_source import LIST

from iln_stream.errors import RefusedError
from iln_stream.loop import Step
from iln_stream.loop.event_order import EventOrder


def steps(times):
    return [Step(LIST, offset, None, time, {}, 1.0, 0.5, 0.1) for offset, time in enumerate(times)]


def learn_all(order, some):
    for step in some:
        order.on_step(step)
    order.check()


def test_older_events_are_counted():
    """Events older than the one before are counted and one is shown; equal times, events without a
    time and late labels are not."""
    order = EventOrder("h.csv")
    for step in steps([5.0, 5.0, 4.0, None, 9.0, 8.0]):
        order.on_step(step)
    order.on_step(steps([1.0])[0]._replace(late=True))
    assert (order.n, order.n_older, order.first, order.last) == (5, 2, 4.0, 9.0)
    assert "2 of 5 events are older than the event before, such as record 2 (" in order.check()


def test_a_stream_that_runs_backwards():
    """Newest first is refused soon, also in a file of four records; a log can't be sorted."""
    for n in (4, 150):
        order, of_log = EventOrder("h.csv"), EventOrder("log", refuses=False)
        backwards = steps(100.0 - t for t in range(n))
        for step in backwards:
            of_log.on_step(step)
        assert of_log.check() is not None
        with pytest.raises(RefusedError, match=r"h\.csv: newest first: .*the oldest first"):
            learn_all(order, backwards)
        assert order.n == min(n, 100)


def test_a_shuffled_stream_is_learned():
    """Half of the events out of order is not backwards."""
    order = EventOrder("h.csv")
    for step in steps(float(t * 619 % 1000) for t in range(1000)):
        order.on_step(step)
    assert 300 < order.n_older < 700
    assert order.check() is not None


def test_a_few_old_events_are_no_problem():
    """One event in a thousand that comes late is counted, not warned of."""
    order = EventOrder("h.csv")
    for step in steps([*map(float, range(999)), 5.0]):
        order.on_step(step)
    assert (order.n_older, order.check()) == (1, None)
