"""`Assembly`: what a loop keeps beside its learner."""

import pytest
from river import dummy, stats

from iln_stream.records import Example
from iln_stream.service import Settings, source_stream
from iln_stream.service.assembly import Assembly
from iln_stream.state import pack
from iln_stream.streams.river import RiverDatasetSource


@pytest.fixture
def make():
    """Return a function that makes an Assembly with these settings."""

    def made(**values):
        settings = Settings(source="e.jsonl", **values)
        source = RiverDatasetSource([({"a": 1.0}, 2.0), ({"a": 2.0}, 5.0)], "two")
        learner = dummy.StatisticRegressor(stats.Mean())
        return Assembly(settings, source_stream(settings), source, learner, "mean")

    return made


def test_restored_parts_are_the_same(make):
    """Counts, recent ids and waiting events are restored under their names."""
    first, second = make(recent_ids=5, pending_events=5), make(recent_ids=5, pending_events=5)
    first.loop([first.watched]).run()
    first.recent_ids.add_event("a")
    saved = {name: state() for name, state in first.states.items()}
    second.restore(saved.get)
    assert list(saved) == ["counts", "recent_ids", "pending", "decoder", "live"]
    again = {name: state() for name, state in second.states.items()}
    assert pack(again)[1] == pack(saved)[1]
    assert second.watched.scores.n_events == 2
    assert second.recent_ids.is_repeat(Example({}, None, "a", None))


def test_unused_parts(make):
    """Parts that the settings do not ask for are None, and so is their state."""
    assembly = make(recent_ids=None, pending_events=None)
    assert (assembly.recent_ids, assembly.late) == (None, None)
    assert (assembly.states["recent_ids"](), assembly.states["pending"]()) == (None, None)


def test_a_part_that_was_not_saved(make):
    """A part without a saved state begins empty."""
    assembly = make(recent_ids=5)
    assembly.restore({}.get)
    assert assembly.watched.scores.n_events == 0
    assert not assembly.recent_ids.is_repeat(Example({}, None, "a", None))
