"""The service's answers over HTTP."""

import urllib.error
import urllib.request

import pytest
from prometheus_client import CollectorRegistry, Gauge

from iln_stream.service.http import HttpServer

# Whatever proxy the environment names, it is not asked for an address on this machine.
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
    """Prometheus finds the registry's metrics."""
    status, page = get(f"{server.url}/metrics")
    assert status == 200
    assert "some_gauge 4.0" in page


def test_ready(server, reasons):
    """A probe learns whether events can be learned, and a person why not."""
    assert get(f"{server.url}/ready") == (200, "ready\n")
    reasons += ["events, partition 0: the broker is away"]
    assert get(f"{server.url}/ready") == (503, "events, partition 0: the broker is away\n")


def test_elsewhere(server):
    """What isn't there says what is."""
    assert get(server.url) == (404, "there are /metrics and /ready\n")
