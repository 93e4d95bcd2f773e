"""Sends requests at a rate, in a process of its own.

Usage: python -m benchmarks.api.load URL PATH RATE SECONDS

Open loop: a request is due at its time, whether earlier ones were answered or not, and its latency
counts from then; a server that stalls is not asked less.
"""

import asyncio
import json
import random
import resource
import sys
from collections import deque
from time import perf_counter
from urllib.parse import urlsplit

import uvloop

CONNECTIONS = 16
INPUTS = 10


def bodies(path: str, count: int = 256) -> list[bytes]:
    """Return whole requests with random inputs."""
    draw = random.Random(7)
    made = []
    for _ in range(count):
        x = {f"x{j}": draw.uniform(-1, 1) for j in range(INPUTS)}
        body = json.dumps({"x": x}).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        made.append(head.encode() + body)
    return made


class Client(asyncio.Protocol):
    """A connection that is kept alive, with one request at a time."""

    def __init__(self, free: "deque[Client]", latencies: list[float], errors: list[bytes]) -> None:
        self._free, self._latencies, self._errors = free, latencies, errors
        self._due = 0.0
        self._waiting: deque[tuple[float, bytes]] = deque()
        self._found = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._free.append(self)

    def send(self, due: float, request: bytes) -> None:
        self._due = due
        self._transport.write(request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self._found += data
        head, end, body = self._found.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        self._latencies.append(perf_counter() - self._due)
        if head[9:12] not in (b"200", b"201"):
            self._errors.append(self._found)
        self._found = b""
        self._free.append(self)


async def send(url: str, path: str, rate: float, seconds: float) -> dict[str, object]:
    """Send requests at the rate; return latencies in seconds, sorted, and other figures."""
    place = urlsplit(url)
    free: deque[Client] = deque()
    latencies: list[float] = []
    errors: list[bytes] = []
    loop = asyncio.get_running_loop()
    for _ in range(CONNECTIONS):
        await loop.create_connection(
            lambda: Client(free, latencies, errors), place.hostname, place.port
        )
    requests = bodies(path)
    begun = perf_counter()
    count = int(rate * seconds)
    late = 0
    for i in range(count):
        due = begun + i / rate
        while (wait := due - perf_counter()) > 0:
            await asyncio.sleep(wait)
        while not free:
            late += 1
            await asyncio.sleep(0.0002)
        free.popleft().send(due, requests[i % len(requests)])
    while len(free) < CONNECTIONS:
        await asyncio.sleep(0.01)
    took = perf_counter() - begun
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "latencies": sorted(latencies),
        "rate": count / took,
        "errors": len(errors),
        "first_error": errors[0].decode()[-200:] if errors else None,
        "waits_for_a_connection": late,
        "cpu": (used.ru_utime + used.ru_stime) / took,
    }


if __name__ == "__main__":
    url, path, rate, seconds = sys.argv[1:]
    print(json.dumps(uvloop.run(send(url, path, float(rate), float(seconds)))))
