"""`HttpServer`: /metrics and /ready."""

import urllib.error
import urllib.request

import pytest
from prometheus_client import CollectorRegistry, Gauge

from iln_stream.service.http import HttpServer

# Requests to this machine bypass any proxy in the environment.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture
def reasons():
    return []


@pytest.fixture
def server(reasons):
    registry = CollectorRegistry()
    Gauge("some_gauge", "For the test.", registry=registry).set(4)
    running = HttpServer("127.0.0.1", 0, registry, lambda: reasons)
    yield running
    running.close()


def get(url):
    try:
        with DIRECT.open(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_metrics(server):
    """/metrics serves the registry's metrics."""
    status, page = get(f"{server.url}/metrics")
    assert status == 200
    assert "some_gauge 4.0" in page


def test_ready(server, reasons):
    """/ready answers 200 if events can be learned, else 503 with the reasons."""
    assert get(f"{server.url}/ready") == (200, "ready\n")
    reasons += ["events, partition 0: the broker is unreachable"]
    assert get(f"{server.url}/ready") == (503, "events, partition 0: the broker is unreachable\n")


def test_elsewhere(server):
    """Other paths answer 404 and name the two that exist."""
    assert get(server.url) == (404, "try /metrics or /ready\n")
