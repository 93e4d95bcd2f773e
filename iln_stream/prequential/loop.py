"""The prequential loop: predict, score, learn, one event at a time, in the stream's order."""

from collections.abc import Sequence
from math import isfinite
from time import perf_counter
from typing import Any

from iln_stream.errors import IlnError, SourceError
from iln_stream.events import DeadLetter, MalformedError, decode, one_hot, payload_bytes
from iln_stream.prequential.listener import Listener
from iln_stream.prequential.recent_ids import RecentIds
from iln_stream.prequential.scoring import scoring_of
from iln_stream.prequential.step import Step
from iln_stream.streams import Record, Source


class LearnerError(IlnError):
    """The learner fails on event after event: something is wrong with it, not with them."""


class PrequentialLoop:
    """Feeds one source to one learner and tells listeners of every step.

    For each record, in strict offset order: decode; predict; if there is a label, score the
    prediction and only then learn. What can't be decoded, predicted or learned is a dead letter
    and the stream goes on; listeners hear of every record exactly once, as a step, a letter or a
    repeat.

    Parameters
    ----------
    source
        Where records come from.
    learner
        Any River regressor.
    listeners
        Told in this order.
    max_failures_in_a_row
        After so many consecutive events that the learner itself fails on, the loop stops: the
        learner is wrong (or has diverged), and a topic full of dead letters would help nobody.
    recent_ids
        By which a sender's repeats are known: an event with the id of a recent step is passed over.
        None: each record is an event of its own.

    """

    def __init__(
        self,
        source: Source,
        learner: Any,
        listeners: Sequence[Listener] = (),
        max_failures_in_a_row: int = 100,
        recent_ids: RecentIds | None = None,
    ) -> None:
        self.source = source
        self.learner = learner
        self.listeners = tuple(listeners)
        self.recent_ids = recent_ids
        self.max_failures_in_a_row = max_failures_in_a_row
        self._score = scoring_of(learner)
        self._last_offset = -1
        self._failures_in_a_row = 0
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
                    return
                for listener in self.listeners:
                    listener.on_idle()

    def _process(self, records: Sequence[Record]) -> None:
        """Take records through the whole way, until asked to stop."""
        # All in one frame: a learner leaves the processor's caches cold, so that each call and
        # each object touched here costs several times what it would by itself.
        learner, score, recent_ids = self.learner, self._score, self.recent_ids
        told_of_steps = [each.on_step for each in self.listeners if _heeds_steps(each)]
        for record in records:
            if self._stopping:
                return
            offset = record.offset
            if offset <= self._last_offset:
                raise self._disorder(offset)
            self._last_offset = offset
            try:
                event = decode(record.payload)
                event_id = event.id
                if recent_ids is not None and event_id is not None and event_id in recent_ids:
                    step = None
                else:
                    x, y = one_hot(event.x), event.y
                    loss, shrunk = None, False
                    started = perf_counter()
                    y_pred = float(learner.predict_one(x))
                    if not isfinite(y_pred):
                        raise ArithmeticError(f"it predicted {y_pred}")
                    if y is not None:
                        learner.learn_one(x, y)
                        loss, shrunk = score(y_pred, y)
                    ended = perf_counter()
                    seconds = ended - started
                    # `Step(...)` would do just this, in twice the time.
                    step = tuple.__new__(
                        Step, (offset, event_id, y, y_pred, loss, shrunk, seconds, ended)
                    )
            except MalformedError as error:
                self._bury(record, str(error))
                continue
            except Exception as error:
                # Whatever a learner raises, the stream goes on and the event is not lost.
                self._learner_failed(record, error)
                continue
            self._failures_in_a_row = 0
            if step is None:
                for listener in self.listeners:
                    listener.on_repeat(offset)
            else:
                # Not before: what the learner failed on is no repeat when it is sent again.
                if recent_ids is not None and event_id is not None:
                    recent_ids.add(event_id)
                for on_step in told_of_steps:
                    on_step(step)

    def _disorder(self, offset: int) -> SourceError:
        return SourceError(
            f"{self.source.stream}: offset {offset} came after {self._last_offset}; "
            "events must come in strictly increasing order"
        )

    def _learner_failed(self, record: Record, error: Exception) -> None:
        self._bury(record, f"the learner failed: {type(error).__name__}: {error}")
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= self.max_failures_in_a_row:
            raise LearnerError(
                f"the learner failed on {self._failures_in_a_row} events in a row, the last "
                f"at offset {record.offset}: {error}"
            ) from error

    def _bury(self, record: Record, reason: str) -> None:
        letter = DeadLetter.of(
            self.source.stream,
            self.source.partition,
            record.offset,
            payload_bytes(record.payload),
            reason,
        )
        for listener in self.listeners:
            listener.on_dead_letter(letter)


def _heeds_steps(listener: Listener) -> bool:
    """Whether telling it of a step does anything: calls that don't would add up."""
    return type(listener).on_step is not Listener.on_step
