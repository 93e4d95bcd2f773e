"""Middleware that every request passes: who may send requests, and how many."""

import hashlib
import hmac
import ipaddress
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iln_stream.errors import names_one_of
from iln_stream.serving.metrics import ApiMetrics
from iln_stream.settings import SettingsError


class HttpError(Exception):
    """A request that is not carried out.

    The reason, one or two words, is a value of the label `reason` of `iln_api_refusals_total`; the
    message says what is wrong, and the remedy.
    """

    def __init__(
        self, status: int, reason: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.headers = dict(headers or {})

    def answer(self) -> Response:
        """Return the answer."""
        return error_answer(self.status, str(self), self.headers)


def retry(seconds: float) -> dict[str, str]:
    """Return the header that says when to try again."""
    return {"Retry-After": str(max(1, round(seconds)))}


def error_body(message: str) -> bytes:
    """Return the body that all errors have."""
    text = json.dumps({"error": message}, ensure_ascii=False) + "\n"
    return text.encode(errors="backslashreplace")


def error_answer(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer of an error."""
    return Response(error_body(message), status, headers, media_type="application/json")


class RateLimit:
    """A token bucket per client: each request takes a token, and `rate` tokens come per second.

    A client is an IPv4 address, or the 64-bit prefix of an IPv6 address.

    Parameters
    ----------
    rate
        Tokens per second.
    burst
        Tokens in a full bucket.
    now
        Returns monotonic seconds.
    most_clients
        Number of buckets to keep; beyond it, the bucket that was unused for longest is dropped, and
        is full when its client returns.

    """

    def __init__(
        self,
        rate: float,
        burst: int,
        now: Callable[[], float] = time.monotonic,
        most_clients: int = 10_000,
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._now = now
        self._most_clients = most_clients
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __call__(self, scope: Scope) -> None:
        """Take a token; raise an HttpError if there is none."""
        client = _client(scope)
        now = self._now()
        tokens, then = self._buckets.pop(client, (float(self._burst), now))
        tokens = min(tokens + (now - then) * self._rate, self._burst)
        allowed = tokens >= 1.0
        self._buckets[client] = (tokens - 1.0 if allowed else tokens, now)
        if len(self._buckets) > self._most_clients:
            self._buckets.popitem(last=False)
        if not allowed:
            raise HttpError(
                429,
                "rate",
                f"rate: more than {self._rate:g} requests per second from this client; send "
                "several events in one request",
                retry((1.0 - tokens) / self._rate),
            )


def _client(scope: Scope) -> str:
    address = scope["client"][0] if scope.get("client") else ""
    try:
        if ":" in address:
            return str(ipaddress.IPv6Network((address.partition("%")[0], 64), strict=False))
    except ValueError:  # a proxy may name clients in another way
        pass
    return str(address)


class BodyReader:
    """Reads JSON bodies of limited size; `LimitedProtocol` limits their time."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive) -> bytes:
        """Return the body; raise an HttpError of 411, 413 or 415."""
        headers = Headers(scope=scope)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise HttpError(415, "content type", "Content-Type: expected application/json")
        length = headers.get("content-length")
        if length is None and "transfer-encoding" not in headers:
            raise HttpError(411, "no length", "Content-Length: missing; send it, or send chunks")
        if length is not None and int(length) > self._most_bytes:
            raise self._too_large()
        chunks = []
        size = 0
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise HttpError(499, "aborted", "the client left, or was too slow")
            chunks.append(message["body"])
            size += len(chunks[-1])
            if size > self._most_bytes:
                raise self._too_large()
            more = message.get("more_body", False)
        return b"".join(chunks)

    def _too_large(self) -> HttpError:
        return HttpError(
            413,
            "body size",
            f"body: more than {self._most_bytes:,} bytes; send fewer events in a request",
        )


log = logging.getLogger(__name__)

SHORTEST = 16
"""Characters of a token; shorter ones can be guessed."""


class Tokens:
    """Bearer tokens in a file, one a line.

    Raises
    ------
    SettingsError
        When the file can't be read, or has no token or one that is too short.

    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read: tuple[int, int, int] | None = None
        self._digests: tuple[bytes, ...] = ()
        self._load()

    def refresh(self) -> None:
        """Read the file again if it has changed; keep the former tokens if it is not valid."""
        try:
            self._load()
        except SettingsError as error:
            log.warning("%s; the former tokens stay valid", error)

    def __call__(self, scope: Scope) -> None:
        """Raise an HttpError if the request does not have a token of the file."""
        scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        found = _digest(token.encode("latin-1").strip())
        # Digests have one length, and all are compared: time does not depend on the token.
        matches = [hmac.compare_digest(found, each) for each in self._digests]
        if scheme.lower() != "bearer" or not any(matches):
            raise HttpError(
                401,
                "token",
                "Authorization: expected Bearer and a token of token_file",
                {"WWW-Authenticate": "Bearer"},
            )

    def _load(self) -> None:
        try:
            status = self._file.stat()
            version = (status.st_mtime_ns, status.st_size, status.st_ino)
            if version == self._read:
                return
            lines = self._file.read_bytes().split()
        except OSError as error:
            raise SettingsError(f"token_file = {str(self._file)!r}: {error.strerror}") from None
        self._read = version
        if not lines:
            raise SettingsError(f"token_file = {str(self._file)!r}: has no token")
        if any(len(line) < SHORTEST for line in lines):
            raise SettingsError(
                f"token_file = {str(self._file)!r}: a token has fewer than {SHORTEST} characters; "
                "`openssl rand -hex 32` makes a good one"
            )
        self._digests = tuple(_digest(line) for line in lines)


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


class KnownHost:
    """Refuses requests for other hosts than this one.

    Without a token, a web page that a browser on this machine shows could send requests here, under
    a name of its own that it lets resolve to this machine.
    """

    def __init__(self, hosts: Iterable[str]) -> None:
        self._hosts = frozenset(hosts)

    def __call__(self, scope: Scope) -> None:
        """Raise an HttpError if the header Host names another host."""
        if not names_one_of(Headers(scope=scope).get("host", ""), self._hosts):
            raise HttpError(
                421, "host", "Host: not a name of this host; set token_file to allow other names"
            )


Check = Callable[[Scope], None]
"""Raises an HttpError if a request may not pass."""

PROBES = frozenset({"/live", "/ready"})
"""Paths that are answered without checks: probes send no token."""


class Gate:
    """Refuses requests that fail a check; counts and times all.

    The checks are called in turn with each request; `app` gets those that pass, at most `most` of
    them at the same time.
    """

    def __init__(
        self, app: ASGIApp, checks: Sequence[Check], most: int, metrics: ApiMetrics
    ) -> None:
        self._app = app
        self._checks = tuple(checks)
        self._most, self._n = most, 0  # requests in progress
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = perf_counter()
        status = 500  # of an exception, which the server answers

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            if scope["path"] in PROBES:
                await self._app(scope, receive, observed)
            else:
                try:
                    for check in self._checks:
                        check(scope)
                    if self._n >= self._most:
                        raise HttpError(
                            503,
                            "concurrency",
                            f"{self._most} requests are in progress, as many as allowed; try again",
                            retry(1.0),
                        )
                except HttpError as refusal:
                    self._metrics.refused(refusal.reason)
                    await refusal.answer()(scope, receive, observed)
                    return
                self._n += 1
                try:
                    await self._app(scope, receive, observed)
                finally:
                    self._n -= 1
        finally:
            self._metrics.answered(scope["path"], status, perf_counter() - begun)
