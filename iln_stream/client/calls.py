"""The API's calls without a transport: requests, retries and answers.

A call is a generator. It yields a `Request`, and is sent its `Reply` or thrown a `TransportError`;
or it yields a `Pause`, and goes on afterwards. It returns the result. So the client that blocks and
the one that awaits share everything except sending and waiting.
"""

import json
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from iln_stream.client.answers import (
    Appended,
    Model,
    Prediction,
    Readiness,
    read_appended,
    read_model,
    read_predictions,
    read_readiness,
)
from iln_stream.client.errors import AnswerError, ClientError, StatusError, UnavailableError
from iln_stream.client.messages import (
    Inputs,
    NewEvent,
    NewLabel,
    encoded,
    event_fields,
    in_batches,
    label_fields,
)
from iln_stream.client.retries import Retries, read_retry_after

_LATER = frozenset({408, 429, 502, 503, 504})
_TOO_LARGE = 413


class Request(NamedTuple):
    """A request.

    Parameters
    ----------
    method, path
        Of HTTP; the path is below the server's address.
    content
        The body, JSON; None: none.
    query
        Parameters of the query.
    repeatable
        Whether sending it twice does the same as once.
    statuses
        Statuses beside those below 400 that are answers.

    """

    method: Literal["GET", "POST"]
    path: str
    content: bytes | None = None
    query: tuple[tuple[str, str], ...] = ()
    repeatable: bool = True
    statuses: frozenset[int] = frozenset()


class Reply(NamedTuple):
    """An answer: its status, its body, and its header Retry-After."""

    status: int
    content: bytes
    retry_after: str | None = None


class Pause(NamedTuple):
    """A wait before the next step, in seconds."""

    seconds: float


T = TypeVar("T")
Call = Generator[Request | Pause, Reply | None, T]


class Calls:
    """Makes the calls of the API.

    Parameters
    ----------
    retries
        When to send a request again.
    batch_events, batch_bytes
        Most events in a request, and most bytes of them.

    """

    def __init__(self, retries: Retries, batch_events: int, batch_bytes: int) -> None:
        for name, limit in (("batch_events", batch_events), ("batch_bytes", batch_bytes)):
            if limit < 1:
                raise ValueError(f"{name} = {limit}: must be at least 1")
        self._retries = retries
        self._batch_events = batch_events
        self._batch_bytes = batch_bytes

    def predict(self, event: NewEvent | Inputs, model: str | None) -> Call[Prediction]:
        """Predict one event, which is appended, too, if it has an id."""
        item = encoded("", event_fields(event))
        (prediction,) = yield from self._predict([item], model)
        return prediction

    def predict_many(
        self, events: Iterable[NewEvent | Inputs], model: str | None
    ) -> Call[list[Prediction]]:
        """Predict several events, in their order; those with ids are appended, too."""
        items = [encoded(f"xs[{i}]", event_fields(event)) for i, event in enumerate(events)]
        return (yield from self._predict(items, model))

    def append(self, event: NewEvent) -> Call[Appended]:
        """Append one event."""
        item = encoded("", event_fields(event))
        (appended,) = yield from self._append([item], event.id is not None)
        return appended

    def append_many(self, events: Iterable[NewEvent | Inputs]) -> Call[list[Appended]]:
        """Append several events, in their order."""
        fields = [event_fields(event) for event in events]
        items = [encoded(f"events[{i}]", each) for i, each in enumerate(fields)]
        return (yield from self._append(items, all("id" in each for each in fields)))

    def feedback_many(self, labels: Iterable[NewLabel]) -> Call[list[Appended]]:
        """Append the labels of several events, in their order."""
        items = [encoded(f"labels[{i}]", label_fields(each)) for i, each in enumerate(labels)]
        return (yield from self._append(items, True, "/feedback", b"labels"))

    def feedback(self, label: NewLabel) -> Call[Appended]:
        """Append the label of an event."""
        content = encoded("", label_fields(label))
        reply = yield from self._sent(Request("POST", "/feedback", content))
        (appended,) = _read(reply, read_appended, 1)
        return appended

    def promote(self, contender: str, model: str | None) -> Call[list[Appended]]:
        """Make a contender the champion."""
        message = {"contender": contender} | ({} if model is None else {"model": model})
        reply = yield from self._sent(Request("POST", "/promote", encoded("", message)))
        return _read(reply, read_appended)

    def model(self, name: str | None) -> Call[Model]:
        """Describe a model."""
        query = () if name is None else (("model", name),)
        reply = yield from self._sent(Request("GET", "/model", query=query))
        return _read(reply, read_model)

    def ready(self) -> Call[Readiness]:
        """Ask whether requests are carried out."""
        reply = yield from self._sent(Request("GET", "/ready", statuses=frozenset({503})))
        return _read(reply, read_readiness)

    def _predict(self, items: Sequence[bytes], model: str | None) -> Call[list[Prediction]]:
        tail = b"" if model is None else b',"model":' + encoded("model", model)
        found: list[Prediction] = []
        yield from self._in_batches(
            "/predict", b"events", items, tail, True, read_predictions, found
        )
        return found

    def _append(
        self,
        items: Sequence[bytes],
        repeatable: bool,
        path: str = "/events",
        field: bytes = b"events",
    ) -> Call[list[Appended]]:
        found: list[Appended] = []
        try:
            yield from self._in_batches(path, field, items, b"", repeatable, read_appended, found)
        except ClientError as error:
            error.appended = tuple(found)
            raise
        return found

    def _in_batches(
        self,
        path: str,
        field: bytes,
        items: Sequence[bytes],
        tail: bytes,
        repeatable: bool,
        read: Callable[[Any], list[T]],
        found: list[T],
    ) -> Call[None]:
        """Send items batch by batch, and add the answers to `found`.

        A batch that the server finds too large is sent in halves: it has done nothing then.
        """
        head = b'{"' + field + b'":['
        most_bytes = max(1, self._batch_bytes - len(head) - len(tail) - len(b"]}"))
        waiting = deque(in_batches(items, self._batch_events, most_bytes))
        while waiting:
            batch = waiting.popleft()
            content = head + b",".join(batch) + b"]" + tail + b"}"
            try:
                request = Request("POST", path, content, repeatable=repeatable)
                reply = yield from self._sent(request)
            except StatusError as error:
                if error.status != _TOO_LARGE or len(batch) == 1:
                    raise
                half = len(batch) // 2
                waiting.extendleft((batch[half:], batch[:half]))
            else:
                found += _read(reply, read, len(batch))

    def _sent(self, request: Request) -> Call[Reply]:
        """Send a request, again if that may help and does no harm; return its answer."""
        waits = self._retries.begin()
        while True:
            try:
                reply = yield request
                assert reply is not None
                if reply.status < 400 or reply.status in request.statuses:
                    return reply
                raise _refused(reply)
            except ClientError as error:
                wait = waits.after(error) if request.repeatable else None
                if wait is None:
                    raise
            yield Pause(wait)


def _refused(reply: Reply) -> StatusError:
    """Return the error of a reply, with the server's message."""
    try:
        message = str(json.loads(reply.content)["error"])
    except (ValueError, KeyError, TypeError):
        # A proxy between us, or not our server.
        text = reply.content[:200].decode(errors="replace").strip()
        message = f"status {reply.status}: {text}" if text else f"status {reply.status}"
    kind = UnavailableError if reply.status in _LATER else StatusError
    return kind(reply.status, message, read_retry_after(reply.retry_after))


def _read(reply: Reply, read: Callable[[Any], T], n: int | None = None) -> T:
    """Read the answer, which has n parts."""
    try:
        answer = read(json.loads(reply.content))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        text = reply.content[:200].decode(errors="replace")
        raise AnswerError(
            f"the answer is not one of iln-stream's API ({type(error).__name__}: {error}): "
            f"{text!r}; is the address right, and its server of this version?"
        ) from None
    if n is not None and len(answer) != n:  # type: ignore[arg-type]
        raise AnswerError(f"the answer has {len(answer)} parts, not {n}")  # type: ignore[arg-type]
    return answer
