"""Limits on requests: their rate per client, their number at a time, their bodies."""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import Receive, Scope

from iln_stream.api.http_error import HttpError, retry
from iln_stream.api.scope import header


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


class Concurrency:
    """Counts requests in progress.

    Parameters
    ----------
    most
        Number of requests at the same time.

    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.n = 0

    def enter(self) -> None:
        """Count a request; raise an HttpError if there are too many."""
        if self.n >= self._most:
            raise HttpError(
                503,
                "concurrency",
                f"{self._most} requests are in progress, as many as allowed; try again",
                retry(1.0),
            )
        self.n += 1

    def leave(self) -> None:
        """Count a request that is answered."""
        self.n -= 1


class BodyReader:
    """Reads JSON bodies of limited size; `LimitedProtocol` limits their time.

    Parameters
    ----------
    most_bytes
        Largest body.

    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive) -> bytes:
        """Return the body; raise an HttpError of 411, 413 or 415."""
        kind = (header(scope, b"content-type") or b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":
            raise HttpError(415, "content type", "Content-Type: expected application/json")
        length = header(scope, b"content-length")
        if length is None and header(scope, b"transfer-encoding") is None:
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
