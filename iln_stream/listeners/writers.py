"""Listeners that send steps and dead letters to sinks."""

import logging

from iln_stream.events import DeadLetter, PredictionEncoder
from iln_stream.prequential import Listener, Step
from iln_stream.streams import Sink, TransactionalSink

log = logging.getLogger(__name__)


class PredictionWriter(Listener):
    """Sends every prediction to a sink, keyed by the event's id."""

    def __init__(self, sink: Sink, stream: str) -> None:
        self._sink = sink
        self._encode = PredictionEncoder(stream)

    def on_step(self, step: Step) -> None:
        """Send the step's prediction; that of a late label was sent before."""
        if not step.late:
            self._sink.write(step.event_id, self._encoded(step))

    def on_idle(self) -> None:
        """Send waiting predictions. Waiting until they are stored would hide an outage."""
        self._sink.send_queued()

    def flush(self) -> None:
        """Return when what was sent is stored; raise SinkError otherwise."""
        self._sink.flush()

    def _encoded(self, step: Step) -> bytes:
        return self._encode(step.partition, step.offset, step.event_id, step.y_pred, step.y)


class TransactionalPredictionWriter(PredictionWriter):
    """Sends each prediction once: what the sink has committed is not sent again."""

    def __init__(self, sink: TransactionalSink, stream: str) -> None:
        super().__init__(sink, stream)
        self._transactions = sink
        self._committed = sink.committed()

    def on_step(self, step: Step) -> None:
        """Send the step's prediction, unless it was sent before."""
        if not step.late and step.offset >= self._committed.get(step.partition, 0):
            self._transactions.publish(
                step.partition, step.offset, step.event_id, self._encoded(step)
            )
        else:
            self._transactions.flush_if_due()

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Nothing is sent, but time passes."""
        self._transactions.flush_if_due()

    def on_repeat(self, partition: int, offset: int) -> None:
        """Nothing is sent, but time passes."""
        self._transactions.flush_if_due()


class DeadLetterWriter(Listener):
    """Sends every dead letter to a sink, keyed by its position."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Send the letter, and log the first of many."""
        key = f"{letter.stream}/{letter.partition}/{letter.offset}"
        self._sink.write(key, letter.model_dump_json().encode())
        log.warning("%s is a dead letter: %s", key, letter.reason)

    def on_idle(self) -> None:
        """Send waiting letters."""
        self._sink.send_queued()

    def flush(self) -> None:
        """Return when what was sent is stored; raise SinkError otherwise."""
        self._sink.flush()
