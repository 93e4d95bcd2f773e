"""`LabelLog`: records of a second log, of labels, in the loop."""

from support.heard import heard_of
from support.recording_learners import Recording

from iln_stream.loop import LabelLog, LateLabels, LatePolicy, Regression
from iln_stream.records import Example, MalformedError
from iln_stream.streams import Record, StreamPartition


def places(letters):
    return [(letter.stream, letter.partition, letter.offset) for letter in letters]


def number_as_text(payload, written):
    """Decode the label of the event of id `a`."""
    try:
        return Example(None, float(payload), "a", written)
    except ValueError:
        raise MalformedError("y: expected a number") from None


LABELS = LabelLog("labels", number_as_text)


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
    task = Regression()
    late = LateLabels(LatePolicy(10), task, ["list", "labels"])
    heard = heard_of(Recording(), *records, task=task, late=late, labels=LABELS)
    assert [(step.origin, step.late, step.y) for step in heard.steps] == [
        (events, False, None),
        (labels, True, 3.5),
    ]
    assert places(heard.letters) == [("labels", 1, 1), ("list", 2, 1)]


def test_an_early_label_of_release_0_2_0():
    """Its snapshots numbered partitions; the label that waits keeps its log and its partition."""
    labels, task = StreamPartition("labels", 1), Regression()

    def letters(late, text):
        record = Record(7, text, labels)
        return heard_of(Recording(), record, task=task, late=late, labels=LABELS).letters

    before, after = (LateLabels(LatePolicy(10, early=5), task, ["list", "labels"]) for _ in "ab")
    assert letters(before, b"3.5") == []
    state = before.state()
    state["early"]["labels"][0]["partition"] = -2
    state["arrivals"]["undated"] = [[1, ["a", -2, 7]]]
    after.restore(state)
    assert places(letters(after, b"4.5")) == [("labels", 1, 7)]
