"""`PrequentialLoop`: it predicts, scores and learns in order, and loses no record."""

import json
import math
import threading
import time

import pytest
from river import datasets, evaluate, linear_model, metrics, preprocessing
from support.heard import Heard, heard_of
from support.list_source import LIST, ListSource
from support.running_api import eventually

from iln_stream.errors import SinkError, SourceError
from iln_stream.learners import (
    InfiniteLayerRegressor,
    ScaledTarget,
    ShrinkingGradient,
    WinsorisedScaler,
    find_shrinking_gradient,
)
from iln_stream.loop import (
    LabelLog,
    LateLabels,
    LatePolicy,
    LearnerError,
    Listener,
    NothingLearnedError,
    PrequentialLoop,
    RecentIds,
    Regression,
    RegressionScores,
)
from iln_stream.records import EnvelopeDecoder
from iln_stream.service import shrinking_gradient
from iln_stream.streams import Record, StreamPartition
from iln_stream.streams.river import RiverDatasetSource


def event(offset, y=0.0, **inputs):
    return Record(offset, json.dumps({"x": inputs or {"a": float(offset)}, "y": y}).encode(), LIST)


class RecordingLearner:
    """A learner that records each call, and predicts the number of events learned so far."""

    def __init__(self):
        self.calls, self.n_learned = [], 0

    def predict_one(self, x):
        self.calls.append(("predict", dict(x)))
        return float(self.n_learned)

    def learn_one(self, x, y):
        self.calls.append(("learn", dict(x), y))
        self.n_learned += 1


class FailingLearner(RecordingLearner):
    """Fails on certain inputs: x["fail"] names the method, x["says"] is the prediction."""

    def predict_one(self, x):
        if "fail=predict" in x:
            raise ZeroDivisionError("predicted too much")
        return x.get("says", super().predict_one(x))

    def learn_one(self, x, y):
        if "fail=learn" in x:
            raise KeyError("learned too much")
        super().learn_one(x, y)


def run(records, learner=None, **options):
    return heard_of(learner or RecordingLearner(), *records, **options)


def test_predict_score_learn():
    """The loop predicts and then learns each event before it starts the next one."""
    learner = RecordingLearner()
    heard = run([event(i, y=10.0 * i) for i in range(5)], learner)
    assert learner.calls == [
        call for i in range(5) for call in [("predict", {"a": i}), ("learn", {"a": i}, 10.0 * i)]
    ]
    # The prediction is the number of learned events: a prediction after learning is off by one.
    assert [step.y_pred for step in heard.steps] == [0, 1, 2, 3, 4]
    assert [step.loss for step in heard.steps] == [(i - 10 * i) ** 2 / 2 for i in range(5)]


def test_gaps_in_offsets():
    """Gaps between offsets are no error: Kafka's transactions and compaction cause them."""
    heard = run([event(offset) for offset in (3, 4, 9, 1000, 2**40)])
    assert [step.offset for step in heard.steps] == [3, 4, 9, 1000, 2**40]


@pytest.mark.parametrize("first", [event(5), Record(5, b"?", LIST)], ids=["step", "dead letter"])
@pytest.mark.parametrize("offset", [5, 4, -1])
def test_disorder_is_refused(first, offset):
    """A repeated or earlier offset stops the loop before the record is learned."""
    heard = Heard()
    loop = PrequentialLoop(ListSource([first, event(offset)]), RecordingLearner(), [heard])
    with pytest.raises(SourceError, match=f"list:0: offset {offset} came after"):
        loop.run()
    assert len(heard.told) == 1


def test_listeners_get_each_record_once():
    """Listeners get each record in order, as either a step or a dead letter, which names the
    learner's error if that failed."""
    records = [
        event(0),
        Record(1, b"{", LIST),
        event(2, fail="predict"),
        event(3, fail="learn"),
        Record(4, None, LIST),
        event(5, y=None),
        event(6),
    ]
    heard = run(records, FailingLearner())
    letters = [("letter", offset) for offset in (1, 2, 3, 4)]
    assert heard.told == [("step", 0), *letters, ("step", 5), ("step", 6)]
    assert [letter.reason for letter in heard.letters[1:3]] == [
        "the learner failed: ZeroDivisionError: predicted too much",
        "the learner failed: KeyError: 'learned too much'",
    ]


def test_fields_of_a_dead_letter():
    """A dead letter has stream, partition, offset and reason, and the original record."""
    (letter,) = run([Record(17, b'{"x": {}, "y": "1"}', StreamPartition("list", 2))]).letters
    assert (letter.stream, letter.partition, letter.offset) == ("list", 2, 17)
    assert letter.reason == "y: expected a finite number, got '1'"
    assert letter.payload == '{"x": {}, "y": "1"}'


@pytest.mark.parametrize("prediction", [math.nan, math.inf, -math.inf, None])
def test_invalid_prediction(prediction):
    """A prediction of nan, infinity or None makes a dead letter, and the event is not learned."""

    class Mute(RecordingLearner):
        def predict_one(self, x):
            return prediction

    learner = Mute()
    heard = run([event(0)], learner)
    assert not heard.steps
    assert learner.n_learned == 0
    assert heard.letters[0].reason.startswith("the learner failed: ")
    assert str(prediction).removeprefix("-") in heard.letters[0].reason


def test_failures_in_a_row():
    """A learner that always fails stops the loop; all events until then are dead letters."""
    heard = Heard()
    records = [event(i, fail="predict") for i in range(10)]
    loop = PrequentialLoop(ListSource(records), FailingLearner(), [heard], 4)
    with pytest.raises(LearnerError, match=r"4 events in a row, the last at offset 3: predicted"):
        loop.run()
    assert [letter.offset for letter in heard.letters] == [0, 1, 2, 3]


def test_success_between_failures():
    """Only consecutive failures stop the loop: a success resets the count."""
    records = [event(i, **({"a": 1.0} if i % 4 == 3 else {"fail": "learn"})) for i in range(40)]
    heard = run(records, FailingLearner(), max_failures_in_a_row=4)
    assert len(heard.letters) == 30


def test_malformed_events_do_not_stop_the_stream():
    """Malformed events neither count as failures of the learner, nor reset the count of these."""
    heard = run([Record(i, b"?", LIST) for i in range(50)], max_failures_in_a_row=3)
    assert len(heard.letters) == 50
    records = [Record(i, b"?", LIST) if i % 2 else event(i, fail="predict") for i in range(20)]
    with pytest.raises(LearnerError):
        run(records, FailingLearner(), max_failures_in_a_row=5)


def test_unlabelled_events_are_predicted_only():
    """An event without a label is predicted; it is not learned and has no loss."""
    learner = RecordingLearner()
    heard = run([event(0, y=1.0), event(1, y=None), event(2, y=0.0)], learner)
    assert [name for name, *_ in learner.calls if name == "learn"] == ["learn", "learn"]
    unlabelled = heard.steps[1]
    assert (unlabelled.y, unlabelled.loss, unlabelled.flags) == (None, None, ())
    assert heard.steps[2].loss == 0.5


def test_unlabelled_event_does_not_repeat_a_shrink():
    """An unlabelled event does not get the flags of the event before it."""
    model = ShrinkingGradient(norm_bound=0.01, step=1.0, seed=1)
    records = [event(i, y=1.0 if i % 2 == 0 else None, a=0.5) for i in range(60)]
    heard = run(records, model)
    assert model.n_shrinks > 0
    assert sum("shrunk" in step.flags for step in heard.steps) == model.n_shrinks
    assert not any("shrunk" in step.flags for step in heard.steps if step.y is None)


def test_step_has_id_and_duration():
    """A step has the event's id, its duration and when it ended."""

    class Slow(RecordingLearner):
        def learn_one(self, x, y):
            time.sleep(0.02)

    before = time.perf_counter()
    (step,) = run([Record(0, b'{"x": {}, "y": 1, "id": "e-1"}', LIST)], Slow()).steps
    assert step.event_id == "e-1"
    assert 0.02 <= step.seconds < 2
    assert before + step.seconds <= step.ended <= time.perf_counter()


@pytest.mark.parametrize("pending", [None, 5])
def test_time_of_a_step(pending):
    """A step has its event's time, whether or not a label may come later: the sender's, if given,
    and otherwise that of the record."""
    sent = b'{"x": {}, "id": "a", "timestamp": "1970-01-01T00:01:00Z"}'
    records = [Record(0, sent, LIST, 5.0), Record(1, b'{"x": {}, "id": "b"}', LIST, 6.0)]
    late = LateLabels(LatePolicy(pending), Regression(), ["list"]) if pending else None
    heard = run(records, late=late)
    assert [step.time for step in heard.steps] == [60.0, 6.0]


def test_loss_is_algorithm_1s_own():
    """With scalers around it, a step's loss is Algorithm 1's own (E_t - y_t)^2 / 2."""
    model = ScaledTarget(WinsorisedScaler() | ShrinkingGradient(norm_bound=2.0, seed=3))
    inner = find_shrinking_gradient(model)
    updates = []

    class Keep(Listener):
        def on_step(self, step):
            updates.append((step, inner.last_update))

    source = RiverDatasetSource(datasets.TrumpApproval(), "TrumpApproval", limit=300)
    PrequentialLoop(source, model, [Keep()]).run()
    assert len(updates) == 300
    for step, update in updates:
        assert step.loss == update.loss
        assert update.loss == pytest.approx((update.estimate.value - update.y) ** 2 / 2)
        assert ("shrunk" in step.flags) == update.shrunk
        assert abs(update.y) <= 1
    in_units_of_y = [(step.y_pred - step.y) ** 2 / 2 for step, _ in updates]
    assert [step.loss for step, _ in updates] != in_units_of_y


def test_first_loss_of_a_learner_that_finds_its_scale():
    """The loss is 0 until the target's scale is known, and then on that scale."""
    events = [event(i, y=1_000.0 + i % 7) for i in range(50)]
    losses = [step.loss for step in run(events, InfiniteLayerRegressor("fast", seed=1)).steps]
    assert losses[0] == 0.0
    assert 0.0 < max(losses) < 100.0


def test_loss_of_other_models():
    """For a learner without a report the loss is (prediction - y)^2 / 2 in y's units; one beyond
    the range of doubles is infinite, not a failure of the learner. A label of which the square is
    no double is a dead letter."""
    model = preprocessing.TargetStandardScaler(linear_model.LinearRegression())
    heard = run([event(i, y=i % 3, a=i / 10) for i in range(30)], model)
    for step in heard.steps:
        assert step.loss == pytest.approx((step.y_pred - step.y) ** 2 / 2)
        assert step.flags == ()
    assert Regression().loss(0.0, 1e200) == math.inf
    heard = run([event(0, y=1.0), event(1, y=1e200)])
    assert [letter.reason for letter in heard.letters] == [
        "y: 1e+200 is too large for a label: its size must be below 1e+30; divide labels by a "
        "constant"
    ]


def test_same_mae_as_river():
    """The loop and River's progressive validation give a model the same MAE."""
    dataset, scores = datasets.TrumpApproval(), RegressionScores()
    theirs = evaluate.progressive_val_score(
        dataset, shrinking_gradient(seed=5), metrics.MAE()
    ).get()
    heard = Heard()
    source = RiverDatasetSource(dataset, "TrumpApproval")
    PrequentialLoop(source, shrinking_gradient(seed=5), [heard]).run()
    scores.update(heard.steps)
    assert scores.n_labelled == dataset.n_samples
    assert scores.running_error == pytest.approx(theirs, rel=1e-12)


def test_stop_during_a_batch():
    """After `stop` in the middle of a batch, the rest of the batch is not processed; the lag still
    has these records."""
    heard = Heard()
    source = ListSource([event(i) for i in range(10)], batch=10)

    class StopAtThree(Listener):
        def on_step(self, step):
            if step.offset == 3:
                loop.stop()

    loop = PrequentialLoop(source, RecordingLearner(), [StopAtThree(), heard])
    loop.run()
    assert [step.offset for step in heard.steps] == [0, 1, 2, 3]
    assert loop.n_in_hand() == 6


def test_stop_from_another_thread():
    """A waiting loop ends soon after `stop` is called in another thread."""

    class Endless(ListSource):
        exhausted = False

        def poll(self, timeout):
            time.sleep(timeout)
            return super().poll(timeout)

    heard = Heard()
    loop = PrequentialLoop(Endless([event(0)]), RecordingLearner(), [heard])
    thread = threading.Thread(target=loop.run, kwargs={"poll_timeout": 0.01}, daemon=True)
    thread.start()
    eventually(lambda: ("idle", None) in heard.told)
    loop.stop()
    thread.join(10)
    assert not thread.is_alive()
    assert len(heard.steps) == 1


@pytest.mark.parametrize("bad", [event(1), Record(1, b"?", LIST)], ids=["step", "dead letter"])
def test_failing_listener_stops_the_loop(bad):
    """If a listener fails, the loop stops before the next record."""

    class Full(Listener):
        def on_step(self, step):
            if step.offset == 1:
                raise SinkError("disk full")

        def on_dead_letter(self, letter):
            raise SinkError("disk full")

    learner, behind = RecordingLearner(), Heard()
    loop = PrequentialLoop(
        ListSource([event(0), bad, event(2)], batch=3), learner, [Full(), behind]
    )
    with pytest.raises(SinkError, match="disk full"):
        loop.run()
    assert ("predict", {"a": 2.0}) not in learner.calls
    assert behind.told == [("step", 0)]


def test_checkpoint_comes_after_the_listeners():
    """The checkpoint gets each record after all listeners."""
    heard = Heard()

    class Checkpoint:
        def passed(self, records):
            heard.told.append(("passed", [(each.origin, each.offset) for each in records]))

        def idle(self):
            heard.told.append(("checkpoint idle", None))

    class Pausing(ListSource):
        """Returns nothing once, at its end."""

        @property
        def exhausted(self):
            return self.polls > 2

    same, unlabelled = b'{"x": {}, "y": 1, "id": "a"}', b'{"x": {}}'
    payloads, origin = (same, b"?", same, unlabelled), StreamPartition("list", 7)
    records = [Record(i, each, origin) for i, each in enumerate(payloads)]
    PrequentialLoop(
        Pausing(records, batch=4), RecordingLearner(), [heard], recent_ids=RecentIds(5),
        checkpoint=Checkpoint(),
    ).run()  # fmt: skip
    first, last = (step.ended for step in heard.steps)
    assert heard.told == [
        ("step", 0), ("passed", [(origin, 0)]),
        ("letter", 1), ("passed", [(origin, 1)]),
        ("repeat", 2), ("passed", [(origin, 2)]),
        ("step", 3), ("passed", [(origin, 3)]),
        ("idle", None), ("checkpoint idle", None),
    ]  # fmt: skip
    assert first < last


BAD = b'{"price": 1}'


def first_records(*payloads, never_learned=True):
    """Run a loop over the payloads; return what is heard, and the error that ended it."""
    heard = Heard()
    records = [Record(i, payload, LIST) for i, payload in enumerate(payloads)]
    loop = PrequentialLoop(
        ListSource(records), RecordingLearner(), [heard], never_learned=never_learned
    )
    try:
        loop.run()
    except NothingLearnedError as error:
        return heard, str(error)
    return heard, None


def test_wrong_format_ends_the_loop():
    """If the first 100 records all fail, or all of a shorter stream, the loop ends with the first
    reason and a proposal."""
    heard, error = first_records(*[BAD] * 500)
    assert len(heard.letters) == 100
    assert "list: none of the first 100 records could be learned. The first: x: missing" in error
    assert "An event is" in error
    assert "none of the first 3 records" in first_records(*[BAD] * 3)[1]
    assert first_records()[1] is None


@pytest.mark.parametrize(("before", "is_new"), [(0, True), (99, True), (200, False)])
def test_one_good_event_shows_the_format(before, is_new):
    """After one record was learned, also by an earlier run, failing records never end the loop."""
    payloads = [BAD] * before + [b'{"x": {}, "y": 1}'] + [BAD] * 300
    heard, error = first_records(*payloads, never_learned=is_new)
    assert (len(heard.letters), error) == (300 + before, None)


def test_events_without_a_label_do_not_show_the_format():
    """A few events that can only be predicted, as where the label is missing, do not hide that no
    record can be learned; many may come before the first label, with garbage among them."""
    heard, error = first_records(*[BAD] * 50, b'{"x": {}}', *[BAD] * 300)
    assert len(heard.letters) == 100
    assert "of the first 100 records could be learned" in error
    heard, error = first_records(*[b'{"x": {}}'] * 400, *[BAD] * 300)
    assert (len(heard.letters), error) == (300, None)


def test_a_report_that_fails(caplog):
    """An event that was learned is a step even if the learner's report fails."""

    class Reporting(RecordingLearner):
        flags = ()

        def report(self, y_pred, y):
            raise KeyError("no such")

        def metrics(self):
            return ()

    heard = run([event(0, y=3.0), event(1, y=1.0)], Reporting())
    assert heard.told == [("step", 0), ("step", 1)]
    assert [step.loss for step in heard.steps] == [4.5, 0.0]
    assert "the learner's report failed" in caplog.text


def test_a_learner_that_fails_from_the_first_event_on(caplog):
    """It ends the loop like a wrong format, so that the positions are saved; the log shows where it
    failed, once."""

    class Failing(RecordingLearner):
        def predict_one(self, x):
            raise ZeroDivisionError("no")

    with pytest.raises(NothingLearnedError, match=r"the learner failed: ZeroDivisionError: no$"):
        run([event(i) for i in range(200)], Failing(), never_learned=True)
    traces = [each for each in caplog.records if each.exc_info]
    assert len(traces) == 1
    assert 'raise ZeroDivisionError("no")' in caplog.text


def test_polled_records_are_in_hand_until_they_are_handled():
    """The lag counts records that were fetched but not learned; a label is not an event."""
    records = [
        event(0),
        event(1),
        Record(0, b"not JSON", StreamPartition("labels", 0)),
        Record(3, b"not JSON", LIST),
        event(4),
    ]
    found = []

    class Asks(Listener):
        def on_step(self, step):
            found.append((loop.n_in_hand(), loop.n_in_hand(labels=True)))

        def on_dead_letter(self, letter):
            self.on_step(None)

    labels = LabelLog("labels", EnvelopeDecoder())
    source = ListSource(records, batch=4)
    loop = PrequentialLoop(source, RecordingLearner(), [Asks()], labels=labels)
    loop.run()
    assert found == [(3, 1), (2, 1), (1, 1), (1, 0), (1, 0)]
    assert (loop.n_in_hand(), loop.n_in_hand(labels=True)) == (0, 0)
