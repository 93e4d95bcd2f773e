"""`RecentIds`: repeats are recognised by their ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.heard import heard_of
from support.recording_learners import Recording

from iln_stream.loop import LateLabels, LatePolicy, RecentIds, Regression
from iln_stream.records import Example, MalformedError
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_json
from iln_stream.state import pack, unpack

ids = st.lists(st.sampled_from("abcdef"))


def of(event_id, y=None):
    """Return an event with this id and label."""
    return Example({}, y, event_id, None)


def is_repeat(recent, event_id):
    """Ask and add, as the loop does for an event that the learner learns."""
    known = recent.is_repeat(of(event_id, 1.0))
    if not known:
        recent.add_event(event_id)
        recent.add_label(event_id, 1.0)
    return known


@given(ids=ids, size=st.integers(1, 4))
def test_the_last_distinct_ones(ids, size):
    """An id is a repeat exactly if it is among the last `size` new ids."""
    recent, new = RecentIds(size), []
    for event_id in ids:
        repeat = event_id in new[-size:]
        assert is_repeat(recent, event_id) is repeat
        if not repeat:
            new.append(event_id)


@given(before=ids, after=ids, size=st.integers(1, 4))
def test_restored(before, after, size):
    """After `restore` it recognises the same repeats as before."""
    first, second = RecentIds(size), RecentIds(size)
    for event_id in before:
        is_repeat(first, event_id)
    second.restore(first.state())
    assert [is_repeat(first, i) for i in after] == [is_repeat(second, i) for i in after]


def test_a_shorter_memory_keeps_the_latest():
    """A smaller size than the state has ids keeps the latest ids."""
    long, short = RecentIds(3), RecentIds(2)
    for event_id in "abc":
        long.add_event(event_id)
    short.restore(long.state())
    assert [short.is_repeat(of(event_id)) for event_id in "abc"] == [False, True, True]


def test_size():
    """A size of 0 is refused."""
    with pytest.raises(ValueError, match="size = 0 must be at least 1"):
        RecentIds(0)


def test_the_loop_skips_repeats():
    """A repeat is neither predicted nor learned, and listeners get it; an event without an id is
    never a repeat."""
    learner = Recording()
    again = b'{"x": {}, "y": 1, "id": "a"}'
    payloads = [again, again, b'{"x": {}, "y": 3}', b'{"x": {}, "y": 3}']
    heard = heard_of(learner, *payloads, recent_ids=RecentIds(5))
    assert heard.told == [("step", 0), ("repeat", 1), ("step", 2), ("step", 3)]
    assert [y for _, y in learner.learned] == [1.0, 3.0, 3.0]


@pytest.mark.parametrize("method", ["predict_one", "learn_one"])
def test_dead_letter_that_is_sent_again(method):
    """An event that the learner failed on can be sent again, and its id displaces no other."""

    class Ailing(Recording):
        """Fails on its second and third call of a method."""

        n_calls = 0

        def predict_one(self, x):
            self.fail("predict_one")
            return 0.0

        def learn_one(self, x, y):
            self.fail("learn_one")

        def fail(self, name):
            self.n_calls += name == method
            if name == method and self.n_calls in (2, 3):
                raise ArithmeticError("not now")

    payloads = [b'{"x": {}, "y": 1, "id": "%c"}' % event_id for event_id in b"aababb"]
    heard = heard_of(Ailing(), *payloads, recent_ids=RecentIds(1))
    kinds = ["step", "repeat", "letter", "repeat", "letter", "step"]
    assert heard.told == list(zip(kinds, range(6), strict=True))


def test_an_event_and_its_label_are_two_things():
    """The label of a known event is new until it has come itself."""
    recent = RecentIds(5)
    recent.add_event("a")
    assert recent.is_repeat(of("a"))
    assert not recent.is_repeat(of("a", 1.0))
    recent.add_label("a", 1.0)
    assert recent.is_repeat(of("a", 1.0))


def test_a_second_label():
    """Another label of the same event is an error that names both, and is counted; it stays so
    after a restart."""
    recent, restored = RecentIds(5), RecentIds(5)
    recent.add_label("a", 1.0)
    restored.restore(unpack(*pack(recent.state())))
    for ids in (recent, restored):
        with pytest.raises(MalformedError, match=r"'a' was learned with the label 1\.0, .* 2\.0"):
            ids.is_repeat(of("a", 2.0))
        assert ids.n_corrected == 1


def test_event_without_a_label_then_with_one():
    """An event that came without its label is learned when it comes again with the label."""
    learner = Recording()
    payloads = [b'{"x": {}, "id": "a"}', b'{"x": {}, "y": 2, "id": "a"}']
    heard_of(learner, *payloads, *payloads, recent_ids=RecentIds(5))
    assert learner.learned == [({}, 2.0)]


@pytest.mark.parametrize("late", [False, True])
def test_skipped_records_do_not_change_later_inputs(late):
    """`since_last` counts from the last event that was predicted or learned: not from a repeat, a
    late label or an event that failed."""
    seen = []

    class Learner(Recording):
        def predict_one(self, x):
            if x["a"] < 0:
                raise ArithmeticError("negative")
            seen.append(x.get("time.since_last"))
            return 0.0

    label = b"" if late else b', "y": 1'
    mapping = FieldMapping("y", id_field="id", time_field="t", time_features=["since_last"])
    heard_of(
        Learner(),
        b'{"id": "a", "t": 100, "a": 1%b}' % label,
        b'{"id": "b", "t": 110, "a": 1%b}' % label,
        b'{"id": "a", "t": 100, "a": 1%b}' % label,
        b'{"id": "c", "t": 117, "a": -1%b}' % label,
        b'{"id": "a", "t": 118, "a": 1, "y": 1}',
        b'{"id": "d", "t": 120, "a": 1%b}' % label,
        recent_ids=RecentIds(10),
        late=LateLabels(LatePolicy(10), Regression(), ["list"]) if late else None,
        decoder=MappedDecoder(mapping, parse_json),
    )
    assert seen == [None, 10.0, 10.0]
