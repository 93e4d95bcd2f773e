"""`HttpServer`: /metrics, /ready, and further routes."""

import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic

import pytest
from prometheus_client import CollectorRegistry, Gauge
from support.web import DIRECT, ask

from iln_stream.service.http import HttpServer


def echo(environ, start):
    """Answer with the request's body."""
    start("200 OK", [])
    return [environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))]


@pytest.fixture
def reasons() -> list[str]:
    """Why events can't be learned."""
    return []


@pytest.fixture
def server(reasons: list[str]) -> Iterator[HttpServer]:
    """A server of a gauge, with a further route."""
    registry = CollectorRegistry()
    Gauge("some_gauge", "For the test.", registry=registry).set(4)
    running = HttpServer("127.0.0.1", 0, registry, lambda: reasons, {"/echo": echo})
    yield running
    running.close()


def test_metrics_and_readiness(server: HttpServer, reasons: list[str]) -> None:
    """/metrics serves the registry; /ready answers 503 with the reasons why events can't be
    learned."""
    status, page = ask(f"{server.url}/metrics")
    assert status == 200
    assert "some_gauge 4.0" in page
    assert ask(f"{server.url}/ready") == (200, "ready\n")
    reasons += ["events, partition 0: the broker is unreachable, or the topic was deleted"]
    assert ask(f"{server.url}/ready") == (503, f"{reasons[-1]}\n")


def test_routes(server: HttpServer) -> None:
    """A route gets the request's body; other paths answer 404 and name those that exist, whatever
    the method."""
    assert ask(f"{server.url}/echo", "POST", b"hello") == (200, "hello")
    found = 404, "try /metrics or /ready or /health or /echo\n"
    assert ask(server.url) == ask(server.url, "POST") == found


@pytest.mark.parametrize("path", ["/metrics", "/ready"])
def test_other_methods(path: str, server: HttpServer) -> None:
    """HEAD answers with GET's status and type, without a text; others are refused, with these
    two."""
    with (
        DIRECT.open(server.url + path, timeout=10) as full,
        DIRECT.open(urllib.request.Request(server.url + path, method="HEAD")) as head,
    ):
        assert (head.status, head.read()) == (200, b"")
        assert head.headers["Content-Type"] == full.headers["Content-Type"]
    with pytest.raises(urllib.error.HTTPError, match="405") as refused:
        DIRECT.open(server.url + path, b"{}", timeout=10)
    assert refused.value.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", ["/ready", "predict"])
def test_invalid_routes(path: str) -> None:
    """A route can't replace /ready or /metrics, and its path begins with a slash."""
    with pytest.raises(ValueError, match=f"routes: '{path}' must begin with / and differ from"):
        HttpServer("127.0.0.1", 0, CollectorRegistry(), list, {path: echo})


def connected(server: HttpServer) -> socket.socket:
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


@pytest.mark.thorough
def test_idle_connections_are_limited(server: HttpServer) -> None:
    """Connections that send nothing take no more threads and descriptors than a fixed number, and
    do not keep others from being answered: the oldest is closed."""
    before = threading.active_count()
    idle = [connected(server) for _ in range(100)]
    try:
        assert ask(f"{server.url}/health") == (200, "alive\n")
        assert idle[0].recv(1) == b""
        assert threading.active_count() - before <= 64 + 2
    finally:
        for each in idle:
            each.close()


def test_a_slow_request_ends(server: HttpServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection ends after a while, whether its client sends nothing or a byte now and then."""
    monkeypatch.setattr("iln_stream.service.http._CONNECTION_SECONDS", 0.5)
    with connected(server) as idle, connected(server) as slow:
        slow.sendall(b"GET /health HTTP/1.1\r\nA: ")
        slow.settimeout(0.1)
        began, answer = monotonic(), None
        while answer is None and monotonic() - began < 10:
            with suppress(TimeoutError):
                slow.sendall(b"a")
                answer = slow.recv(1000)
        assert idle.recv(1) == b""
        assert answer is not None
    assert ask(f"{server.url}/health") == (200, "alive\n")
