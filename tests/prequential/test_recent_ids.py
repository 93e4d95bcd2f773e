"""Repeats by their ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.list_source import ListSource

from iln_stream.prequential import Listener, PrequentialLoop, RecentIds
from iln_stream.sources import Record

ids = st.lists(st.sampled_from("abcdef"))


@given(ids=ids, size=st.integers(1, 4))
def test_the_last_distinct_ones(ids, size):
    """An id is a repeat exactly if it is among the last `size` that were new when they came."""
    recent, new = RecentIds(size), []
    for event_id in ids:
        repeat = event_id in new[-size:]
        assert recent.is_repeat(event_id) is repeat
        if not repeat:
            new.append(event_id)


@given(before=ids, after=ids, size=st.integers(1, 4))
def test_restored(before, after, size):
    """Restored from its state, it goes on as it would have."""
    first, second = RecentIds(size), RecentIds(size)
    for event_id in before:
        first.is_repeat(event_id)
    second.restore(first.state())
    assert [first.is_repeat(i) for i in after] == [second.is_repeat(i) for i in after]


def test_a_shorter_memory_keeps_the_latest():
    """Given fewer places than the state has ids, the oldest are forgotten."""
    long, short = RecentIds(3), RecentIds(2)
    for event_id in "abc":
        long.is_repeat(event_id)
    short.restore(long.state())
    assert [short.is_repeat(event_id) for event_id in "bc"] == [True, True]
    assert not short.is_repeat("a")


def test_size():
    """No memory at all isn't this one."""
    with pytest.raises(ValueError, match="size = 0 must be at least 1"):
        RecentIds(0)


def test_the_loop_passes_over_repeats():
    """A repeat is neither predicted nor learned, and its listeners are told; events without an id
    are never repeats."""
    told = []

    class Learner:
        def predict_one(self, x):
            return 0.0

        def learn_one(self, x, y):
            told.append(("learned", y))

    class Telling(Listener):
        def on_step(self, step):
            told.append(("step", step.offset))

        def on_repeat(self, offset):
            told.append(("repeat", offset))

    payloads = [
        b'{"x": {}, "y": 1, "id": "a"}',
        b'{"x": {}, "y": 2, "id": "a"}',
        b'{"x": {}, "y": 3}',
        b'{"x": {}, "y": 4}',
    ]
    source = ListSource(Record(i, payload) for i, payload in enumerate(payloads))
    PrequentialLoop(source, Learner(), [Telling()], recent_ids=RecentIds(5)).run()
    assert told == [
        ("learned", 1.0),
        ("step", 0),
        ("repeat", 1),
        ("learned", 3.0),
        ("step", 2),
        ("learned", 4.0),
        ("step", 3),
    ]
