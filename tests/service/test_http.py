"""`HttpServer`: /metrics, /ready, and further routes."""

import json
import urllib.error
import urllib.request

import pytest
from prometheus_client import CollectorRegistry, Gauge

from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.records import Event, MalformedError, decode, one_hot
from iln_stream.service.http import HttpServer

# Requests to this machine bypass any proxy in the environment.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture
def reasons():
    return []


@pytest.fixture
def serve(reasons):
    """Return a function that starts a server with these routes."""
    started = []

    def start(routes=None):
        registry = CollectorRegistry()
        Gauge("some_gauge", "For the test.", registry=registry).set(4)
        started.append(HttpServer("127.0.0.1", 0, registry, lambda: reasons, routes))
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture
def server(serve):
    return serve()


def ask(url, method="GET", body=None):
    """Return status, text and headers of the answer."""
    try:
        with DIRECT.open(urllib.request.Request(url, body, method=method), timeout=10) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers


def get(url):
    return ask(url)[:2]


def predictions_of(learner):
    """Return a route that predicts the posted event, as docs/architecture.md describes it."""

    def answer(environ, start):
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        try:
            event = decode(body)
            assert isinstance(event, Event)
            status, result = "200 OK", {"y_pred": learner.predict_one(one_hot(event.x))}
        except MalformedError as error:
            status, result = "400 Bad Request", {"error": str(error)}
        start(status, [("Content-Type", "application/json")])
        return [json.dumps(result).encode()]

    return answer


def test_metrics(server):
    """/metrics serves the registry's metrics."""
    status, page = get(f"{server.url}/metrics")
    assert status == 200
    assert "some_gauge 4.0" in page


def test_ready(server, reasons):
    """/ready answers 200 if events can be learned, else 503 with the reasons."""
    assert get(f"{server.url}/ready") == (200, "ready\n")
    reasons += ["events, partition 0: the broker is unreachable, or the topic was deleted"]
    assert get(f"{server.url}/ready") == (503, f"{reasons[-1]}\n")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_elsewhere(method, server):
    """Other paths answer 404 and name those that exist, whatever the method."""
    assert ask(server.url, method)[:2] == (404, "try /metrics or /ready or /health\n")


@pytest.mark.parametrize("path", ["/metrics", "/ready"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_other_methods(path, method, server):
    """/metrics and /ready refuse other methods than GET and HEAD, and name these two."""
    status, _, headers = ask(server.url + path, method)
    assert (status, headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("path", ["/metrics", "/ready"])
def test_head(path, server):
    """HEAD answers with the status and type that GET has, and with no text."""
    status, _, headers = ask(server.url + path)
    found = ask(server.url + path, "HEAD")
    assert found[:2] == (status, "") == (200, "")
    assert found[2]["Content-Type"] == headers["Content-Type"]
    assert "Content-Length" not in found[2]


def test_a_route_that_predicts(serve):
    """A route gets the request's body, and may call a learner from the server's thread."""
    learner = InfiniteLayerRegressor(seed=1)
    for n in range(20):
        learner.learn_one({"a": n % 4, "sky=clear": n % 2}, 3.0 * (n % 4))
    server = serve({"/predict": predictions_of(learner)})
    url = f"{server.url}/predict"
    status, text, _ = ask(url, "POST", b'{"x": {"a": 3, "sky": "clear"}}')
    expected = learner.predict_one({"a": 3.0, "sky=clear": 1.0})
    assert (status, json.loads(text)) == (200, {"y_pred": expected})
    status, text, _ = ask(url, "POST", b'{"x": {"a": NaN}}')
    assert status == 400
    assert "x.a: expected a finite number" in text
    assert get(server.url) == (404, "try /metrics or /ready or /health or /predict\n")
    assert get(f"{server.url}/ready") == (200, "ready\n")


@pytest.mark.parametrize("path", ["/ready", "predict"])
def test_invalid_routes(path, serve):
    """A route can't replace /ready or /metrics, and its path begins with a slash."""
    with pytest.raises(ValueError, match=f"routes: '{path}' must begin with / and differ from"):
        serve({path: None})
