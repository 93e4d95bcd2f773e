"""The service's loop over the records of one key."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from iln_stream.loop import Listener, PrequentialLoop, Step, Task
from iln_stream.loop.step import EventWeights
from iln_stream.records import DeadLetter, Decoder, PredictionEncoder
from iln_stream.spark.records import RecordList
from iln_stream.streams import Record

PREDICTION, DEAD_LETTER = "prediction", "dead letter"


class Message(NamedTuple):
    """What a record led to."""

    kind: str  # `PREDICTION` or `DEAD_LETTER`
    # partition, offset: position of the record
    partition: int
    offset: int
    value: bytes  # the message as the service writes it, JSON


class OneKey(Listener):
    """One key's learner in the service's loop.

    Parameters
    ----------
    learner
        The key's learner.
    positions
        The last offset that it has learned, by partition.
    stream
        Name of the stream.
    task
        Regression or classification.
    decode
        Makes examples of records; it keeps nothing of a record.
    encode
        Writes predictions.
    weights
        Weighs events; None: the learner takes no weights.
    max_failures_in_a_row
        See `PrequentialLoop`.

    """

    def __init__(
        self,
        learner: Any,
        positions: Mapping[int, int],
        stream: str,
        task: Task,
        decode: Decoder,
        encode: PredictionEncoder,
        weights: EventWeights | None,
        max_failures_in_a_row: int,
    ) -> None:
        self.learner = learner
        self.positions = dict(positions)
        self._encode = encode
        self._source = RecordList(stream)
        self._messages: list[Message] = []
        # Not an `Assembly`: a worker has thousands of these loops, which share a decoder, and none
        # has metrics, late labels or a checkpoint. Spark stores the state of each key.
        self._loop = PrequentialLoop(
            self._source, learner, [self], max_failures_in_a_row,
            task=task, decoder=decode, weights=weights,
        )  # fmt: skip

    def learn(self, records: Sequence[Record]) -> list[Message]:
        """Predict and learn records, in order; return a message for each of them."""
        self._messages = []
        self._source.put(records)
        self._loop.run(0.0)
        for record in records:
            self.positions[record.origin.partition] = record.offset
        return self._messages

    def on_step(self, step: Step) -> None:
        """Keep the prediction."""
        value = self._encode(
            step.origin.partition, step.offset, step.event_id, step.time, step.key, step.y_pred,
            step.y, *step.details, step.series,
        )  # fmt: skip
        self._messages.append(Message(PREDICTION, step.origin.partition, step.offset, value))

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Keep the letter."""
        value = letter.model_dump_json().encode()
        self._messages.append(Message(DEAD_LETTER, letter.partition, letter.offset, value))
