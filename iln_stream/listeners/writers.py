"""Write predictions and dead letters to sinks."""

import logging

from iln_stream.events import DeadLetter, PredictionEncoder
from iln_stream.prequential import Listener, Step
from iln_stream.streams import Sink, TransactionalSink

log = logging.getLogger(__name__)


class PredictionWriter(Listener):
    """Writes each prediction to a sink, keyed by the event's id."""

    def __init__(self, sink: Sink, stream: str) -> None:
        self._sink = sink
        self._encode = PredictionEncoder(stream)

    def on_step(self, step: Step) -> None:
        """Write the step's prediction, unless its label is late: then it was written before."""
        if not step.late:
            self._sink.write(step.event_id, self._encoded(step))

    def on_idle(self) -> None:
        """Send queued predictions; waiting until they are stored would hide an outage."""
        self._sink.send_queued()

    def flush(self) -> None:
        """Wait until all messages are stored; raise SinkError if they can't be."""
        self._sink.flush()

    def _encoded(self, step: Step) -> bytes:
        return self._encode(step.partition, step.offset, step.event_id, step.y_pred, step.y)


class TransactionalPredictionWriter(PredictionWriter):
    """Publishes each prediction once: skips those that the sink has committed."""

    def __init__(self, sink: TransactionalSink, stream: str) -> None:
        super().__init__(sink, stream)
        self._transactions = sink
        self._committed = sink.committed()
        if self._committed:
            where = ", ".join(f"{p}: {offset}" for p, offset in self._committed.items())
            log.info(f"predictions are committed up to these offsets by partition: {where}")

    def on_step(self, step: Step) -> None:
        """Publish the step's prediction, unless it is committed or its label is late."""
        if not step.late and step.offset >= self._committed.get(step.partition, 0):
            self._transactions.publish(
                step.partition, step.offset, step.event_id, self._encoded(step)
            )
        else:
            self._transactions.flush_if_due()

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Commit the transaction if it is due."""
        self._transactions.flush_if_due()

    def on_repeat(self, partition: int, offset: int) -> None:
        """Commit the transaction if it is due."""
        self._transactions.flush_if_due()


class DeadLetterWriter(Listener):
    """Writes each dead letter to a sink, keyed by its position."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Write the letter, and log it; the log's filter drops repeats."""
        key = f"{letter.stream}/{letter.partition}/{letter.offset}"
        self._sink.write(key, letter.model_dump_json().encode())
        log.warning(
            "dead letter at offset %d of %s, partition %d: %s",
            letter.offset, letter.stream, letter.partition, letter.reason,
        )  # fmt: skip

    def on_idle(self) -> None:
        """Send queued letters."""
        self._sink.send_queued()

    def flush(self) -> None:
        """Wait until all messages are stored; raise SinkError if they can't be."""
        self._sink.flush()
