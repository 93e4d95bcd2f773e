"""The writers of predictions and dead letters."""

import pytest

from iln_stream.errors import SinkError
from iln_stream.events import DeadLetter, Prediction
from iln_stream.listeners import DeadLetterWriter, PredictionWriter
from iln_stream.prequential import Step
from iln_stream.sinks import JsonLinesSink


class ListSink:
    """Keeps what it is given; what is flushed is safe."""

    def __init__(self):
        self.waiting, self.stored, self.closed = [], [], False

    def write(self, key, value):
        self.waiting.append((key, value))

    def flush(self):
        self.stored += self.waiting
        self.waiting = []

    def close(self):
        self.flush()
        self.closed = True


def step(offset=7, event_id="e-7", y=1.25, y_pred=0.1):
    return Step(offset, event_id, None, y, y_pred, 0.0, False, 0.0)


LETTER = DeadLetter.of("s", 2, 9, b"\xff{", "no event")


@pytest.mark.parametrize(("event_id", "y"), [("e-7", 1.25), (None, None)])
def test_prediction(event_id, y):
    """A prediction tells which event it is of, to the last bit of its value, keyed by its id."""
    sink = ListSink()
    PredictionWriter(sink, "s", 2).on_step(step(event_id=event_id, y=y))
    ((key, value),) = sink.waiting
    assert key == event_id
    assert Prediction.model_validate_json(value) == Prediction(
        stream="s", partition=2, offset=7, id=event_id, y_pred=0.1, y=y
    )


def test_predictions_wait_for_a_pause():
    """Predictions are sent in bulk, and let out as soon as the stream pauses or ends."""
    sink = ListSink()
    writer = PredictionWriter(sink, "s", 0)
    writer.on_step(step(0))
    writer.on_step(step(1))
    assert sink.stored == []
    writer.on_idle()
    assert len(sink.stored) == 2
    writer.on_step(step(2))
    writer.close()
    assert len(sink.stored) == 3
    assert sink.closed


def test_dead_letters_are_no_predictions():
    """Each writer sends its own kind only."""
    predictions, letters = ListSink(), ListSink()
    PredictionWriter(predictions, "s", 0).on_dead_letter(LETTER)
    DeadLetterWriter(letters).on_step(step())
    assert predictions.waiting == letters.waiting == letters.stored == []


def test_dead_letter_is_stored_at_once():
    """A dead letter is safe before the stream goes on, keyed by its place."""
    sink = ListSink()
    DeadLetterWriter(sink).on_dead_letter(LETTER)
    ((key, value),) = sink.stored
    assert key == "s/2/9"
    assert DeadLetter.model_validate_json(value) == LETTER


def test_dead_letter_file(tmp_path):
    """In a file, each letter is there to be read while the stream goes on."""
    file = tmp_path / "letters.jsonl"
    writer = DeadLetterWriter(JsonLinesSink(file))
    writer.on_dead_letter(LETTER)
    assert DeadLetter.model_validate_json(file.read_bytes()) == LETTER
    writer.close()


def test_sink_that_fails():
    """A sink's failure reaches the loop: what can't be stored stops the stream."""

    class Full(ListSink):
        def write(self, key, value):
            raise SinkError("disk full")

    with pytest.raises(SinkError, match="disk full"):
        PredictionWriter(Full(), "s", 0).on_step(step())
    with pytest.raises(SinkError, match="disk full"):
        DeadLetterWriter(Full()).on_dead_letter(LETTER)
