"""The writers of predictions and dead letters: what they send, and when."""

import pytest

from iln_stream.loop import Step
from iln_stream.loop.outputs import DeadLetterWriter, PredictionWriter
from iln_stream.records import DeadLetter, Prediction, PredictionEncoder, read_prediction
from iln_stream.records.messages import Model
from iln_stream.streams import StreamPartition


class ListSink:
    """Keeps queued, sent and stored messages apart."""

    def __init__(self):
        self.waiting, self.sent, self.stored = [], [], []

    def write(self, key, value, timestamp=None):
        self.waiting.append((key, value))

    def send_queued(self):
        self.sent += self.waiting
        self.waiting = []

    def flush(self):
        self.send_queued()
        self.stored += self.sent
        self.sent = []


ENCODE = PredictionEncoder("s", "m", "v")


def step(offset=7, event_id="e-7", y=1.25, y_pred=0.1, key=None):
    return Step(StreamPartition("list", 2), offset, event_id, 60.0, {}, y, y_pred, 0.0, key=key)


LETTER = DeadLetter.of("s", 2, 9, b"\xff{", "no event")


@pytest.mark.parametrize(
    ("event_id", "key", "y"), [("e-7", None, 1.25), (None, None, None), ("e-7", "k", 1.25)]
)
def test_prediction(event_id, key, y):
    """A prediction carries its event's position, id, time, key and exact value; its record has the
    event's key, or the id of an event without one."""
    sink = ListSink()
    PredictionWriter(sink, ENCODE).on_step(step(event_id=event_id, key=key, y=y))
    ((sent_key, value),) = sink.waiting
    assert sent_key == (key or event_id)
    assert read_prediction(value) == Prediction(
        version=2, stream="s", partition=2, offset=7, id=event_id, time=60.0, key=key,
        model=Model(name="m", version="v"), y_pred=0.1, y=y,
    )  # fmt: skip


def test_messages_wait_for_a_pause():
    """A pause in the stream sends queued messages, without waiting for their storage; each writer
    sends only its own kind."""
    predictions, letters = ListSink(), ListSink()
    writers = PredictionWriter(predictions, ENCODE), DeadLetterWriter(letters)
    for writer in writers:
        writer.on_step(step(0))
        writer.on_dead_letter(LETTER)
    assert predictions.sent == letters.sent == []
    for writer in writers:
        writer.on_idle()
    assert len(predictions.sent) == len(letters.sent) == 1
    assert predictions.stored == letters.stored == []


def test_dead_letter(caplog):
    """A dead letter has its position and reason, in its sink and in the log."""
    sink = ListSink()
    DeadLetterWriter(sink).on_dead_letter(LETTER)
    ((key, value),) = sink.waiting
    assert key == "s/2/9"
    assert DeadLetter.model_validate_json(value) == LETTER
    assert caplog.messages == ["dead letter at offset 9 of s, partition 2: no event"]


def test_kinds_of_reasons(caplog):
    """The log takes letters for repeats whose reasons differ only in values; of invented names of
    fields, which any record may have, it tells only some apart."""
    writer = DeadLetterWriter(ListSink())

    def n_kinds(reasons):
        caplog.clear()
        for reason in reasons:
            writer.on_dead_letter(DeadLetter.of("s", 0, 1, b"{}", reason))
        return len({record.kind for record in caplog.records})

    assert n_kinds(f"price: expected a number, got '{n}'" for n in range(9)) == 1
    assert n_kinds(["price: expected a number, got '7'", "y: expected a number, got '7'"]) == 2
    assert n_kinds(f"{chr(97 + n % 26) * (n // 26 + 1)}: no number" for n in range(100)) < 25


def test_only_letters_of_the_learner():
    """Of several readers of one record only one writes it if it can't be read, but each writes that
    its own learner failed."""
    sink = ListSink()
    writer = DeadLetterWriter(sink, only_of_learner=True)
    writer.on_dead_letter(LETTER)
    failed = DeadLetter.of("s", 2, 10, b"{}", "the learner failed: ValueError: two")
    writer.on_dead_letter(failed)
    assert [key for key, _ in sink.waiting] == ["s/2/10"]
