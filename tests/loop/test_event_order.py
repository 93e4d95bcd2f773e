"""Events that are older than the event before: counted, shown, and refused where all are."""

import random

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


@pytest.mark.parametrize("refuses", [True, False])
def test_times_that_begin_again(refuses):
    """Of a file, two events in a row of long ago are warned of; logs may be read so."""
    order = EventOrder("h.csv", refuses=refuses)
    learn_all(order, steps([*map(float, range(999)), 5.0, 6.0]))
    assert (order.n_older, order.check() is None) == (1, not refuses)


def of_series(n_series, n, *, batch=1):
    """Return the times of series that share a stream: hourly, in batches of hours."""
    hours = range(0, n // n_series, batch)
    return [float(h + i) for h in hours for _ in range(n_series) for i in range(batch)]


@pytest.mark.parametrize(
    "times",
    [
        of_series(2, 48),
        of_series(60, 600),
        of_series(2, 4_000, batch=24),
        of_series(30, 6_000, batch=200),
    ],
)
def test_several_series_are_no_series(times):
    """Series that share a stream, hour by hour or in batches, are refused where one is expected,
    with the setting that tells them apart; elsewhere they are learned."""
    with pytest.raises(RefusedError, match=r"horizon: the times .* such as series = "):
        learn_all(EventOrder("log", refuses=False, one_series=True), steps(times))
    learn_all(EventOrder("log", refuses=False), steps(times))


def test_what_happens_to_one_series():
    """Retries, an hour that a clock repeats, a batch that comes again and a date in the future are
    no second series; nor is anything that begins after the first 10,000 records."""
    one = [float(minute) for minute in range(1_000)]
    retried = [each for minute in one for each in [minute] * (1 + (minute % 50 == 7))]
    repeated_hour = [*one[:500], *one[440:]]
    batch_again = [*one[:400], *one[:400], *one[400:]]
    future = [*one[:3], 4e9, *one[3:500], 4e9, *one[500:]]
    late = [*map(float, range(10_000)), *of_series(9, 9_000)]
    for times in (one, retried, repeated_hour, batch_again, future, late):
        learn_all(EventOrder("log", refuses=False, one_series=True), steps(times))


@pytest.mark.parametrize("refuses", [True, False])
def test_steps_in_a_row(refuses):
    """However many steps come together, all is as one by one."""
    draw = random.Random(1)
    for _ in range(200):
        one, many = (EventOrder("e", refuses=refuses) for _ in range(2))
        time, times = draw.uniform(-50.0, 50.0), []
        for _ in range(60):
            time += draw.choice([0.0, 1.0, 1.0, 1.0, draw.uniform(-2.0, 3.0)])
            times.append(time if draw.random() < 0.98 else None)
        made = steps(times)
        while made:
            n = draw.randint(1, 9)
            for step in made[:n]:
                one.on_step(step)
            many.on_steps(made[:n])
            made = made[n:]
            assert vars(one) == vars(many)
