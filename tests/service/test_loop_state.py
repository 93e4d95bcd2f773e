"""`LoopState`: what a loop keeps beside its learner."""

import pytest
from river import dummy, stats

from iln_stream.loop import PrequentialLoop, Regression
from iln_stream.loop.metrics import ModelMetrics
from iln_stream.records import Example
from iln_stream.service import Settings
from iln_stream.service.recovery import LoopState
from iln_stream.state import pack
from iln_stream.streams.river import RiverDatasetSource


@pytest.fixture
def source():
    return RiverDatasetSource([({"a": 1.0}, 2.0), ({"a": 2.0}, 5.0)], "two")


@pytest.fixture
def make(source):
    """Return a function that makes a LoopState with these settings, and its counts."""

    def made(**values):
        learner = dummy.StatisticRegressor(stats.Mean())
        counts = ModelMetrics(learner, source, "mean", Regression(), window=10)
        return (
            LoopState(Settings(source="e.jsonl", **values), Regression(), counts),
            counts,
            learner,
        )

    return made


def test_restored_parts_are_the_same(make, source):
    """Counts, recent ids and waiting events are restored under their names."""
    first, counts, learner = make(recent_ids=5, pending_events=5)
    PrequentialLoop(source, learner, [counts]).run()
    first.recent_ids.add_event("a")
    second, restored, _ = make(recent_ids=5, pending_events=5)
    saved = {name: state() for name, state in first.parts.items()}
    second.restore(saved.get)
    assert list(saved) == ["counts", "recent_ids", "pending", "decoder", "live"]
    again = {name: state() for name, state in second.parts.items()}
    assert pack(again)[1] == pack(saved)[1]
    assert restored.scores.n_events == 2
    assert second.recent_ids.is_repeat(Example({}, None, "a", None))


def test_unused_parts(make):
    """Parts that the settings do not ask for are None, and so is their state."""
    state, _, _ = make(recent_ids=None, pending_events=None)
    assert (state.recent_ids, state.late) == (None, None)
    assert (state.parts["recent_ids"](), state.parts["pending"]()) == (None, None)


def test_a_part_that_was_not_saved(make):
    """A part without a saved state begins empty."""
    state, counts, _ = make(recent_ids=5)
    state.restore({}.get)
    assert counts.scores.n_events == 0
    assert not state.recent_ids.is_repeat(Example({}, None, "a", None))
