"""`LateLabels`: labels that come in records of their own."""

import json
import random
from pathlib import Path
from statistics import median_low

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import linear_model, naive_bayes
from support.heard import Heard, heard_of
from support.list_source import LIST, ListSource
from support.recording_learners import Recording, RecordingLate

from iln_stream.errors import IlnWarning
from iln_stream.loop import (
    Classification,
    Details,
    LateLabels,
    LatePolicy,
    PrequentialLoop,
    RecentIds,
    Regression,
)
from iln_stream.loop.late_labels import EarlyLabel, EarlyLabels, RecordClock
from iln_stream.records import Example
from iln_stream.snapshots import learner_of, read_snapshot
from iln_stream.state import from_bytes, to_bytes
from iln_stream.streams import Record, StreamPartition

WAITING = Path(__file__).parent / "waiting.snapshot"
"""Of a run with learner_options = {"profile": "fast"} by the commit before plain forecasts."""


def run(learner, *payloads, recent=None, task=None, late=None, start=0, **policy):
    """Run over these payloads, written at 100 s, 101 s, ..., or at the time given with one."""
    task = task or Regression()
    late = late or LateLabels(LatePolicy(**{"events": 10, **policy}), task, ["list"])
    records = []
    for i, each in enumerate(payloads, start):
        payload, written = each if isinstance(each, tuple) else (each, 100.0 + i)
        records.append(Record(i, payload, LIST, written))
    return heard_of(learner, *records, recent_ids=recent, task=task, late=late), late


def event(name, a=1, **more):
    return json.dumps({"x": {"a": a}, "id": name, **more}).encode()


def label(name, y=7):
    return json.dumps({"id": name, "y": y}).encode()


EVENT, OTHER = b'{"x": {"a": 1}, "id": "e"}', b'{"x": {"a": 2}, "y": 5}'
LABEL = b'{"id": "e", "y": 7}'


@pytest.mark.parametrize("payloads", [(EVENT, label("e", 1e30)), (label("e", 1e30), EVENT)])
def test_a_label_beyond_the_bound(payloads):
    """It is a dead letter also if it comes late or early; the event still waits for a right one."""
    heard, _ = run(Recording(), *payloads, LABEL, early=5)
    assert ["is too large for a label" in letter.reason for letter in heard.letters] == [True]
    assert [step.y for step in heard.steps if step.late] == [7.0]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"events": 0}, "events = 0 must be at least 1"),
        ({"events": 1, "seconds": 0.0}, "seconds = 0.0 must be above 0"),
        ({"events": 1, "early": -1}, "early = -1 must not be negative"),
        ({"events": 1, "expired": "learn", "seconds": 5.0}, "needs a label"),
        ({"events": 1, "label": 0.0}, "only it takes one"),
        ({"events": 1, "expired": "learn", "label": 0.0}, "needs seconds"),
    ],
)
def test_wrong_bounds(options, problem):
    """A bound that makes no sense is an error that names it."""
    with pytest.raises(ValueError, match=problem):
        LatePolicy(**options)


def test_label_of_an_earlier_event():
    """An event is predicted when it comes and learned, with its own x, when its label comes; the
    loss is that of the published prediction, the delay that of their times, and scores count it
    once."""
    learner = Recording()
    heard, late = run(learner, EVENT, OTHER, LABEL)
    assert learner.learned == [({"a": 2.0}, 5.0), ({"a": 1.0}, 7.0)]
    event, other, label = heard.steps
    assert (event.y, event.y_pred, event.late) == (None, 0.0, False)
    assert (other.y, other.late) == (5.0, False)
    assert (label.offset, label.y, label.y_pred, label.late) == (2, 7.0, 0.0, True)
    assert label.loss == 7.0**2 / 2
    assert (label.x, label.time, label.delay) == ({"a": 1.0}, 100.0, 2.0)
    assert len(late) == 0
    scores = Regression().scores(10)
    scores.update(heard.steps)
    assert (scores.n_events, scores.n_labelled) == (2, 2)


def test_a_waiting_label_is_dated_by_its_own_record():
    """Two labels of an id may come at the same offset of two partitions; the later one is kept, and
    the record of the earlier one says nothing of its time."""
    labels = EarlyLabels()
    labels["a"] = EarlyLabel(Example({}, 7.0, "a", None), StreamPartition("labels", 1), 5, b"")
    labels.settle("a", StreamPartition("labels", 0), 5, 10.0)
    assert labels["a"].since is None
    labels.settle("a", StreamPartition("labels", 1), 5, 20.0)
    assert labels["a"].since == 20.0


def test_the_same_event_with_its_label():
    """An event that is sent again with its label counts as the label of the waiting event."""
    learner = Recording()
    heard, _ = run(learner, EVENT, b'{"x": {"a": 1}, "id": "e", "y": 7}', recent=RecentIds(9))
    assert learner.learned == [({"a": 1.0}, 7.0)]
    assert heard.steps[-1].late


def test_repeats_of_either_kind():
    """Repeated events and repeated labels are skipped and reported as repeats."""
    learner = Recording()
    heard, _ = run(learner, EVENT, EVENT, LABEL, LABEL, recent=RecentIds(9))
    assert heard.repeats == [1, 3]
    assert len(learner.learned) == 1


def test_a_label_without_its_event():
    """A label without a waiting event is counted, and a dead letter that names the id."""
    heard, late = run(Recording(), LABEL)
    (letter,) = heard.letters
    assert late.n_without_event == 1
    assert letter.reason.startswith("id: no event 'e' waits for a label: no such event came")


def test_labels_need_the_setting():
    """Without `pending_events`, a label is a dead letter that names this setting."""
    assert "pending_events" in heard_of(Recording(), LABEL).letters[0].reason


def metrics(late):
    return {spec.name: spec.read() for spec in late.metrics()}


def test_the_oldest_expires():
    """Beyond the number of events the oldest expires, and is counted, which is told once; it is no
    dead letter."""
    with pytest.warns(IlnWarning) as told:
        heard, late = run(Recording(), *(event(str(n)) for n in range(5)), events=3)
    assert len(told) == 1
    assert "not learned: more than 3 events wait for a label" in str(told[0].message)
    assert ("1" in late, "2" in late) == (False, True)
    found = metrics(late)
    assert found["iln_pending_events"] == 3
    assert found["iln_pending_expired_total"] == {"age": 0, "count": 2, "replaced": 0}
    assert heard.letters == []


def test_an_event_that_comes_again_is_the_newest():
    """An event that waits and is predicted again expires after the others."""
    _, late = run(Recording(), *map(event, "abac"), events=2)
    assert ("a" in late, "b" in late, "c" in late) == (True, False, True)
    assert late.n_expired["replaced"] == 1


@given(st.lists(st.none() | st.floats(0, 4e9), max_size=100))
def test_the_clock_is_the_median_of_the_last_31(times):
    """It is the lower median of the last 31 known times, so that 15 wrong ones do not move it."""
    clock, known = RecordClock(), []
    for time in times:
        clock.see(time)
        known += [] if time is None else [time]
        assert clock.time == (median_low(known[-31:]) if known else None)


def at(time, *payloads):
    return [(payload, time) for payload in payloads]


def later(time, n=40):
    """Events that let earlier ones expire."""
    return at(time, *(event(f"at-{time}-{i}") for i in range(n)))


def test_events_expire_by_the_times_of_records():
    """An event expires when most of the last records are later by more than `seconds`; the label
    that comes after that finds no event."""
    heard, late = run(
        Recording(), *at(0.0, event("a")), *at(50.0, *(event(str(n)) for n in range(40))),
        *at(200.0, *(event(f"later-{n}") for n in range(20))), *at(200.0, label("a")),
        events=100, seconds=100.0,
    )  # fmt: skip
    assert late.n_expired["age"] == 41
    assert len(late) == 20
    assert "no event 'a' waits" in heard.letters[0].reason


def test_one_record_of_a_wrong_time_expires_nothing():
    """A record dated 2099, or 1970, neither expires others nor at once itself."""
    wrong = [(event("2099"), 4.07e9), (event("1970"), 0.0)]
    _, late = run(
        Recording(), *at(1.8e9, event("a"), event("b")), *wrong,
        *at(1.8e9 + 10, *(event(str(n)) for n in range(40))), events=100, seconds=60.0,
    )  # fmt: skip
    assert late.n_expired["age"] == 0
    assert all(name in late for name in ("a", "b", "2099", "1970"))


def test_after_a_pause():
    """Events and early labels that come after a pause longer than `seconds` wait from then on."""
    heard, late = run(
        Recording(), *at(0.0, *(event(str(n)) for n in range(20))), *at(1e5, label("early")),
        *later(1e5), early=5, seconds=60.0, events=100, expired="write",
    )  # fmt: skip
    assert [letter.offset for letter in heard.letters] == list(range(20))
    assert len(late) == 40


def test_a_record_lets_so_many_expire():
    """After a pause, 100 events expire with a record, in order; a label may still come before."""
    first = [event(str(n)) for n in range(250)]
    more = {"seconds": 60.0, "events": 1000, "expired": "write"}
    for n_later, n_expired in ((15, 0), (16, 100), (17, 200), (18, 250)):
        _, late = run(Recording(), *at(0.0, *first), *later(1e5, n_later), **more)
        assert late.n_expired["age"] == n_expired
    records = *at(0.0, *first), *later(1e5, 16), *at(1e5, label("249")), *later(2e5, 2)
    heard, late = run(Recording(), *records, **more)
    assert (late.n_expired["age"], heard.steps[266].event_id, heard.steps[266].y) == (249, "249", 7)
    assert [letter.offset for letter in heard.letters] == list(range(249))


def test_expired_events_are_written():
    """With `write` an expired event is a dead letter with its position, id, inputs and reason."""
    heard, _ = run(
        Recording(), *at(0.0, event("a", 3)), *later(1.0), *later(100.0)[:20], events=100,
        seconds=60.0, expired="write",
    )  # fmt: skip
    letter = heard.letters[0]
    assert letter.reason == "id: 'a' expired: no label came within 60 s"
    assert json.loads(letter.payload) == {"id": "a", "x": {"a": 3.0}, "timestamp": 0.0}
    assert (letter.partition, letter.offset) == (0, 0)
    heard, _ = run(Recording(), *map(event, "abc"), events=2, expired="write")
    assert [each.reason for each in heard.letters] == [
        "id: 'a' expired: more than 2 events wait for a label"
    ]


def test_an_assumed_label_is_learned():
    """With `learn`, an event without a label in time is learned and scored with the assumed one;
    one that expires as there are too many is not."""
    learner = Recording()
    first = [event("too-many", 5), event("a", 3), *(event(f"b{n}", 4) for n in range(30))]
    heard, late = run(
        learner, *at(0.0, *first), *later(100.0, 25),
        events=31, seconds=10.0, expired="learn", label=0.0,
    )  # fmt: skip
    assert late.n_expired["age"] == len(learner.learned) > 0
    assert late.n_expired["count"] > 0
    assert learner.learned[0] == ({"a": 4.0}, 0.0)
    assumed = [step for step in heard.steps if step.late]
    assert (assumed[0].y, assumed[0].y_pred, assumed[0].delay) == (0.0, 0.0, None)


def test_waiting_events_count_as_the_assumed_class_while_another_is_alone():
    """Where frauds are the first labels, an event is no likely fraud, nor an impossible one."""
    heard, _ = run(
        naive_bayes.GaussianNB(), *map(event, "abcdefgh"), label("a", "fraud"), event("i"),
        label("b", "fraud"), event("j"), label("c", "no"), event("k"), task=Classification(),
        events=100, seconds=1000.0, expired="learn", label="no",
    )  # fmt: skip
    i, j, k = (step.y_pred for step in heard.steps if not step.late and step.event_id in "ijk")
    assert i == {"fraud": pytest.approx(2 / 10), "no": pytest.approx(8 / 10)}
    assert j == {"fraud": pytest.approx(3 / 11), "no": pytest.approx(8 / 11)}
    assert list(k) == ["fraud", "no"]
    assert k != pytest.approx({"fraud": 3 / 11, "no": 8 / 11})


@pytest.mark.parametrize(("assumed", "n"), [(0.0, 1), ("0", 0), ("no", 0)])
def test_an_assumed_class_of_another_type_is_warned_of(assumed, n, recwarn):
    """The number 0 beside the texts "0" and "1" would be a third class without a word."""
    run(
        naive_bayes.GaussianNB(), *at(0.0, event("a"), label("a", "1"), event("b"), event("c")),
        *later(50.0, 20), *later(100.0), task=Classification(),
        events=100, seconds=20.0, expired="learn", label=assumed,
    )  # fmt: skip
    told = [str(each.message) for each in recwarn if issubclass(each.category, IlnWarning)]
    assert len(told) == n
    assert all("pending_label = 0 is learned as a class of its own, beside '1'" in t for t in told)


def test_a_label_that_comes_after_the_assumed_one():
    """A label that differs from the assumed one came too late, and says so as a dead letter."""
    heard, _ = run(
        Recording(), *at(0.0, event("a")), *later(50.0, 20), *later(100.0),
        *at(100.0, label("a", 1), label("a", 0)), events=100,
        seconds=40.0, expired="learn", label=0.0, recent=RecentIds(99),
    )  # fmt: skip
    assert [each.reason for each in heard.letters] == [
        "y: event 'a' was learned with the label 0.0, which can't be changed to 1.0"
    ]
    assert heard.repeats[-1] == 62


def test_a_failing_assumed_label_is_a_dead_letter_of_its_event():
    """If the learner fails on an assumed label, the record that let the event expire is done."""

    class Failing(Recording):
        def learn_one(self, x, y):
            raise ArithmeticError("never")

    heard, _ = run(
        Failing(), *at(-1.0, event("a")), *later(0.0, 15), *later(100.0),
        seconds=10.0, expired="learn", label=0.0, events=100,
    )  # fmt: skip
    assert [letter.offset for letter in heard.letters] == list(range(16))
    assert "never" in heard.letters[0].reason
    assert len(heard.steps) == 56


def test_outcomes_before_an_error_are_reported():
    """A record that lets an event expire and then fails causes both dead letters."""
    heard, _ = run(
        Recording(), *at(-1.0, event("a")), *later(0.0, 15), *later(100.0, 15),
        *at(100.0, label("nobody")), seconds=10.0, expired="write", events=100,
    )  # fmt: skip
    assert [letter.offset for letter in heard.letters] == [*range(16), 31]


def test_a_label_before_its_event():
    """A label waits for its event, which is then predicted, scored and learned at once."""
    learner = Recording()
    heard, late = run(learner, label("a", 4), event("b"), event("a", 2), early=5)
    assert learner.learned == [({"a": 2.0}, 4.0)]
    assert [(s.event_id, s.y, s.y_pred, s.late) for s in heard.steps] == [
        ("b", None, 0.0, False), ("a", 4.0, 0.0, False)
    ]  # fmt: skip
    assert len(late._early) == 0
    assert heard.letters == []


def test_labels_whose_event_does_not_come():
    """Beyond their number or age, labels without an event become dead letters, as they came."""
    heard, late = run(Recording(), label("a"), label("b"), label("c"), early=2)
    (letter,) = heard.letters
    assert (letter.offset, json.loads(letter.payload)) == (0, {"id": "a", "y": 7})
    assert late.n_without_event == 1
    heard, _ = run(
        Recording(), *at(0.0, label("a")), *later(100.0), early=2, seconds=10.0, events=100,
    )  # fmt: skip
    assert [letter.offset for letter in heard.letters] == []
    heard, _ = run(
        Recording(), *at(0.0, label("a")), *later(0.0, 20), *later(100.0),
        early=2, seconds=10.0, events=100,
    )  # fmt: skip
    assert [letter.offset for letter in heard.letters] == [0]


def test_two_labels_before_the_event():
    """The later of two early labels counts; the other is a dead letter if it differs."""
    learner = Recording()
    heard, _ = run(learner, label("a", 1), label("a", 1), label("a", 2), event("a"), early=5)
    assert learner.learned == [({"a": 1.0}, 2.0)]
    (letter,) = heard.letters
    assert letter.offset == 1
    assert "1.0 came before its event 'a', and then 2.0" in letter.reason


class FailingOnce(Recording):
    """Fails on the first call of a method."""

    def __init__(self, method):
        super().__init__()
        self.fails_in = method

    def predict_one(self, x):
        self.fail("predict_one")
        return super().predict_one(x)

    def learn_one(self, x, y):
        self.fail("learn_one")
        super().learn_one(x, y)

    def fail(self, method):
        if self.fails_in == method:
            self.fails_in = None
            raise ArithmeticError("not now")


def test_a_failed_event_leaves_its_early_label():
    """If the learner fails on an event, its early label waits on for the event sent again."""

    learner = FailingOnce("predict_one")
    run(learner, label("a", 3), event("a"), event("a"), early=5, recent=RecentIds(5))
    assert learner.learned == [({"a": 1.0}, 3.0)]


def test_what_was_published_is_scored():
    """The step of a late label has the interval and the baselines as of the prediction."""
    details = iter([Details(((-1.0, 1.0),)), Details(((5.0, 6.0),))])
    heard = heard_of(
        Recording(),
        *(event("a"), event("b", y=4), label("a")),
        late=LateLabels(LatePolicy(5), Regression(), ["list"]),
        details=lambda x: next(details),
    )
    late = heard.steps[-1]
    assert (late.details.intervals, late.baselines) == (((-1.0, 1.0),), (0.0, 0.0))


def test_a_label_that_the_learner_fails_on_can_come_again():
    """After a failure of the learner the event still waits."""

    learner = FailingOnce("learn_one")
    heard, _ = run(learner, EVENT, LABEL, LABEL, recent=RecentIds(5))
    assert "the learner failed" in heard.letters[0].reason
    assert learner.learned == [({"a": 1.0}, 7.0)]


def noisy_records(n=400):
    """Events and labels shuffled, with early and missing labels, corrections and odd times."""
    rng = random.Random(7)
    records = []
    for i in range(n):
        at = 1e9 + i
        records.append((at, event(f"e{i}", i % 7)))
        if rng.random() < 0.9:
            delay = rng.choice([-3, 1, 5, 60, 400])
            records.append((at + delay, label(f"e{i}", i % 5)))
        if rng.random() < 0.05:
            records.append((at + 20, label(f"e{i}", 99)))
    records.sort(key=lambda each: each[0])
    return [(payload, rng.choice([at] * 50 + [4e9, 0.0])) for at, payload in records]


@pytest.mark.parametrize("at", [57, 640])
@pytest.mark.parametrize(
    ("make", "task", "more"),
    [
        (linear_model.LinearRegression, Regression(), {}),
        (naive_bayes.GaussianNB, Classification(), {"expired": "learn", "label": 0.0}),
        (RecordingLate, Regression(), {"expired": "write"}),
    ],
)
def test_a_restart_changes_nothing(make, task, more, at):
    """Events and labels that wait survive a restart: steps, dead letters and repeats after it are
    those of an uninterrupted run, wherever it was interrupted."""
    records = noisy_records()
    policy = {"events": 50, "seconds": 90.0, "early": 5, **more}
    learner, ids = make(), RecentIds(500)
    whole, _ = run(learner, *records, task=task, recent=ids, **policy)
    learner, ids = make(), RecentIds(500)
    before, late = run(learner, *records[:at], task=task, recent=ids, **policy)
    assert len(late) > 0
    restored = LateLabels(LatePolicy(**policy), task, ["list"])
    restored.restore(from_bytes(to_bytes(late.state())))
    after, _ = run(learner, *records[at:], task=task, recent=ids, late=restored, start=at)
    assert len(whole.letters) > 10

    def told(steps):
        return [str(step._replace(seconds=0, ended=0)) for step in steps]

    assert told(whole.steps) == told(before.steps + after.steps)
    assert whole.letters == before.letters + after.letters
    assert whole.repeats == before.repeats + after.repeats


def test_a_token_does_not_bypass_the_check():
    """If a learner with tokens predicts nan, the event is a dead letter."""

    class Broken(RecordingLate):
        def predict_token(self, x):
            return float("nan"), np.zeros(1)

    heard, late = run(Broken(), EVENT)
    assert "it predicted nan" in heard.letters[0].reason
    assert len(late) == 0


def test_tokens_of_other_forms():
    """A learner of a user's may return its token as a tuple; it gets the numbers back."""

    class Tuples(RecordingLate):
        def predict_token(self, x):
            return 0.0, (1.0, 2)

    learner = Tuples()
    heard, _ = run(learner, EVENT, LABEL)
    assert not heard.letters
    assert [[*token] for *_, token in learner.learned] == [[1.0, 2.0]]


def test_events_that_wait_since_an_older_release_are_learned_without_their_tokens():
    """The snapshot has 60 events that a learner with other experts predicted. Their labels are no
    dead letters; there is one warning, and the next ones have tokens of the present learner."""
    snapshot = read_snapshot(WAITING)
    learner = learner_of(snapshot.state["learner"], allow_pickle=False)
    late = LateLabels(LatePolicy(1_000), Regression(), ["list"])
    late.restore(snapshot.state["pending"])
    labels = [label(f"e{k}", y=float(k)) for k in range(60, 120)]
    more = [event("new"), label("new")]
    with pytest.warns(IlnWarning, match="learned as if") as warned:
        heard = Heard()
        records = [Record(i, each, LIST, 100.0 + i) for i, each in enumerate(labels + more, 1_000)]
        loop = PrequentialLoop(ListSource(records), learner, [heard], late=late)
        loop.run()
    assert len(warned) == 1
    assert not heard.letters
    assert sum(step.late for step in heard.steps) == 61
    assert loop.stepper.n_without_token == 60
    assert learner.n_learned == 121
