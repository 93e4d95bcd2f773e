"""`LabelLog`: records of a second log, of labels, in the loop."""

from support.list_source import ListSource

from iln_stream.loop import LabelLog, LateLabels, LatePolicy, Listener, PrequentialLoop, Regression
from iln_stream.records import Example, MalformedError
from iln_stream.streams import Record, StreamPartition


class Heard(Listener):
    """Keeps what comes of the records."""

    def __init__(self):
        self.steps, self.letters = [], []

    def on_step(self, step):
        self.steps.append((step.origin, step.late, step.y))

    def on_dead_letter(self, letter):
        self.letters.append((letter.stream, letter.partition, letter.offset))


class Zero:
    """Predicts 0 and learns nothing."""

    def predict_one(self, x):
        return 0.0

    def learn_one(self, x, y):
        pass


def number_as_text(payload, written):
    """Decode the label of the event of id `a`."""
    try:
        return Example(None, float(payload), "a", written)
    except ValueError:
        raise MalformedError("y: expected a number") from None


def test_labels_of_a_log_of_their_own():
    """Records of the second log are labels, in its own form; dead letters name
    this log and its partition."""
    events, labels = StreamPartition("list", 2), StreamPartition("labels", 1)
    records = [
        Record(0, b'{"x": {"a": 1}, "id": "a"}', events),
        Record(0, b"3.5", labels),
        Record(1, b"?", labels),
        Record(1, b"3.5", events),
    ]
    heard, task = Heard(), Regression()
    PrequentialLoop(
        ListSource(records), Zero(), [heard], task=task,
        late=LateLabels(LatePolicy(10), task, ["list", "labels"]),
        labels=LabelLog("labels", number_as_text),
    ).run()  # fmt: skip
    assert heard.steps == [(events, False, None), (labels, True, 3.5)]
    assert heard.letters == [("labels", 1, 1), ("list", 2, 1)]


def test_an_early_label_of_release_0_2_0():
    """Its snapshots numbered partitions; the label that waits keeps its log and its partition."""
    labels, task, heard = StreamPartition("labels", 1), Regression(), Heard()

    def run(late, text):
        PrequentialLoop(
            ListSource([Record(7, text, labels)]), Zero(), [heard], task=task, late=late,
            labels=LabelLog("labels", number_as_text),
        ).run()  # fmt: skip

    before, after = (LateLabels(LatePolicy(10, early=5), task, ["list", "labels"]) for _ in "ab")
    run(before, b"3.5")
    state = before.state()
    state["early"]["labels"][0]["partition"] = -2
    state["arrivals"]["undated"] = [[1, ["a", -2, 7]]]
    after.restore(state)
    run(after, b"4.5")
    assert heard.letters == [("labels", 1, 7)]
