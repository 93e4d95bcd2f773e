"""The API's calls without a transport: requests, retries and answers.

A call is a generator. It yields a `Request`, and is sent its `Reply` or thrown a `TransportError`;
or it yields a `Pause`, and goes on afterwards. It returns the result. So the client that blocks and
the one that awaits share everything except sending and waiting.
"""

import datetime as dt
import json
import random
import ssl
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import httpx

from iln_stream._version import __version__
from iln_stream.serving.client_messages import (
    AnswerError,
    Appended,
    ClientError,
    Inputs,
    Model,
    NewEvent,
    NewLabel,
    Prediction,
    Readiness,
    StatusError,
    TimedOutError,
    TransportError,
    UnavailableError,
    encoded,
    event_fields,
    in_batches,
    label_fields,
    read_appended,
    read_model,
    read_predictions,
    read_readiness,
)


class Retries(NamedTuple):
    """How often and when a request is sent again, if sending it twice does no harm.

    Waits double from `first_wait` on, and each is shortened at random by up to a half, so that
    clients which failed together don't return together. If the server says when to try again, this
    is the shortest wait.

    Parameters
    ----------
    most
        Number of retries.
    within
        Seconds from the first attempt; a wait that would end later is not begun.
    first_wait, longest_wait
        Seconds.

    """

    most: int = 3
    within: float = 30.0
    first_wait: float = 0.1
    longest_wait: float = 5.0

    def begin(
        self,
        now: Callable[[], float] = time.monotonic,
        draw: Callable[[], float] = random.random,
    ) -> "Waits":
        """Return the waits of one request, whose time begins now."""
        return Waits(self, now, draw)


class Waits:
    """The waits between attempts of one request.

    `now` returns monotonic seconds, `draw` a number in [0, 1).
    """

    def __init__(
        self, retries: Retries, now: Callable[[], float], draw: Callable[[], float]
    ) -> None:
        self._retries = retries
        self._now = now
        self._draw = draw
        self._n = 0
        self._deadline = now() + retries.within

    def after(self, error: ClientError) -> float | None:
        """Return how long to wait after an error, in seconds; None: don't try again."""
        if not isinstance(error, TransportError | UnavailableError):
            return None
        limits = self._retries
        if self._n >= limits.most:
            return None
        wait = min(limits.first_wait * 2.0**self._n, limits.longest_wait)
        wait *= 1.0 - 0.5 * self._draw()
        if isinstance(error, UnavailableError) and error.retry_after is not None:
            wait = max(wait, error.retry_after)
        self._n += 1
        return None if self._now() + wait > self._deadline else wait


def read_retry_after(text: str | None) -> float | None:
    """Return the seconds in a header Retry-After, a number or a date; None if there are none.

    Examples
    --------
    >>> from iln_stream.serving.client_calls import read_retry_after
    >>> read_retry_after("2"), read_retry_after("Wed, 21 Oct 2015 07:28:00 GMT")
    (2.0, 0.0)

    """
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    return max(0.0, (moment - dt.datetime.now(dt.UTC)).total_seconds())


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
    """Makes the calls of the API."""

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

    def predict_records(
        self, records: Iterable[Mapping[str, Any]], model: str | None
    ) -> Call[list[Prediction]]:
        """Predict several records, in their order."""
        items = [encoded(f"records[{i}]", dict(each)) for i, each in enumerate(records)]
        return (yield from self._predict(items, model, b"records"))

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

    def _predict(
        self, items: Sequence[bytes], model: str | None, field: bytes = b"events"
    ) -> Call[list[Prediction]]:
        tail = b"" if model is None else b',"model":' + encoded("model", model)
        found: list[Prediction] = []
        yield from self._in_batches("/predict", field, items, tail, True, read_predictions, found)
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


class Connection(NamedTuple):
    """Options of a connection."""

    url: str  # address of the server, such as `http://127.0.0.1:8080`
    token: str | None  # bearer token
    # file that holds it, read with each request, so that it may change
    token_file: Path | str | None
    timeout: float  # seconds to connect, and without a byte from the server
    tls_ca: Path | None  # certificates (PEM) that may sign the server's; None: those of the system
    # tls_certificate, tls_key: the client's certificate chain and its key (PEM), for mutual TLS
    tls_certificate: Path | None
    tls_key: Path | None

    def check(self) -> None:
        """Raise ClientError if the options do not fit together."""
        if not self.url.startswith(("http://", "https://")):
            raise ClientError(f"url = {self.url!r}: begin with http:// or https://")
        if self.token is not None and self.token_file is not None:
            raise ClientError("token and token_file: give one of them")
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ClientError("tls_certificate and tls_key: give both or none")
        tls = (self.tls_ca, self.tls_certificate)
        if self.url.startswith("http://") and tls != (None, None):
            raise ClientError(f"url = {self.url!r}: TLS needs https://")
        self.authorization()

    def options(self) -> dict[str, Any]:
        """Return the arguments of an httpx client."""
        self.check()
        return {
            "base_url": self.url,
            "timeout": self.timeout,
            "verify": self._context() if self.url.startswith("https://") else False,
            "headers": {"User-Agent": f"iln-stream/{__version__}", "Accept": "application/json"},
        }

    def arguments(self, request: Request) -> dict[str, Any]:
        """Return the arguments of httpx for a request."""
        headers = self.authorization()
        if request.content is not None:
            headers["Content-Type"] = "application/json"
        return {
            "method": request.method,
            "url": request.path,
            "content": request.content,
            "params": request.query or None,
            "headers": headers,
        }

    def authorization(self) -> dict[str, str]:
        """Return the header with the token; empty without one.

        Raises
        ------
        ClientError
            When the file can't be read, or the token is empty or not in ASCII.

        """
        token, named = self.token, "token"
        if self.token_file is not None:
            named = f"token_file = {str(self.token_file)!r}"
            try:
                token = Path(self.token_file).read_text("utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise ClientError(f"{named}: {getattr(error, 'strerror', error)}") from None
        if token is None:
            return {}
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise ClientError(f"{named}: must hold one token, of printable ASCII without spaces")
        return {"Authorization": f"Bearer {token}"}

    def failure(self, error: httpx.HTTPError) -> TransportError:
        """Return our error for one of httpx."""
        reason = str(error) or type(error).__name__
        if isinstance(error, httpx.TimeoutException):
            return TimedOutError(f"{self.url} did not answer within {self.timeout:g} s: {reason}")
        return TransportError(f"{self.url} can't be reached: {reason}")

    def _context(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self.tls_ca)
        except OSError as error:
            raise ClientError(f"tls_ca = {str(self.tls_ca)!r}: {error}") from None
        if self.tls_certificate is not None and self.tls_key is not None:
            try:
                context.load_cert_chain(self.tls_certificate, self.tls_key)
            except OSError as error:
                raise ClientError(
                    f"tls_certificate = {str(self.tls_certificate)!r}, tls_key = "
                    f"{str(self.tls_key)!r}: {error}"
                ) from None
        return context


def reply_of(response: httpx.Response) -> Reply:
    """Return what the calls read of an answer."""
    return Reply(response.status_code, response.content, response.headers.get("Retry-After"))
