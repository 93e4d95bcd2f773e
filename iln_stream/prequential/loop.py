"""The prequential loop: predict, score, learn, one event at a time, in the stream's order."""

import math
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from iln_stream.errors import IlnError, SourceError
from iln_stream.events import DeadLetter, MalformedError, decode, one_hot, payload_bytes
from iln_stream.learners import find_infinite_layer, find_shrinking_gradient
from iln_stream.prequential.listener import Listener
from iln_stream.prequential.recent_ids import RecentIds
from iln_stream.prequential.step import Step
from iln_stream.sources import Record, Source


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
        By which a sender's repeats are known: an event with an id among them is passed over. None:
        each record is an event of its own.

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
        self._algorithm_1 = find_shrinking_gradient(learner)
        self._mixture = find_infinite_layer(learner)
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
            for record in records:
                if self._stopping:
                    return
                self.process(record)
            if not records:
                if self.source.exhausted:
                    return
                for listener in self.listeners:
                    listener.on_idle()

    def process(self, record: Record) -> None:
        """Take one record through the whole way."""
        if record.offset <= self._last_offset:
            raise SourceError(
                f"{self.source.stream}: offset {record.offset} came after {self._last_offset}; "
                "events must come in strictly increasing order"
            )
        self._last_offset = record.offset
        try:
            step = self._step(record)
        except MalformedError as error:
            self._bury(record, str(error))
            return
        except Exception as error:
            # Whatever a learner raises, the stream goes on and the event is not lost.
            self._bury(record, f"the learner failed: {type(error).__name__}: {error}")
            self._failures_in_a_row += 1
            if self._failures_in_a_row >= self.max_failures_in_a_row:
                raise LearnerError(
                    f"the learner failed on {self._failures_in_a_row} events in a row, the last "
                    f"at offset {record.offset}: {error}"
                ) from error
            return
        self._failures_in_a_row = 0
        for listener in self.listeners:
            if step is None:
                listener.on_repeat(record.offset)
            else:
                listener.on_step(step)

    def _step(self, record: Record) -> Step | None:
        """Take one step; None if the event came already."""
        event = decode(record.payload)
        if self.recent_ids and event.id is not None and self.recent_ids.is_repeat(event.id):
            return None
        x, y = one_hot(event.x), event.y
        started = perf_counter()
        y_pred = float(self.learner.predict_one(x))
        if not math.isfinite(y_pred):
            raise ArithmeticError(f"it predicted {y_pred}")
        loss, shrunk = None, False
        if y is not None:
            self.learner.learn_one(x, y)
            loss, shrunk = self._score(y_pred, y)
        timestamp = event.timestamp.timestamp() if event.timestamp else record.timestamp
        seconds = perf_counter() - started
        # In the order of its fields: by name it would take twice as long.
        return Step(record.offset, event.id, timestamp, y, y_pred, loss, shrunk, seconds)

    def _score(self, y_pred: float, y: float) -> tuple[float, bool]:
        """The step's loss on the learner's own scale of targets, and whether alpha was shrunk."""
        update = None if self._algorithm_1 is None else self._algorithm_1.last_update
        shrunk = update is not None and update.shrunk
        if self._mixture is None and update is not None:
            return update.loss, shrunk
        error = y_pred - y
        if self._mixture is not None:
            error /= self._mixture.target_unit
        return error * error / 2, shrunk  # a product overflows to inf, where ** raises

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
