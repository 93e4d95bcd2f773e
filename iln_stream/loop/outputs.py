"""Write predictions and dead letters to sinks."""

import logging
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from iln_stream.errors import LostPlaceError
from iln_stream.loop.step import MOST_IN_A_ROW, Details, Listener, Step
from iln_stream.loop.steps import Steps
from iln_stream.records import LEARNER_FAILED, DeadLetter, PredictionEncoder
from iln_stream.streams import PlacedMessage, Sink, StreamPartition, TransactionalSink

log = logging.getLogger(__name__)

_MOST_KINDS = 20
"""Reasons of dead letters that the log tells apart: names of fields may be any text."""


class PredictionWriter(Listener):
    """Writes each prediction to a sink, with the event's key or, if it has none, its id as key.

    A sink with a method `write_all` gets predictions made in a row at once, with their partitions.
    """

    most_steps = MOST_IN_A_ROW

    def __init__(self, sink: Sink, encode: PredictionEncoder) -> None:
        self._sink = sink
        self._encode = encode
        self._write_all = getattr(sink, "write_all", self._write_each)

    def on_step(self, step: Step) -> None:
        """Write the step's prediction, unless its label is late: then it was written before."""
        if not step.late:
            self._write_all([self._message(*_PUBLISHED(step))])

    def on_steps(self, steps: Sequence[Step]) -> None:
        """Write the predictions of steps that were made in a row, of which no label is late."""
        self._write_all(list(map(self._message, *_PUBLISHED(Steps.of(steps)))))

    def on_idle(self) -> None:
        """Send queued predictions; waiting until they are stored would hide an outage."""
        self._sink.send_queued()

    def flush(self) -> None:
        """Wait until all messages are stored; raise SinkError if they can't be."""
        self._sink.flush()

    def _write_each(self, messages: Sequence[PlacedMessage]) -> None:
        for _, key, value in messages:
            self._sink.write(key, value)

    def _message(
        self, origin: StreamPartition, offset: int, event_id: str | None, time: float | None,
        key: str | None, y_pred: Any, y: Any, details: Details, series: Sequence[str],
    ) -> PlacedMessage:  # fmt: skip
        value = self._encode(
            origin.partition, offset, event_id, time, key, y_pred, y, *details, series
        )
        return origin.partition, event_id if key is None else key, value


_PUBLISHED: Any = attrgetter(
    *("origin", "offset", "event_id", "time", "key", "y_pred", "y", "details", "series")
)


class TransactionalPredictionWriter(PredictionWriter):
    """Publishes each prediction once: skips those that the sink has committed.

    `encode` writes predictions as bytes; `ends` is where the partitions of `stream` end now.

    Raises
    ------
    LostPlaceError
        When predictions are committed of records beyond an end: the stream was restored from an
        older copy, and its next records would be taken for published ones.

    """

    def __init__(
        self,
        sink: TransactionalSink,
        encode: PredictionEncoder,
        stream: str,
        ends: Mapping[StreamPartition, int],
    ) -> None:
        super().__init__(sink, encode)
        self._transactions = sink
        self._committed = sink.committed()
        for partition, offset in self._committed.items():
            end = ends.get(StreamPartition(stream, partition), offset)
            if offset > end:
                raise LostPlaceError(
                    f"predictions: those of {stream}, partition {partition}, are committed up to "
                    f"offset {offset}, but it now ends at {end}: it was restored from "
                    "an older copy. Write predictions to another topic"
                )
        if self._committed:
            where = ", ".join(f"{p}: {offset}" for p, offset in self._committed.items())
            log.info(f"predictions are committed up to these offsets by partition: {where}")

    def on_step(self, step: Step) -> None:
        """Publish the step's prediction, if it is not committed."""
        self.on_steps([step])

    def on_steps(self, steps: Sequence[Step]) -> None:
        """Publish the steps' predictions, but not those that are committed."""
        for step in steps:
            partition, offset = step.origin.partition, step.offset
            if not step.late and offset >= self._committed.get(partition, 0):
                _, key, value = self._message(*_PUBLISHED(step))
                self._transactions.publish(partition, offset, key, value)
            else:
                self._transactions.flush_if_due()

    def _commit_if_due(self, *_: Any, **__: Any) -> None:
        """Commit the transaction if it is due."""
        self._transactions.flush_if_due()

    on_dead_letter = on_repeat = on_command = _commit_if_due


class DeadLetterWriter(Listener):
    """Writes each dead letter to a sink, keyed by its position.

    A sink with a method `flush_if_due` is asked at each event to store letters that wait. If
    `only_of_learner`, records that could not be read are left out: another reader of the same
    records writes these.
    """

    most_steps = MOST_IN_A_ROW

    def __init__(self, sink: Sink, *, only_of_learner: bool = False) -> None:
        self._sink = sink
        self._only_of_learner = only_of_learner
        self._flush_if_due = getattr(sink, "flush_if_due", lambda: None)
        self._kinds: set[str] = set()

    def _store_if_due(self, *_: Any, **__: Any) -> None:
        """Store letters that have waited long enough."""
        self._flush_if_due()

    on_step = on_steps = on_repeat = on_command = _store_if_due

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Write the letter, and log it; the log's filter drops repeats."""
        if self._only_of_learner and not letter.reason.startswith(LEARNER_FAILED):
            return
        key = f"{letter.stream}/{letter.partition}/{letter.offset}"
        self._sink.write(key, letter.model_dump_json().encode())
        log.warning(
            "dead letter at offset %d of %s, partition %d: %s",
            letter.offset, letter.stream, letter.partition, letter.reason,
            extra={"kind": self._kind(letter)},
        )  # fmt: skip

    def on_idle(self) -> None:
        """Send queued letters."""
        self._sink.send_queued()

    def flush(self) -> None:
        """Wait until all messages are stored; raise SinkError if they can't be."""
        self._sink.flush()

    def _kind(self, letter: DeadLetter) -> str:
        """Return the letter's kind, as far as the log tells it apart: it drops repeats of one."""
        kind = f"dead letter: {letter.kind}"
        if len(self._kinds) < _MOST_KINDS:
            self._kinds.add(kind)
        return kind if kind in self._kinds else "dead letter"
