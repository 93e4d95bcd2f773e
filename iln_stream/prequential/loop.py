"""The prequential loop: predict, score, learn, one event at a time, in the stream's order."""

import logging
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from iln_stream.errors import IlnError, SourceError, UnrecoverableError
from iln_stream.events import (
    DeadLetter,
    Event,
    Label,
    MalformedError,
    decode,
    one_hot,
    proposal,
)
from iln_stream.events import payload_bytes as bytes_of
from iln_stream.prequential.checkpoint import Checkpointing
from iln_stream.prequential.late import Pending, PendingEvents
from iln_stream.prequential.listener import Listener
from iln_stream.prequential.recent_ids import RecentIds
from iln_stream.prequential.step import Prediction, Step
from iln_stream.prequential.task import Regression, Task
from iln_stream.reporting import Report, find_reporter
from iln_stream.streams import Record, Source

log = logging.getLogger(__name__)

_HOPELESS = 100
"""So many records that all fail, from a learner's first on, are not of the form expected."""


_LEARNER_FAILED = "the learner failed"


class LearnerError(IlnError):
    """The learner fails on event after event: something is wrong with it, not with them."""


class NothingLearnedError(UnrecoverableError):
    """No record could be learned, from the first on: the stream is not of the form expected."""


class PrequentialLoop:
    """Feeds one source to one learner and tells listeners of every step.

    For each record, in strict offset order: decode; predict; if there is a label, score the
    prediction and only then learn. What can't be decoded, predicted or learned is a dead letter
    and the stream goes on. Every record reaches the outputs and listeners exactly once, as a step,
    a letter or a repeat; then the checkpoint is told that it is behind us.

    Parameters
    ----------
    source
        Where records come from.
    learner
        Any River estimator that the task can make predict.
    listeners
        Told in this order; outputs first, so that whoever observes a step knows it on its way.
    task
        What is predicted; by default numbers.
    max_failures_in_a_row
        After so many consecutive events that the learner itself fails on, the loop stops: the
        learner is wrong (or has diverged), and a topic full of dead letters would help nobody.
    recent_ids
        By which a sender's repeats are known: a record that brings only what came already is passed
        over. None: each record is an event of its own.
    pending
        Where events wait for labels that come in records of their own. None: such labels are dead
        letters.
    checkpoint
        What makes progress durable, if anything does.
    never_learned
        Whether the learner has learned nothing before: if the first 100 records are then all dead
        letters, or all that there are, the loop ends with `NothingLearnedError`.

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
        self._predict = self.task.predictor(learner)
        reporter = find_reporter(learner)
        self._report = _nothing_to_report if reporter is None else reporter.report
        self._last_offsets: dict[int, int] = {}
        self._failures_in_a_row = 0
        self._n_failed_first: int | None = 0 if never_learned else None
        self._first_failed: DeadLetter | None = None
        self._stopping = False

    def stop(self) -> None:
        """Ask the loop to end after the event at hand. Safe from a signal handler or thread."""
        self._stopping = True

    def run(self, poll_timeout: float = 0.5) -> None:
        """Go on until the source is exhausted or `stop` is called.

        Parameters
        ----------
        poll_timeout
            Longest wait for new records, in seconds; `stop` is noticed at least so often.

        """
        while not self._stopping:
            records = self.source.poll(poll_timeout)
            self._process(records)
            if not records:
                if self.source.exhausted:
                    if self._n_failed_first:
                        raise self._nothing_learned()
                    return
                for listener in self.listeners:
                    listener.on_idle()
                if self.checkpoint is not None:
                    self.checkpoint.idle()

    def _process(self, records: Sequence[Record]) -> None:
        """Take records through the whole way, until asked to stop."""
        # All in one frame: a learner leaves the processor's caches cold, so that each call and
        # each object touched here costs several times what it would by itself.
        learner, predict, task = self.learner, self._predict, self.task
        event_type, label_type, valid = task.event_type, task.label_type, task.label
        recent_ids, pending, checkpoint = self.recent_ids, self.pending, self.checkpoint
        last_offsets, report, loss_of = self._last_offsets, self._report, task.loss
        step_listeners = [each.on_step for each in self.listeners if _observes_steps(each)]
        ended = perf_counter()
        for record in records:
            if self._stopping:
                return
            offset, partition = record.offset, record.partition
            if offset <= last_offsets.get(partition, -1):
                raise self._disorder(record)
            last_offsets[partition] = offset
            try:
                event = decode(record.payload, event_type, label_type)
                if recent_ids is not None and self._is_repeat(event):
                    step = None
                elif not isinstance(event, Event) or (pending is not None and self._waits(event)):
                    step = self._learn_late(record, event)
                else:
                    x, y = one_hot(event.x), event.y
                    loss, token = None, None
                    flags: tuple[str, ...] = ()
                    if y is not None:
                        y = valid(y)
                    started = perf_counter()
                    if pending is None or y is not None or event.id is None:
                        y_pred = predict(x)
                    else:
                        y_pred, token = pending.predict(x, predict, task.checked)
                    if y is not None:
                        learner.learn_one(x, y)
                        try:
                            loss, flags = report(y_pred, y)
                        except Exception as error:
                            self._report_failed(error)
                        if loss is None:
                            loss = loss_of(y_pred, y)
                    ended = perf_counter()
                    seconds = ended - started
                    time = record.timestamp if event.timestamp is None else _posix(event)
                    # `Step(...)` would do just this, in twice the time.
                    step = tuple.__new__(
                        Step,
                        (partition, offset, event.id, time, x, y, y_pred, loss, flags, False,
                         seconds, ended),
                    )  # fmt: skip
                    if pending is not None and y is None and event.id is not None:
                        pending.add(event.id, Pending(x, y_pred, time, token))
            except MalformedError as error:
                self._bury(record, str(error))
            except Exception as error:
                # Whatever a learner raises, the stream goes on and the event is not lost.
                self._learner_failed(record, error)
            else:
                self._failures_in_a_row = 0
                self._n_failed_first = None
                if step is None:
                    for listener in self.listeners:
                        listener.on_repeat(partition, offset)
                else:
                    # Not before: what the learner failed on is no repeat when it is sent again.
                    if recent_ids is not None and step.event_id is not None:
                        recent_ids.add(step.event_id, event=not step.late, label=step.y is not None)
                    for on_step in step_listeners:
                        on_step(step)
            if checkpoint is not None:
                checkpoint.passed(partition, offset, ended)
            if self._n_failed_first is not None and self._n_failed_first >= _HOPELESS:
                raise self._nothing_learned()

    def _is_repeat(self, event: Event | Label) -> bool:
        assert self.recent_ids is not None
        return event.id is not None and self.recent_ids.is_repeat(
            event.id, label=event.y is not None
        )

    def _waits(self, event: Event) -> bool:
        """Tell whether an event with a label came before without one, and waits for it."""
        assert self.pending is not None
        return event.y is not None and event.id is not None and event.id in self.pending

    def _learn_late(self, record: Record, label: Event | Label) -> Step:
        """Learn the label of an event that was predicted before."""
        assert label.id is not None
        if self.pending is None:
            raise MalformedError(
                "x: missing; a label in a record of its own is learned where pending_events is set"
            )
        waiting = self.pending.get(label.id)
        if waiting is None:
            raise MalformedError(
                f"id: no event {label.id!r} waits for a label: none came, or it has its label, or "
                "it has expired (see pending_events)"
            )
        y = self.task.label(label.y)
        started = perf_counter()
        self.pending.learn(label.id, y)
        loss: float | None = None
        flags: tuple[str, ...] = ()
        try:
            loss, flags = self._report(waiting.y_pred, y)
        except Exception as error:
            self._report_failed(error)
        if loss is None:
            loss = self.task.loss(waiting.y_pred, y)
        ended = perf_counter()
        return Step(
            record.partition, record.offset, label.id, waiting.time, waiting.x, y, waiting.y_pred,
            loss, flags, True, ended - started, ended,
        )  # fmt: skip

    def _report_failed(self, error: Exception) -> None:
        """The event is learned all the same, and scored by the task's loss."""
        log.warning("the learner's report failed: %r", error)

    def _disorder(self, record: Record) -> SourceError:
        return SourceError(
            f"{self.source.stream}: offset {record.offset} came after "
            f"{self._last_offsets.get(record.partition, -1)}; events must come in strictly "
            "increasing order"
        )

    def _learner_failed(self, record: Record, error: Exception) -> None:
        self._bury(record, f"{_LEARNER_FAILED}: {type(error).__name__}: {error}")
        self._failures_in_a_row += 1
        if self._n_failed_first is not None:
            return  # the first records: `NothingLearnedError` ends them, with a checkpoint
        if self._failures_in_a_row >= self.max_failures_in_a_row:
            raise LearnerError(
                f"the learner failed on {self._failures_in_a_row} events in a row, the last "
                f"at offset {record.offset}: {error}"
            ) from error

    def _bury(self, record: Record, reason: str) -> None:
        letter = DeadLetter.of(
            self.source.stream, record.partition, record.offset, bytes_of(record.payload), reason
        )
        for listener in self.listeners:
            listener.on_dead_letter(letter)
        if self._n_failed_first is not None:
            self._n_failed_first += 1
            self._first_failed = self._first_failed or letter

    def _nothing_learned(self) -> NothingLearnedError:
        assert self._first_failed is not None
        letter, n = self._first_failed, self._n_failed_first
        if letter.reason.startswith(_LEARNER_FAILED):
            return NothingLearnedError(
                f"{self.source.stream}: nothing was learned of the first {n} records; of the first "
                f"one, {letter.reason}"
            )
        return NothingLearnedError(
            f"{self.source.stream}: none of the first {n} records could be learned. The first: "
            f"{letter.reason}. {proposal(letter.payload)}"
        )


def _posix(event: Event) -> float:
    assert event.timestamp is not None
    return event.timestamp.timestamp()


def _nothing_to_report(y_pred: Prediction, y: Any) -> Report:
    return None, ()


def _observes_steps(listener: Listener) -> bool:
    """Whether it overrides on_step: calls that do nothing would add up."""
    return type(listener).on_step is not Listener.on_step
