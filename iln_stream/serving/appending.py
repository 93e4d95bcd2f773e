"""Appends events and labels to the log in groups, on a thread of its own."""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from iln_stream.errors import IlnError, SinkError
from iln_stream.records import Event, Label, MalformedError, one_hot
from iln_stream.serving.gate import HttpError, retry
from iln_stream.serving.messages import EventToPredict
from iln_stream.serving.metrics import ApiMetrics
from iln_stream.streams import Appended, Appender, NewRecord


def records_of_events(events: Sequence[Event], is_batch: bool) -> list[NewRecord]:
    """Return the records of events.

    Raises
    ------
    HttpError
        When the learner would refuse an event, as a dead letter.

    """
    for i, event in enumerate(events):
        try:
            one_hot(event.x)
        except MalformedError as error:
            raise _malformed(i, is_batch, str(error)) from None
    return [_of_event(event) for event in events]


def records_of_predicted(
    events: Sequence[EventToPredict], is_batch: bool, *, timed: bool
) -> list[NewRecord]:
    """Return the records of those events to predict that have an id; their inputs are not checked.

    `timed` says whether the model makes inputs of the time of each.

    Raises
    ------
    HttpError
        When an event has a time or a weight that would not be recorded.

    """
    for i, event in enumerate(events):
        if event.id is None:
            for name in ("weight",) if timed else ("timestamp", "weight"):
                if getattr(event, name) is not None:
                    raise _malformed(
                        i,
                        is_batch,
                        f"{name}: only an event with an id is recorded, with its {name}; add an "
                        f"id, or leave the {name} out",
                    )
    return [_of_event(event, {"model"}) for event in events if event.id is not None]


def records_of_labels(labels: Sequence[Label]) -> list[NewRecord]:
    """Return the records of labels.

    A label that differs from the newest one of its event corrects it. An equal one is a repeat.
    """
    return [
        NewRecord(_value(label), label.id, _identity("label", label.id), corrects=True)
        for label in labels
    ]


def _of_event(event: Event | EventToPredict, without: set[str] | None = None) -> NewRecord:
    identity = None if event.id is None else _identity("event", event.id)
    return NewRecord(_value(event, without), event.id, identity)


def _value(message: Any, without: set[str] | None = None) -> bytes:
    return message.model_dump_json(exclude_unset=True, exclude=without).encode()  # type: ignore[no-any-return]


def _identity(kind: str, name: str) -> str:
    """Return the record's id: an event and its label have the same name, but are two records."""
    if kind == "event" and not name.startswith(("event:", "label:")):
        return name
    return f"{kind}:{name}"


def _malformed(index: int, is_batch: bool, message: str) -> HttpError:
    return HttpError(422, "malformed", f"events.{index}.{message}" if is_batch else message)


log = logging.getLogger(__name__)

_LONGEST_WAIT = 5.0
"""Seconds until the log is opened again after an error, at most."""


class _Request(NamedTuple):
    records: Sequence[NewRecord]
    done: "asyncio.Future[Sequence[Appended]]"


class Appending:
    """A queue of records, and the thread that appends them.

    While a group is being made durable, the next one gathers: one write to the disk serves all
    requests that arrived during the one before.

    Parameters
    ----------
    open_appender
        Opens the log; called on the thread, and again after an error.
    most_queued
        Most records that wait; more are refused.
    most_grouped
        Most records that are appended together; a larger request is a group of its own.
    metrics
        Counts groups and records.

    """

    def __init__(
        self,
        open_appender: Callable[[], Appender],
        most_queued: int,
        most_grouped: int,
        metrics: ApiMetrics,
    ) -> None:
        self._open_appender = open_appender
        self._most_queued = most_queued
        self._most_grouped = most_grouped
        self._metrics = metrics
        self._queue: deque[_Request] = deque()
        self._n_queued = 0
        self._turn = threading.Condition()
        self._closing = False
        self.stream: str | None = None
        self.ends: dict[int, int] = {}
        self.problem: str | None = "the log is not open yet"
        self._thread = threading.Thread(target=self._run, name="appending", daemon=True)

    def start(self) -> None:
        """Open the log, and begin to append."""
        self._thread.start()

    def close(self) -> None:
        """Append what waits, and close the log."""
        with self._turn:
            self._closing = True
            self._turn.notify()
        self._thread.join()

    def submit(self, records: Sequence[NewRecord]) -> "asyncio.Future[Sequence[Appended]]":
        """Queue records, which are appended in this order; call on the event loop's thread.

        Returns
        -------
        asyncio.Future
            Positions of the records, once all are durable.

        Raises
        ------
        HttpError
            When the queue is full or the log can't be written to.

        """
        done: asyncio.Future[Sequence[Appended]] = asyncio.get_running_loop().create_future()
        with self._turn:
            if self.problem is not None:
                raise HttpError(503, "log", f"{self.problem}; try again", retry(2.0))
            # A request larger than the queue waits for an empty one.
            if self._n_queued and self._n_queued + len(records) > self._most_queued:
                raise HttpError(
                    429,
                    "queue",
                    f"{self._n_queued} events wait to be appended; try again",
                    retry(1.0),
                )
            self._queue.append(_Request(records, done))
            self._n_queued += len(records)
            self._metrics.queue.set(self._n_queued)
            self._turn.notify()
        return done

    def _run(self) -> None:
        wait = 0.1
        while True:
            try:
                appender = self._open_appender()
            except Exception as error:
                if not isinstance(error, IlnError):
                    log.exception("the log can't be opened")
                self._fail(f"the log can't be opened: {error}")
            else:
                with self._turn:
                    self.stream = appender.stream
                    self.problem = None
                wait = 0.1
                try:
                    self._append_all(appender)
                except Exception as error:
                    if not isinstance(error, IlnError):
                        log.exception("appending failed")
                    self._fail(f"the log can't be written to: {error}")
                finally:
                    with suppress(IlnError):
                        appender.close()
            with self._turn:
                if self._closing:
                    return
                self._turn.wait_for(lambda: self._closing, wait)
            wait = min(2 * wait, _LONGEST_WAIT)

    def _append_all(self, appender: Appender) -> None:
        """Append group after group, until `close`; raise the error of a group that fails."""
        while group := self._next_group():
            records = [record for request in group for record in request.records]
            try:
                places = appender.append(records)
            except Exception as error:
                self._resolve(group, _failure(error))
                raise
            n_new = sum(place.is_new for place in places)
            self._metrics.appended(n_new, len(places) - n_new)
            for place in places:
                if place.offset >= self.ends.get(place.partition, 0):
                    self.ends[place.partition] = place.offset + 1
            self._resolve(group, places)

    def _next_group(self) -> list[_Request]:
        """Wait for requests, and return those to append together; empty: close."""
        with self._turn:
            self._turn.wait_for(lambda: self._queue or self._closing)
            group: list[_Request] = []
            size = 0
            while self._queue:
                size += len(self._queue[0].records)
                if group and size > self._most_grouped:
                    break
                group.append(self._queue.popleft())
            self._n_queued -= sum(len(request.records) for request in group)
            self._metrics.queue.set(self._n_queued)
            return group

    def _fail(self, problem: str) -> None:
        """Refuse what waits, and what comes until the log is open again."""
        with self._turn:
            if problem != self.problem:
                log.warning("%s", problem)
            self.problem = problem
            waiting = list(self._queue)
            self._queue.clear()
            self._n_queued = 0
            self._metrics.queue.set(0)
        self._resolve(waiting, HttpError(503, "log", f"{problem}; try again", retry(2.0)))

    def _resolve(self, group: Sequence[_Request], outcome: Sequence[Appended] | Exception) -> None:
        """Hand each request its share of the outcome, on its event loop."""
        if not group:
            return

        def hand_over() -> None:
            begin = 0
            for request in group:
                end = begin + len(request.records)
                if not request.done.done():  # the request was given up
                    if isinstance(outcome, Exception):
                        request.done.set_exception(outcome)
                    else:
                        request.done.set_result(outcome[begin:end])
                begin = end

        with suppress(RuntimeError):  # the loop was closed: nobody waits
            group[0].done.get_loop().call_soon_threadsafe(hand_over)


def _failure(error: Exception) -> HttpError:
    text = str(error) if isinstance(error, SinkError) else f"{type(error).__name__}: {error}"
    return HttpError(
        503,
        "log",
        f"the log can't be written to: {text}; send events with an id again, others may be stored",
        retry(2.0),
    )
