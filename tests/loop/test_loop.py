"""`PrequentialLoop`: it predicts, scores and learns in order, and loses no record."""

import json
import math
import threading
import time

import pytest
from river import datasets, dummy, evaluate, linear_model, metrics, optim, preprocessing, stats
from support.list_source import LIST, ListSource

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


class Recorder(Listener):
    """Records all calls in order."""

    def __init__(self):
        self.told, self.steps, self.letters = [], [], []

    def on_step(self, step):
        self.told.append(("step", step.offset))
        self.steps.append(step)

    def on_dead_letter(self, letter):
        self.told.append(("letter", letter.offset))
        self.letters.append(letter)

    def on_idle(self):
        self.told.append(("idle", None))


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


def run(records, learner=None, max_failures_in_a_row=100):
    recorder = Recorder()
    loop = PrequentialLoop(
        ListSource(records), learner or RecordingLearner(), [recorder], max_failures_in_a_row
    )
    loop.run()
    return recorder


def test_predict_score_learn():
    """The loop predicts and then learns each event before it starts the next one."""
    learner = RecordingLearner()
    recorder = run([event(i, y=10.0 * i) for i in range(5)], learner)
    assert learner.calls == [
        call for i in range(5) for call in [("predict", {"a": i}), ("learn", {"a": i}, 10.0 * i)]
    ]
    # The prediction is the number of learned events: a prediction after learning is off by one.
    assert [step.y_pred for step in recorder.steps] == [0, 1, 2, 3, 4]
    assert [step.loss for step in recorder.steps] == [(i - 10 * i) ** 2 / 2 for i in range(5)]


def test_label_does_not_affect_its_prediction():
    """Changing the labels from an event on changes no prediction up to that event."""

    def predictions(later):
        labels = [math.sin(i) if i < 20 else later for i in range(30)]
        recorder = run(
            [event(i, y, a=i / 10) for i, y in enumerate(labels)], shrinking_gradient(seed=1)
        )
        return [step.y_pred for step in recorder.steps]

    one, other = predictions(later=1.0), predictions(later=-1.0)
    assert one[:21] == other[:21]
    assert one[21:] != other[21:]


def test_gaps_in_offsets():
    """Gaps between offsets are no error: Kafka's transactions and compaction cause them."""
    recorder = run([event(offset) for offset in (3, 4, 9, 1000, 2**40)])
    assert [step.offset for step in recorder.steps] == [3, 4, 9, 1000, 2**40]


@pytest.mark.parametrize("offsets", [(0, 0), (0, 1, 1), (5, 4), (-1,)])
def test_disorder_is_refused(offsets):
    """A repeated or earlier offset stops the loop before the record is learned."""
    learner, recorder = RecordingLearner(), Recorder()
    loop = PrequentialLoop(ListSource([event(o) for o in offsets]), learner, [recorder])
    with pytest.raises(SourceError, match=rf"list:0: offset {offsets[-1]} came after"):
        loop.run()
    assert learner.n_learned == len(recorder.told) == len(offsets) - 1


def test_disorder_is_refused_after_a_dead_letter():
    """The order check includes records that became dead letters."""
    loop = PrequentialLoop(ListSource([Record(0, b"?", LIST), event(0)]), RecordingLearner())
    with pytest.raises(SourceError, match="offset 0 came after 0"):
        loop.run()


def test_listeners_get_each_record_once():
    """Listeners get each record in order, as either a step or a dead letter."""
    records = [
        event(0),
        Record(1, b"{", LIST),
        event(2, fail="predict"),
        event(3, fail="learn"),
        Record(4, None, LIST),
        event(5, y=None),
        event(6),
    ]
    recorder = run(records, FailingLearner())
    assert recorder.told == [
        ("step", 0),
        ("letter", 1),
        ("letter", 2),
        ("letter", 3),
        ("letter", 4),
        ("step", 5),
        ("step", 6),
    ]


def test_fields_of_a_dead_letter():
    """A dead letter has stream, partition, offset and reason, and the original record."""
    (letter,) = run([Record(17, b'{"x": {}, "y": "1"}', StreamPartition("list", 2))]).letters
    assert (letter.stream, letter.partition, letter.offset) == ("list", 2, 17)
    assert letter.reason == "y: Input should be a valid number, got '1'"
    assert letter.payload == '{"x": {}, "y": "1"}'


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({"fail": "predict"}, "the learner failed: ZeroDivisionError: predicted too much"),
        ({"fail": "learn"}, "the learner failed: KeyError: 'learned too much'"),
    ],
)
def test_failure_of_the_learner(inputs, reason):
    """An event that the learner fails on becomes a dead letter with the learner's error."""
    recorder = run([event(0, **inputs), event(1)], FailingLearner())
    assert [letter.reason for letter in recorder.letters] == [reason]
    assert [step.offset for step in recorder.steps] == [1]


@pytest.mark.parametrize("prediction", [math.nan, math.inf, -math.inf, None])
def test_invalid_prediction(prediction):
    """A prediction of nan, infinity or None makes a dead letter, and the event is not learned."""

    class Mute(RecordingLearner):
        def predict_one(self, x):
            return prediction

    learner = Mute()
    recorder = run([event(0)], learner)
    assert not recorder.steps
    assert learner.n_learned == 0
    assert recorder.letters[0].reason.startswith("the learner failed: ")
    assert str(prediction).removeprefix("-") in recorder.letters[0].reason


def test_a_diverged_river_model_stops_the_stream():
    """A River model that diverges to nan stops the loop, and no nan is published."""
    model = linear_model.LinearRegression(
        optimizer=optim.SGD(1.0), intercept_lr=1.0, loss=optim.losses.Squared(), clip_gradient=1e308
    )
    records = [event(i, y=1e10, a=1e10) for i in range(200)]
    recorder = Recorder()
    loop = PrequentialLoop(ListSource(records), model, [recorder], max_failures_in_a_row=10)
    with pytest.raises(LearnerError, match="failed on 10 events in a row"):
        loop.run()
    assert all(math.isfinite(step.y_pred) for step in recorder.steps)


def test_failures_in_a_row():
    """A learner that always fails stops the loop; all events until then are dead letters."""
    recorder = Recorder()
    records = [event(i, fail="predict") for i in range(10)]
    loop = PrequentialLoop(ListSource(records), FailingLearner(), [recorder], 4)
    with pytest.raises(LearnerError, match=r"4 events in a row, the last at offset 3: predicted"):
        loop.run()
    assert [letter.offset for letter in recorder.letters] == [0, 1, 2, 3]


def test_success_between_failures():
    """Only consecutive failures stop the loop: a success resets the count."""
    records = [event(i, **({"a": 1.0} if i % 4 == 3 else {"fail": "learn"})) for i in range(40)]
    recorder = run(records, FailingLearner(), max_failures_in_a_row=4)
    assert len(recorder.letters) == 30


def test_malformed_events_do_not_stop_the_stream():
    """Malformed events do not count as failures of the learner."""
    recorder = run([Record(i, b"?", LIST) for i in range(50)], max_failures_in_a_row=3)
    assert len(recorder.letters) == 50


def test_malformed_events_do_not_hide_failures():
    """Malformed events between failures of the learner do not reset the count."""
    records = [Record(i, b"?", LIST) if i % 2 else event(i, fail="predict") for i in range(20)]
    with pytest.raises(LearnerError):
        run(records, FailingLearner(), max_failures_in_a_row=5)


def test_unlabelled_events_are_predicted_only():
    """An event without a label is predicted; it is not learned and has no loss."""
    learner = RecordingLearner()
    recorder = run([event(0, y=1.0), event(1, y=None), event(2, y=0.0)], learner)
    assert [call[0] for call in learner.calls] == [
        "predict",
        "learn",
        "predict",
        "predict",
        "learn",
    ]
    unlabelled = recorder.steps[1]
    assert (unlabelled.y, unlabelled.loss, unlabelled.flags) == (None, None, ())
    assert recorder.steps[2].loss == 0.5


def test_unlabelled_event_does_not_repeat_a_shrink():
    """An unlabelled event does not get the flags of the event before it."""
    model = ShrinkingGradient(norm_bound=0.01, step=1.0, seed=1)
    records = [event(i, y=1.0 if i % 2 == 0 else None, a=0.5) for i in range(60)]
    recorder = run(records, model)
    assert model.n_shrinks > 0
    assert sum("shrunk" in step.flags for step in recorder.steps) == model.n_shrinks
    assert not any("shrunk" in step.flags for step in recorder.steps if step.y is None)


def test_inputs_are_one_hot_encoded():
    """A learner gets only numbers as inputs."""
    learner = RecordingLearner()
    run([event(0, sky="clear", up=True, wind=3)], learner)
    assert learner.calls[0] == ("predict", {"sky=clear": 1.0, "up": 1.0, "wind": 3.0})


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
    heard, learner = Recorder(), RecordingLearner()
    late = LateLabels(LatePolicy(pending), Regression(), ["list"]) if pending else None
    PrequentialLoop(ListSource(records), learner, [heard], late=late).run()
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
    recorder = Recorder()
    events = [event(i, y=1_000.0 + i % 7) for i in range(50)]
    PrequentialLoop(ListSource(events), InfiniteLayerRegressor("fast", seed=1), [recorder]).run()
    losses = [step.loss for step in recorder.steps]
    assert losses[0] == 0.0
    assert 0.0 < max(losses) < 100.0


@pytest.mark.parametrize(
    "model",
    [
        linear_model.LinearRegression(),
        preprocessing.StandardScaler() | linear_model.LinearRegression(),
        preprocessing.TargetStandardScaler(linear_model.LinearRegression()),
        dummy.StatisticRegressor(stats.Mean()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_loss_of_other_models(model):
    """For a learner without a report the loss is (prediction - y)^2 / 2 in y's units."""
    recorder = run([event(i, y=i % 3, a=i / 10) for i in range(30)], model.clone())
    for step in recorder.steps:
        assert step.loss == pytest.approx((step.y_pred - step.y) ** 2 / 2)
        assert step.flags == ()


def test_loss_beyond_a_double():
    """A loss beyond the range of doubles is infinite, not a failure of the learner."""
    recorder = run([event(0, y=1e200)])
    assert [step.loss for step in recorder.steps] == [math.inf]


@pytest.mark.parametrize(
    "model",
    [
        lambda: preprocessing.StandardScaler() | linear_model.LinearRegression(),
        lambda: shrinking_gradient(seed=5),
    ],
    ids=["River's linear regression", "ours"],
)
def test_same_mae_as_river(model):
    """The loop and River's progressive validation give a model the same MAE."""
    dataset = datasets.TrumpApproval()
    theirs = evaluate.progressive_val_score(dataset, model(), metrics.MAE()).get()
    scores = RegressionScores()

    class Scorer(Listener):
        def on_step(self, step):
            scores.update([step])

    source = RiverDatasetSource(dataset, "TrumpApproval")
    PrequentialLoop(source, model(), [Scorer()]).run()
    assert scores.n_labelled == dataset.n_samples
    assert scores.running_error == pytest.approx(theirs, rel=1e-12)


def test_stop_during_a_batch():
    """After `stop` in the middle of a batch, the rest of the batch is not processed."""
    recorder = Recorder()
    source = ListSource([event(i) for i in range(10)], batch=10)

    class StopAtThree(Listener):
        def on_step(self, step):
            if step.offset == 3:
                loop.stop()

    loop = PrequentialLoop(source, RecordingLearner(), [StopAtThree(), recorder])
    loop.run()
    assert [step.offset for step in recorder.steps] == [0, 1, 2, 3]


def test_stop_from_another_thread():
    """A waiting loop ends soon after `stop` is called in another thread."""

    class Endless(ListSource):
        exhausted = False

        def poll(self, timeout):
            records = super().poll(timeout)
            if not records:
                time.sleep(timeout)
            return records

    heard = threading.Event()

    class Heard(Listener):
        def on_idle(self):
            heard.set()

    recorder = Recorder()
    loop = PrequentialLoop(Endless([event(0)]), RecordingLearner(), [recorder, Heard()])
    thread = threading.Thread(target=loop.run, kwargs={"poll_timeout": 0.01}, daemon=True)
    thread.start()
    assert heard.wait(10)
    loop.stop()
    thread.join(10)
    assert not thread.is_alive()
    assert len(recorder.steps) == 1


def test_idle():
    """Listeners are called when the source has nothing new, so that they can flush."""

    class Halting(ListSource):
        """Returns nothing once, after its first batch."""

        def poll(self, timeout):
            return [] if self.polls == 1 and not self._pause() else super().poll(timeout)

        def _pause(self):
            self.polls += 1

    recorder = Recorder()
    PrequentialLoop(Halting([event(0), event(1)], batch=1), RecordingLearner(), [recorder]).run()
    assert recorder.told == [("step", 0), ("idle", None), ("step", 1)]


def test_empty_source():
    """The loop ends at once if the source has no records."""
    recorder = run([])
    assert recorder.told == []


def test_order_of_listeners():
    """For each record the listeners are called in the given order."""
    told = []

    class Named(Listener):
        def __init__(self, name):
            self.name = name

        def on_step(self, step):
            told.append((step.offset, self.name))

        def on_dead_letter(self, letter):
            told.append((letter.offset, self.name))

    source = ListSource([event(0), Record(1, b"?", LIST), event(2)])
    PrequentialLoop(source, RecordingLearner(), [Named("a"), Named("b"), Named("c")]).run()
    assert told == [(offset, name) for offset in range(3) for name in "abc"]


@pytest.mark.parametrize("bad", [event(1), Record(1, b"?", LIST)], ids=["step", "dead letter"])
def test_failing_listener_stops_the_loop(bad):
    """If a listener fails, the loop stops before the next record."""

    class Full(Listener):
        def on_step(self, step):
            if step.offset == 1:
                raise SinkError("disk full")

        def on_dead_letter(self, letter):
            raise SinkError("disk full")

    learner, behind = RecordingLearner(), Recorder()
    loop = PrequentialLoop(
        ListSource([event(0), bad, event(2)], batch=3), learner, [Full(), behind]
    )
    with pytest.raises(SinkError, match="disk full"):
        loop.run()
    assert ("predict", {"a": 2.0}) not in learner.calls
    assert behind.told == [("step", 0)]


def test_checkpoint_comes_after_the_listeners():
    """The checkpoint gets each record after all listeners, with the end of the last step."""
    calls = []

    class Told(Listener):
        def on_step(self, step):
            calls.append(("step", step.ended))

        def on_dead_letter(self, letter):
            calls.append(("letter", None))

        def on_repeat(self, origin, offset):
            calls.append(("repeat", None))

        def on_idle(self):
            calls.append(("idle", None))

    class Checkpoint:
        def passed(self, origin, offset, ended):
            calls.append((origin.partition, offset, ended))

        def idle(self):
            calls.append(("checkpoint idle", None))

    payloads = [
        b'{"x": {}, "y": 1, "id": "a"}',
        b"?",
        b'{"x": {}, "y": 1, "id": "a"}',
        b'{"x": {}}',
    ]
    records = [Record(i, payload, StreamPartition("list", 7)) for i, payload in enumerate(payloads)]

    class Pausing(ListSource):
        """Returns nothing once, at its end."""

        exhausted = False

        def poll(self, timeout):
            batch = super().poll(timeout)
            self.exhausted = self.polls > 2
            return batch

    source = Pausing(records, batch=4)
    loop = PrequentialLoop(
        source, RecordingLearner(), [Told()], recent_ids=RecentIds(5), checkpoint=Checkpoint()
    )
    loop.run()
    first, last = calls[0][1], calls[6][1]
    assert calls == [
        ("step", first),
        (7, 0, first),
        ("letter", None),
        (7, 1, first),
        ("repeat", None),
        (7, 2, first),
        ("step", last),
        (7, 3, last),
        ("idle", None),
        ("checkpoint idle", None),
    ]
    assert first < last


BAD = b'{"price": 1}'


def first_records(*payloads, never_learned=True):
    """Run a loop over the payloads; return the recorder, and the error that ended the loop."""
    recorder = Recorder()
    records = [Record(i, payload, LIST) for i, payload in enumerate(payloads)]
    loop = PrequentialLoop(
        ListSource(records), RecordingLearner(), [recorder], never_learned=never_learned
    )
    try:
        loop.run()
    except NothingLearnedError as error:
        return recorder, str(error)
    return recorder, None


def test_wrong_format_ends_the_loop():
    """If the first 100 records all fail, the loop ends with the first reason and a proposal."""
    recorder, error = first_records(*[BAD] * 500)
    assert len(recorder.letters) == 100
    assert "list: none of the first 100 records could be learned. The first: x: Field" in error
    assert "set target" in error or "An event is" in error


def test_wrong_format_of_a_short_stream():
    """If fewer than 100 records come and all fail, the loop ends with an error, too."""
    assert "none of the first 3 records" in first_records(*[BAD] * 3)[1]
    assert first_records()[1] is None


@pytest.mark.parametrize("good", [0, 99])
def test_one_good_event_shows_the_format(good):
    """After one record was learned, failing records never end the loop."""
    payloads = [BAD] * good + [b'{"x": {}, "y": 1}'] + [BAD] * 300
    recorder, error = first_records(*payloads)
    assert (len(recorder.letters), error) == (300 + good, None)


def test_events_without_a_label_do_not_show_the_format():
    """A few events that can only be predicted, as where the label is missing, do not hide that no
    record can be learned; many may come before the first label, with garbage among them."""
    recorder, error = first_records(*[BAD] * 50, b'{"x": {}}', *[BAD] * 300)
    assert (len(recorder.letters), "of the first 100 records could be learned" in error) == (
        100,
        True,
    )
    recorder, error = first_records(*[b'{"x": {}}'] * 400, *[BAD] * 300)
    assert (len(recorder.letters), error) == (300, None)


def test_a_learner_that_has_learned_before():
    """If the learner has learned before, any number of failing records may come first."""
    recorder, error = first_records(*[BAD] * 300, never_learned=False)
    assert (len(recorder.letters), error) == (300, None)


def test_a_report_that_fails(caplog):
    """An event that was learned is a step even if the learner's report fails."""

    class Reporting(RecordingLearner):
        flags = ()

        def report(self, y_pred, y):
            raise KeyError("no such")

        def metrics(self):
            return ()

    recorder = run([event(0, y=3.0), event(1, y=1.0)], Reporting())
    assert recorder.told == [("step", 0), ("step", 1)]
    assert [step.loss for step in recorder.steps] == [4.5, 0.0]
    assert "the learner's report failed" in caplog.text


def test_a_learner_that_fails_from_the_first_event_on(caplog):
    """It ends the loop like a wrong format, so that the positions are saved; the log shows where it
    failed, once."""

    class Failing(RecordingLearner):
        def predict_one(self, x):
            raise ZeroDivisionError("no")

    recorder = Recorder()
    loop = PrequentialLoop(
        ListSource([event(i) for i in range(200)]), Failing(), [recorder], never_learned=True
    )
    with pytest.raises(NothingLearnedError, match=r"the learner failed: ZeroDivisionError: no$"):
        loop.run()
    assert len(recorder.letters) == 100
    traces = [each for each in caplog.records if each.exc_info]
    assert len(traces) == 1
    assert 'raise ZeroDivisionError("no")' in caplog.text


def test_polled_records_are_in_hand_until_they_are_handled() -> None:
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


def test_a_stopped_loop_leaves_records_in_hand() -> None:
    """After a stop the lag still has the records that were fetched in vain."""

    class Stops(Listener):
        def on_step(self, step):
            loop.stop()

    loop = PrequentialLoop(ListSource(map(event, range(5)), 5), RecordingLearner(), [Stops()])
    loop.run()
    assert loop.n_in_hand() == 5  # with the first, which may not be finished
