"""`HttpServer`: /metrics, /ready, and further routes."""

import urllib.error
import urllib.request
from collections.abc import Iterator

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
