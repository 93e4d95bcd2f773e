"""`Waiting`: keeps and drops values as `PendingEvents` does with events."""

from river import dummy, stats

from iln_stream.prequential import Pending, PendingEvents
from iln_stream.prequential.waiting import Waiting


def test_the_same_events_wait_as_in_pending_events():
    """Repeats become the newest and the oldest expire; otherwise the two would disagree."""
    pending = PendingEvents(dummy.StatisticRegressor(stats.Mean()), 3)
    waiting = Waiting(3)
    for number, event_id in enumerate("abacdbeeaf"):
        pending.add(event_id, Pending({}, 0.0, None, None))
        waiting.keep(event_id, number)
        assert waiting.state(int)["ids"] == pending.state()["ids"]


def test_take():
    """A value is taken once; then, or without an id, the default is returned."""
    waiting = Waiting(2)
    waiting.keep("a", 1)
    waiting.keep(None, 2)
    assert [waiting.take(each, 0) for each in ("a", "a", None)] == [1, 0, 0]


def test_a_size_of_0_keeps_nothing():
    """Without pending events no label comes later, so nothing may be kept for ever."""
    waiting = Waiting(0)
    waiting.keep("a", 1)
    waiting.restore({"ids": ["b"], "values": [1]}, int)
    assert waiting.state(int) == {"ids": [], "values": []}
