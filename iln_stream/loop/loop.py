"""The prequential loop: predict, score, learn, one event at a time."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum, auto
from operator import lt
from typing import Any, TypeAlias

from iln_stream.errors import ContenderError, IlnError, SourceError, StateError, UnrecoverableError
from iln_stream.loop.forecasts import Forecasts
from iln_stream.loop.late_labels import LateLabels
from iln_stream.loop.recent_ids import RecentIds
from iln_stream.loop.step import (
    MOST_IN_A_ROW,
    Checkpointing,
    Details,
    EventWeights,
    LabelLog,
    Listener,
    Promotable,
    Step,
)
from iln_stream.loop.stepper import Stepper
from iln_stream.loop.task import Regression, Task
from iln_stream.records import (
    LEARNER_FAILED,
    Command,
    DeadLetter,
    Decoder,
    EnvelopeDecoder,
    Example,
    MalformedError,
    SkippedError,
    payload_bytes,
    promoted,
)
from iln_stream.records.commands import is_command
from iln_stream.streams import Record, Source, StreamPartition

log = logging.getLogger(__name__)


_MOST_FAILURES_AT_FIRST = 100
"""The loop ends after so many failed records of which none was learned: their format is wrong."""

_MOST_TRACES = 20
"""Most places in a learner whose failures are logged with a traceback."""


class _Apart(Enum):
    """Records that are no events."""

    COMMAND = auto()
    FORGOTTEN = auto()


_Read: TypeAlias = Example | Exception | _Apart
"""What a record is, or the error that it can't be read with."""


class LearnerError(IlnError):
    """The learner fails on event after event: the fault is in the learner, not in the events."""


class NothingLearnedError(UnrecoverableError):
    """No record could be learned, from the first on: the stream does not have the right format."""


class PrequentialLoop:
    """Feeds one source to one learner and reports every step to listeners.

    For each record, in strict offset order, it decodes and predicts; only then it learns the label,
    if there is one, and scores that prediction. Events may be learned in a row before listeners
    hear of them: see `Listener`. A record that can't be decoded, predicted or learned is a dead
    letter, and the loop continues. Outputs and listeners get the result of a record exactly once: a
    step, a dead letter, a repeat, a skipped record or a command; with late labels also steps and
    dead letters of earlier events, or nothing yet. Then the loop reports the record to the
    checkpoint as done.

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
        every record is a separate event.
    task
        Regression or classification; by default regression.
    late
        Where events wait for late labels, which come in separate records, or for the later values
        that they forecast. None: late labels are dead letters.
    checkpoint
        Makes progress durable. None: nothing is saved.
    decoder
        Turns records into examples. None: records are events of the form `{"x": ..., "y": ...}`.
        If its `takes_key` is true, the record's key is a third argument.
        If it has a method `accept`, the loop calls it with the time, id and label of each event
        that it learned or predicted; not for repeats, late labels and dead letters. If it has a
        method `label`, the loop calls it with the id of an event and its late label. If its
        `remembers` is false, records may be read before earlier events are learned, and of events
        learned in a row it is told some, the last among them.
    details
        Computes additions to a prediction, such as intervals: called with the inputs of each event
        after it was predicted and before it is learned. None: nothing.
    weights
        Weighs the events for a learner whose `learn_one` takes `w`. None: the learner takes none,
        and an event with a weight becomes a dead letter. Its scores are weighted, too.
    labels
        A second log of labels. None: labels are in the log of the events.
    never_learned
        Whether the learner has not learned anything yet. Once 100 records (or all, if there are
        fewer) are dead letters before one is learned, and no more are events without a label, the
        loop ends with `NothingLearnedError`; also once 100 labels of their own log are.
    key_name
        Name of the input that a record's key becomes, as a category. None: it is not an input.
    forgets
        Says which records are passed over, as if they were not there. None: none are.

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
        late: LateLabels | Forecasts | None = None,
        checkpoint: Checkpointing | None = None,
        decoder: Decoder | None = None,
        details: Callable[[dict[str, float]], Details] | None = None,
        weights: EventWeights | None = None,
        labels: LabelLog[Any] | None = None,
        never_learned: bool = False,
        key_name: str | None = None,
        forgets: Callable[[Record], bool] | None = None,
    ) -> None:
        self.source = source
        self.learner = learner
        self.listeners = tuple(listeners)
        self.task: Task = task or Regression()
        self.recent_ids = recent_ids
        self.late = late
        self.checkpoint = checkpoint
        self.max_failures_in_a_row = max_failures_in_a_row
        self._decode = decoder or EnvelopeDecoder(self.task.event_type, self.task.label_type)
        self._keyed = _keyed(self._decode)
        self._labels = labels
        self._keyed_labels = None if labels is None else _keyed(labels.decode)
        self._accept: Callable[..., None] | None = getattr(self._decode, "accept", None)
        self._late_label: Callable[..., None] | None = getattr(self._decode, "label", None)
        self.stepper = Stepper(learner, self.task, details, weights)
        remembers = getattr(self._decode, "remembers", self._accept is not None)
        self._reads_ahead = late is None and labels is None and not remembers
        self._notes = recent_ids is not None or self._accept is not None
        self._last_offsets: dict[StreamPartition, int] = {}
        self._polled: deque[Record] = deque()  # those that are not handled yet
        self._key_name = key_name
        self._forgets = forgets
        others = labels, forgets, key_name, self._keyed
        self._only_decodes = all(each is None for each in others)
        self._failures_in_a_row = 0
        # Number of failed records before the first one was learned; None after it.
        self._n_failed_at_first: int | None = 0 if never_learned else None
        self._n_unlabelled_at_first = 0
        self._n_failed_labels = 0  # of a log of their own, before the first was learned
        self._traced: set[tuple[type, str, int]] = set()
        self._first_failed: dict[bool, DeadLetter] = {}  # of the source, and of the log of labels
        self._stopping = False
        self.at_end = False

    def stop(self) -> None:
        """End the loop after the current event, or those that are learned in a row with it.

        Safe from a signal handler or another thread.
        """
        self._stopping = True

    def n_in_hand(self, *, labels: bool = False) -> int:
        """Return how many records were polled and are not handled yet. Safe from any thread.

        With `labels`, those of the log of labels, or else those of the first log.
        """
        own = [record.origin.stream == self.source.stream for record in list(self._polled)]
        return own.count(not labels)

    def run(self, poll_timeout: float = 0.5) -> None:
        """Run until the source is exhausted or `stop` is called.

        Parameters
        ----------
        poll_timeout
            Longest wait for new records, in seconds; the loop notices `stop` within this time.

        """
        while not self._stopping:
            records = self.source.poll(poll_timeout)
            self._polled = deque(records)
            self._process(records)
            if not records:
                if self.source.exhausted:
                    if self._fails_at_first(1):
                        raise self._nothing_learned()
                    self.at_end = True
                    return
                for listener in self.listeners:
                    listener.on_idle()
                if self.checkpoint is not None:
                    self.checkpoint.idle()

    def _process(self, records: Sequence[Record]) -> None:
        """Process each record and report the result to listeners and checkpoint, until `stop`."""
        read_one = self._decoded if self._are_only_decoded(records) else self._read
        n = 0
        while n < len(records) and not self._stopping:
            row, read = self._read_row(records[n : n + self._room()], read_one)
            self._learn_all(row)
            handled = records[n : n + len(row) + (read is not None)]
            if read is not None:
                self._handle(handled[-1], read)
            self._passed(handled)
            n += len(handled)

    def _room(self) -> int:
        """Return how many events may be learned before listeners and checkpoint hear of them."""
        at_first = self._n_failed_at_first is not None
        if at_first or not (self._reads_ahead and self.stepper.takes_rows):
            return 1
        room = min((each.most_steps for each in self.listeners), default=MOST_IN_A_ROW)
        return room if self.checkpoint is None else min(room, self.checkpoint.n_until_due)

    def _read(self, record: Record) -> _Read:
        """Return what a record is; it is an error that is raised once those before are learned."""
        offset, origin, payload = record.offset, record.origin, record.payload
        if offset <= self._last_offsets.get(origin, -1):
            return self._disorder(record)
        self._last_offsets[origin] = offset
        if is_command(payload):
            return _Apart.COMMAND
        # An error in this ends the run: a dead letter would show what is forgotten.
        if self._forgets is not None and self._forgets(record):
            return _Apart.FORGOTTEN
        try:
            decode, keyed = self._decode, self._keyed
            if self._labels is not None and origin.stream == self._labels.stream:
                decode, keyed = self._labels.decode, self._keyed_labels
            if keyed is not None:
                example = keyed(payload, record.timestamp, record.key)
            else:
                example = decode(payload, record.timestamp)
            if self._key_name is not None and record.key is not None and example.x is not None:
                example.x[f"{self._key_name}={record.key}"] = 1.0
        except Exception as error:
            return error
        return example

    def _read_row(
        self, records: Sequence[Record], read_one: Callable[[Record], _Read]
    ) -> tuple[list[tuple[Record, Example]], _Read | None]:
        """Return the usual events up to another record, and what that is; None: all are usual."""
        if len(records) == 1:
            return [], read_one(records[0])
        row: list[tuple[Record, Example]] = []
        ids: set[str] = set()
        recent, is_usual = self.recent_ids, self.stepper.is_usual
        for record in records:
            read = read_one(record)
            if type(read) is not Example or not is_usual(read):
                return row, read
            if recent is not None and (name := read.id) is not None:
                if name in ids or recent.knows(name):
                    return row, read
                ids.add(name)
            row.append((record, read))
        return row, None

    def _are_only_decoded(self, records: Sequence[Record]) -> bool:
        """Return whether to read these is no more than to decode them."""
        if not (records and self._only_decodes):
            return False
        offset, payload, origin, *_ = zip(*records, strict=True)
        return (
            origin.count(origin[0]) == len(origin)
            and all(map(lt, (self._last_offsets.get(origin[0], -1), *offset), offset))
            and not any(map(is_command, payload))
        )

    def _decoded(self, record: Record) -> _Read:
        self._last_offsets[record.origin] = record.offset
        try:
            return self._decode(record.payload, record.timestamp)
        except Exception as error:
            return error

    def _learn_all(self, row: Sequence[tuple[Record, Example]]) -> None:
        """Learn usual events: in a row those that the learner takes, and others one by one."""
        done = 0
        while done < len(row):
            steps = self._learn_in_a_row(row[done:]) if len(row) > done + 1 else ()
            done += len(steps)
            # After two in a row that it does not take, the rest may be like them.
            for record, example in row[done : done + 1] if steps else row[done:]:
                self._handle(record, example)
                done += 1

    def _passed(self, records: Sequence[Record]) -> None:
        """Report records to the checkpoint; end the run if none of the first could be learned."""
        for _ in records:
            self._polled.popleft()
        if self.checkpoint is not None:
            self.checkpoint.passed(records)
        if self._n_failed_at_first and self._fails_at_first(_MOST_FAILURES_AT_FIRST):
            raise self._nothing_learned()

    def _learn_in_a_row(self, row: Sequence[tuple[Record, Example]]) -> Sequence[Step]:
        """Return the steps of the first events, which may be none."""
        try:
            steps = self.stepper.steps(row)
        except Exception as error:  # some may be learned, nobody knows which
            raise LearnerError(
                f"the learner failed in a row of events, the first at offset {row[0][0].offset}: "
                f"{error!r}"
            ) from error
        if not steps:
            return ()
        self._failures_in_a_row = 0
        named = [k for k, event_id in enumerate(steps.event_id) if event_id is not None]
        timed = [k for k, time in enumerate(steps.time) if time is not None]
        for k in (*named, *timed[-1:]) if self._notes else ():
            self._note(steps.event_id[k], steps.time[k], steps.y[k])
        for listener in self.listeners:
            listener.on_steps(steps)
        return steps

    def _handle(self, record: Record, read: _Read) -> None:
        """Do what a record asks for, and report the result to listeners."""
        if read is _Apart.COMMAND:
            self._obey(record)
            return
        if read is _Apart.FORGOTTEN:
            for listener in self.listeners:
                listener.on_forgotten(record.origin, record.offset)
            return
        outcomes: list[Step | DeadLetter] = []
        error: Exception | None = None
        is_repeat = False
        try:
            if isinstance(read, Exception):
                raise read
            is_repeat = not self._learn(record, read, outcomes)
        except (SourceError, ContenderError, StateError):
            raise  # the record may be good, but can't be read or learned now
        except Exception as raised:
            # A learner may raise any error; the event must not be lost.
            error = raised
        for outcome in outcomes:
            if isinstance(outcome, DeadLetter):
                self._send(outcome)
                continue
            if self._notes:
                self._note(outcome.event_id, outcome.time, outcome.y, late=outcome.late)
            for listener in self.listeners:
                listener.on_step(outcome)
        if isinstance(error, SkippedError):
            for listener in self.listeners:
                listener.on_skipped(record.origin, record.offset)
        elif error is not None:
            self._failed(record, error)
        else:
            self._failures_in_a_row = 0
            if self._n_failed_at_first is not None:
                self._note_success(is_repeat, outcomes)
            if is_repeat:
                for listener in self.listeners:
                    listener.on_repeat(record.origin, record.offset)

    def _learn(self, record: Record, example: Example, outcomes: list[Step | DeadLetter]) -> bool:
        """Predict or learn an example or both; return False for a repeat.

        What comes of it is appended to `outcomes`, also if an error follows.
        """
        if example.weight is not None and not self.stepper.takes_weights:
            raise MalformedError(
                f"weight: {type(self.learner).__name__} takes no weights (no w in learn_one): "
                "leave the weight out, or choose a learner that takes them"
            )
        if self.recent_ids is not None and self.recent_ids.is_repeat(example):
            return False
        if self.late is not None:
            # One by one: those before an error stay in the list.
            outcomes.extend(self.late.outcomes(record, example, self.stepper))
        elif example.x is None:
            raise MalformedError(
                "x: missing; set pending_events to learn labels that come in records of their own"
            )
        else:
            outcomes.append(self.stepper.step(record, example, example.x))
        return True

    def _obey(self, record: Record) -> None:
        """Carry out a command; one that can't be carried out becomes a dead letter."""
        try:
            contender = promoted(payload_bytes(record.payload))
            if not isinstance(self.learner, Promotable):
                raise MalformedError(
                    f"promote: {contender!r} is no contender, as there is only one learner, "
                    f"{type(self.learner).__name__}: set challengers"
                )
            self.learner.promote(contender)
        except Exception as error:  # as of an event: it must not be lost
            known = isinstance(error, ValueError)
            kind = "" if known else f"the command failed: {type(error).__name__}: "
            self._send(self._letter_of(record, f"{kind}{error}"))
            return
        command = Command(*record.origin, record.offset, record.timestamp, "promote", contender)
        for listener in self.listeners:
            listener.on_command(command)

    def _note(
        self, event_id: str | None, time: float | None, y: Any, *, late: bool = False
    ) -> None:
        """Note what a step was of; only now, as a failed event may be sent again."""
        if self.recent_ids is not None and event_id is not None:
            if not late:
                self.recent_ids.add_event(event_id)
            if y is not None:
                self.recent_ids.add_label(event_id, y)
        if not late:
            if self._accept is not None:
                self._accept(time, event_id, y)
        elif self._late_label is not None and event_id is not None:
            self._late_label(event_id, y)

    def _disorder(self, record: Record) -> SourceError:
        return SourceError(
            f"{record.origin}: offset {record.offset} came after "
            f"{self._last_offsets.get(record.origin, -1)}; events must come in strictly "
            "increasing order"
        )

    def _failed(self, record: Record, error: Exception) -> None:
        """Send a record to the dead letters; raise LearnerError after too many of the learner's."""
        malformed = isinstance(error, MalformedError)
        kind = "" if malformed else f"{LEARNER_FAILED}: {type(error).__name__}: "
        letter = self._letter_of(record, f"{kind}{error}")
        self._send(letter)
        if self._n_failed_at_first is not None:
            self._n_failed_at_first += 1
            of_labels = record.origin.stream != self.source.stream
            self._n_failed_labels += of_labels
            self._first_failed.setdefault(of_labels, letter)
        if malformed:
            return
        self._trace(error)
        self._failures_in_a_row += 1
        # After the first 100 records `NothingLearnedError` ends the loop.
        at_first = self._n_failed_at_first is not None
        if not at_first and self._failures_in_a_row >= self.max_failures_in_a_row:
            raise LearnerError(
                f"the learner failed on {self._failures_in_a_row} events in a row, the last "
                f"at offset {record.offset}: {error}"
            ) from error

    def _letter_of(self, record: Record, reason: str) -> DeadLetter:
        """Return the letter of a record of the source."""
        payload = payload_bytes(record.payload)
        return DeadLetter.of(
            *record.origin, record.offset, payload, reason, record.key, record.timestamp
        )

    def _send(self, letter: DeadLetter) -> None:
        for listener in self.listeners:
            listener.on_dead_letter(letter)

    def _note_success(self, is_repeat: bool, outcomes: Sequence[Step | DeadLetter]) -> None:
        """Note one of the first records that did not fail."""
        if is_repeat or any(isinstance(each, Step) and each.y is not None for each in outcomes):
            self._n_failed_at_first = None
        else:
            self._n_unlabelled_at_first += 1

    def _fails_at_first(self, most: int) -> bool:
        """Return whether so many records have failed, and none was learned.

        Many events without a label may precede the first one that has it, if labels can be read.
        """
        n = self._n_failed_at_first or 0
        if self._n_failed_labels >= _MOST_FAILURES_AT_FIRST:
            return True
        return n >= most and n > self._n_unlabelled_at_first

    def _trace(self, error: Exception) -> None:
        """Log where a learner failed, once for each place."""
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is None or len(self._traced) >= _MOST_TRACES:
            return
        place = (type(error), trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        if place not in self._traced:
            self._traced.add(place)
            log.warning("the learner failed here:", exc_info=error)

    def _nothing_learned(self) -> NothingLearnedError:
        n, n_labels = self._n_failed_at_first or 0, self._n_failed_labels
        of_labels = 2 * n_labels > n
        letter, n = self._first_failed[of_labels], n_labels if of_labels else n - n_labels
        is_mapped = not isinstance(self._decode, EnvelopeDecoder)
        is_event = letter.reason.startswith(LEARNER_FAILED)
        advice = (
            '. An event is {"x": {...}, "y": number}; of others see `iln-stream inspect-source`'
        )
        return NothingLearnedError(
            f"{letter.stream}: none of the first {n} records could be learned. The first: "
            f"{letter.reason}{'' if is_event or is_mapped else advice}"
        )


def _keyed(decode: Decoder) -> Callable[..., Example] | None:
    """Return a decoder that takes the record's key as a third argument; None: it takes none."""
    return decode if getattr(decode, "takes_key", False) else None
