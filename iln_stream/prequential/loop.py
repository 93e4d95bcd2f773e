"""The prequential loop: predict, score, learn, one event at a time, in the stream's order."""

import logging
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from iln_stream.errors import IlnError, SourceError, UnrecoverableError
from iln_stream.events import (
    DeadLetter,
    Decoder,
    EnvelopeDecoder,
    Example,
    MalformedError,
    payload_bytes,
    proposal,
)
from iln_stream.prequential.checkpointing import Checkpointing
from iln_stream.prequential.late import Pending, PendingEvents
from iln_stream.prequential.listener import Listener
from iln_stream.prequential.recent_ids import RecentIds
from iln_stream.prequential.step import NO_DETAILS, Details, Prediction, Step
from iln_stream.prequential.task import Regression, Task
from iln_stream.prequential.weights import Weights
from iln_stream.reporting import Report, find_reporter
from iln_stream.streams import Record, Source

log = logging.getLogger(__name__)

_MOST_FAILURES_AT_FIRST = 100
"""If a learner's first records all fail, the loop ends after this many: their format is wrong."""

_LEARNER_FAILED = "the learner failed"


class LearnerError(IlnError):
    """The learner fails on event after event: the fault is in the learner, not in the events."""


class NothingLearnedError(UnrecoverableError):
    """No record could be learned, from the first on: the stream does not have the right format."""


class PrequentialLoop:
    """Feeds one source to one learner and reports every step to listeners.

    For each record, in strict offset order: decode; predict; if there is a label, score the
    prediction and only then learn. A record that can't be decoded, predicted or learned becomes a
    dead letter, and the loop continues. The outputs and listeners get every record exactly once, as
    a step, a dead letter or a repeat; then the loop reports it to the checkpoint as done.

    Parameters
    ----------
    source
        Where records come from.
    learner
        Any River estimator that the task supports.
    listeners
        Called in this order; put outputs first, so that a prediction is sent before others see it.
    max_failures_in_a_row
        The loop stops after this many consecutive failures of the learner: the learner is wrong, or
        has diverged, and a topic full of dead letters would help nobody.
    recent_ids
        Recognises repeats by their ids; the loop skips a record that brings nothing new. None:
        every record is an event of its own.
    task
        Regression or classification; by default regression.
    pending
        Where events wait for labels that come in records of their own. None: such labels are dead
        letters.
    checkpoint
        Makes progress durable. None: nothing is saved.
    decoder
        Makes examples of records. None: records are events of the form `{"x": {...}, "y": ...}`.
        If it has a method `accept`, the loop calls it with the time of each event that it learned
        or predicted; not for repeats, late labels and dead letters.
    details
        Computes what a prediction has beside its value, such as intervals: called with the inputs
        of each event after it was predicted and before it is learned. None: nothing.
    weights
        Weighs the events for a learner whose `learn_one` takes `w`. None: the learner takes none,
        and an event with a weight becomes a dead letter. Scores are never weighted.
    never_learned
        Whether the learner has not learned anything yet: if the first 100 records (or all, if there
        are fewer) are then dead letters, the loop ends with `NothingLearnedError`.

    """

    def __init__(
        self,
        source: Source,
        learner: Any,
        listeners: Sequence[Listener] = (),
        max_failures_in_a_row: int = 100,
        recent_ids: RecentIds | None = None,
        *,
        task: Task | None = None,
        pending: PendingEvents | None = None,
        checkpoint: Checkpointing | None = None,
        decoder: Decoder | None = None,
        details: Callable[[dict[str, float]], Details] | None = None,
        weights: Weights | None = None,
        never_learned: bool = False,
    ) -> None:
        self.source = source
        self.learner = learner
        self.listeners = tuple(listeners)
        self.task: Task = task or Regression()
        self.recent_ids = recent_ids
        self.pending = pending
        self.checkpoint = checkpoint
        self.max_failures_in_a_row = max_failures_in_a_row
        self._decode = decoder or EnvelopeDecoder(self.task.event_type, self.task.label_type)
        self._accept: Callable[[float | None], None] | None = getattr(self._decode, "accept", None)
        self._predict = self.task.predictor(learner)
        self._details = details or _no_details
        self._weigh = weights
        reporter = find_reporter(learner)
        self._report = _nothing_to_report if reporter is None else reporter.report
        self._last_offsets: dict[int, int] = {}
        self._failures_in_a_row = 0
        # Number of failed records before the first success; None after it.
        self._n_failed_at_first: int | None = 0 if never_learned else None
        self._first_failed: DeadLetter | None = None
        self._stopping = False

    def stop(self) -> None:
        """End the loop after the current event. Safe from a signal handler or another thread."""
        self._stopping = True

    def run(self, poll_timeout: float = 0.5) -> None:
        """Run until the source is exhausted or `stop` is called.

        Parameters
        ----------
        poll_timeout
            Longest wait for new records, in seconds; the loop notices `stop` within this time.

        """
        while not self._stopping:
            records = self.source.poll(poll_timeout)
            self._process(records)
            if not records:
                if self.source.exhausted:
                    if self._n_failed_at_first:
                        raise self._nothing_learned()
                    return
                for listener in self.listeners:
                    listener.on_idle()
                if self.checkpoint is not None:
                    self.checkpoint.idle()

    def _process(self, records: Sequence[Record]) -> None:
        """Process each record and report the result to listeners and checkpoint, until `stop`."""
        last_offsets, checkpoint = self._last_offsets, self.checkpoint
        on_steps = [listener.on_step for listener in self.listeners]
        ended = perf_counter()
        for record in records:
            if self._stopping:
                return
            offset, partition = record.offset, record.partition
            if offset <= last_offsets.get(partition, -1):
                raise self._disorder(record)
            last_offsets[partition] = offset
            try:
                step = self._step(record)
            except MalformedError as error:
                self._send_dead_letter(record, str(error))
            except SourceError:
                raise  # the record may be good, but can't be read now
            except Exception as error:
                # A learner may raise any error; the event must not be lost.
                self._learner_failed(record, error)
            else:
                self._failures_in_a_row = 0
                self._n_failed_at_first = None
                if step is None:
                    for listener in self.listeners:
                        listener.on_repeat(partition, offset)
                else:
                    ended = step.ended
                    # Only now: an event that the learner failed on may be sent again.
                    if self.recent_ids is not None and step.event_id is not None:
                        self.recent_ids.add(
                            step.event_id, event=not step.late, label=step.y is not None
                        )
                    if self._accept is not None and not step.late:
                        self._accept(step.time)
                    for on_step in on_steps:
                        on_step(step)
            if checkpoint is not None:
                checkpoint.passed(partition, offset, ended)
            n_failed = self._n_failed_at_first
            if n_failed is not None and n_failed >= _MOST_FAILURES_AT_FIRST:
                raise self._nothing_learned()

    def _step(self, record: Record) -> Step | None:
        """Decode a record, then predict or learn or both; return None for a repeat."""
        example = self._decode(record.payload, record.timestamp)
        if example.weight is not None and self._weigh is None:
            raise MalformedError(
                f"weight: {type(self.learner).__name__} takes no weights (no w in learn_one): "
                "leave the weight out, or choose a learner that takes them"
            )
        if self.recent_ids is not None and _is_repeat(example, self.recent_ids):
            return None
        if example.x is None:
            return self._learn_late(record, example)
        if self.pending is not None and example.id is not None:
            if example.y is None:
                return self._predict_and_keep(record, example, self.pending)
            if example.id in self.pending:
                return self._learn_late(record, example)
        return self._predict_and_learn(record, example, example.x)

    def _predict_and_learn(self, record: Record, example: Example, x: dict[str, float]) -> Step:
        """Predict an event and, if it has a label, learn it and score the prediction."""
        y = None if example.y is None else self.task.label(example.y)
        started = perf_counter()
        y_pred = self._predict(x)
        details = self._details(x)
        loss: float | None = None
        flags: tuple[str, ...] = ()
        if y is not None:
            if self._weigh is None:
                self.learner.learn_one(x, y)
            else:
                self.learner.learn_one(x, y, w=self._weigh(y, example.weight))
            loss, flags = self._score(y_pred, y)
        ended = perf_counter()
        return Step(
            record.partition, record.offset, example.id, example.time, x, y, y_pred,
            loss, flags, False, ended - started, ended, record.key, details,
        )  # fmt: skip

    def _predict_and_keep(self, record: Record, example: Example, pending: PendingEvents) -> Step:
        """Predict an event and keep it until its label comes."""
        x, event_id, time = example.x, example.id, example.time
        assert x is not None
        assert event_id is not None
        started = perf_counter()
        y_pred, token = pending.predict(x, self._predict, self.task.checked)
        details = self._details(x)
        ended = perf_counter()
        pending.add(event_id, Pending(x, y_pred, time, token, example.weight))
        return Step(
            record.partition, record.offset, event_id, time, x, None, y_pred,
            None, (), False, ended - started, ended, record.key, details,
        )  # fmt: skip

    def _learn_late(self, record: Record, label: Example) -> Step:
        """Learn the label of an event that was predicted before."""
        assert label.id is not None
        if self.pending is None:
            raise MalformedError(
                "x: missing; set pending_events to learn labels that come in records of their own"
            )
        waiting = self.pending.get(label.id)
        if waiting is None:
            raise MalformedError(
                f"id: no event {label.id!r} waits for a label: no such event came, it already has "
                "its label, or it expired (see pending_events)"
            )
        y = self.task.label(label.y)
        started = perf_counter()
        self.pending.learn(label.id, y, self._late_weight(label, waiting, y))
        loss, flags = self._score(waiting.y_pred, y)
        ended = perf_counter()
        return Step(
            record.partition, record.offset, label.id, waiting.time, waiting.x, y, waiting.y_pred,
            loss, flags, True, ended - started, ended, record.key,
        )  # fmt: skip

    def _late_weight(self, label: Example, event: Pending, y: Any) -> float | None:
        """Return the weight of a late label: its own, or else the event's."""
        if self._weigh is None:
            return None
        return self._weigh(y, event.weight if label.weight is None else label.weight)

    def _score(self, y_pred: Prediction, y: Any) -> tuple[float, tuple[str, ...]]:
        """Return loss and flags of the label just learned; the loss is the task's by default."""
        loss: float | None = None
        flags: tuple[str, ...] = ()
        try:
            loss, flags = self._report(y_pred, y)
        except Exception as error:
            # The event was learned, so it must not become a dead letter.
            log.warning("the learner's report failed: %r", error)
        return self.task.loss(y_pred, y) if loss is None else loss, flags

    def _disorder(self, record: Record) -> SourceError:
        return SourceError(
            f"{self.source.stream}: offset {record.offset} came after "
            f"{self._last_offsets.get(record.partition, -1)}; events must come in strictly "
            "increasing order"
        )

    def _learner_failed(self, record: Record, error: Exception) -> None:
        self._send_dead_letter(record, f"{_LEARNER_FAILED}: {type(error).__name__}: {error}")
        self._failures_in_a_row += 1
        if self._n_failed_at_first is not None:
            return  # after the first 100 records `NothingLearnedError` ends the loop
        if self._failures_in_a_row >= self.max_failures_in_a_row:
            raise LearnerError(
                f"the learner failed on {self._failures_in_a_row} events in a row, the last "
                f"at offset {record.offset}: {error}"
            ) from error

    def _send_dead_letter(self, record: Record, reason: str) -> None:
        letter = DeadLetter.of(
            self.source.stream,
            record.partition,
            record.offset,
            payload_bytes(record.payload),
            reason,
        )
        for listener in self.listeners:
            listener.on_dead_letter(letter)
        if self._n_failed_at_first is not None:
            self._n_failed_at_first += 1
            self._first_failed = self._first_failed or letter

    def _nothing_learned(self) -> NothingLearnedError:
        assert self._first_failed is not None
        letter, n = self._first_failed, self._n_failed_at_first
        is_mapped = not isinstance(self._decode, EnvelopeDecoder)
        is_event = letter.reason.startswith(_LEARNER_FAILED)
        advice = "" if is_event or is_mapped else f". {proposal(letter.payload)}"
        return NothingLearnedError(
            f"{self.source.stream}: none of the first {n} records could be learned. The first: "
            f"{letter.reason}{advice}"
        )


def _is_repeat(example: Example, recent_ids: RecentIds) -> bool:
    return example.id is not None and recent_ids.is_repeat(example.id, label=example.y is not None)


def _no_details(x: dict[str, float]) -> Details:
    return NO_DETAILS


def _nothing_to_report(y_pred: Prediction, y: Any) -> Report:
    return None, ()
