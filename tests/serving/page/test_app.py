"""The server of the page: files, headers, and the stream of changes."""

import asyncio
import json
import re
from contextlib import contextmanager
from importlib import resources
from threading import Thread

import httpx
import pytest
from support.live_answer import live

from iln_stream.serving.page import Board, Poller
from iln_stream.serving.page_server import PageServer, stream_of_messages
from iln_stream.serving.settings import PageSettings

STATIC = resources.files("iln_stream.serving") / "static"


@contextmanager
def served(**settings):
    """Serve a page of a learner that does not run; yield a client."""
    server = PageServer(PageSettings(learner="http://127.0.0.1:1", port=0, **settings))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        with httpx.Client(base_url=server.url, trust_env=False, timeout=30) as client:
            yield client
    finally:
        server.stop()
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def client():
    """A client of a running server."""
    with served() as made:
        yield made


def test_all_that_the_page_loads_is_there(client):
    """Each file that another one names is served, with its type; there are no others."""
    types = {"css": "text/css", "js": "text/javascript", "svg": "image/svg", "html": "text/html"}
    found, waiting = set(), {"/"}
    while waiting:
        path = waiting.pop()
        found.add(path)
        answer = client.get(path)
        assert answer.status_code == 200, path
        kind = path.rpartition(".")[2] if "." in path else "html"
        assert answer.headers["content-type"].startswith(types[kind])
        # Relative, so that a proxy can serve the page below another path.
        named = re.findall(r'(?:src|href|from) ?=? ?"(?:\./)?([\w./]+)"', answer.text)
        waiting |= {f"/{name}" for name in named} - found
    assert found == {"/", *(f"/{each.name}" for each in STATIC.iterdir())} - {"/index.html"}


def test_nothing_comes_from_elsewhere(client):
    """The policy allows for the page's own files alone, and no file names another host."""
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert set(re.findall(r"-src ('[^']*'|\S+)", policy)) == {"'none'", "'self'"}
    for each in STATIC.iterdir():
        addresses = set(re.findall(r"https?://[^\s\"'<]+", each.read_text()))
        assert addresses <= {"http://www.w3.org/2000/svg"}


def test_it_is_small():
    """All files together have fewer than 100 KB as they are: half of the page's bound."""
    assert sum(len(each.read_bytes()) for each in STATIC.iterdir()) < 100_000


def test_a_browser_that_has_a_file_gets_no_content(client):
    """A file is asked for each time, and sent when it has changed."""
    first = client.get("/style.css")
    again = client.get("/style.css", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert first.headers["cache-control"] == "no-cache"
    assert first.headers["content-encoding"] == "gzip"
    plain = client.get("/style.css", headers={"Accept-Encoding": "identity"})
    assert plain.text == first.text == (STATIC / "style.css").read_text()
    assert "content-encoding" not in plain.headers


def test_other_requests_are_refused(client):
    """No other path, method or name of the host is answered."""
    assert client.get("/secret").status_code == 404
    assert client.post("/").status_code == 405
    refused = client.get("/", headers={"Host": "evil.example"})
    assert refused.status_code == 421
    assert client.get("/", headers={"Host": "localhost:8090"}).status_code == 200
    for answer in (refused, client.get("/secret")):
        assert answer.headers["x-content-type-options"] == "nosniff"


def first_message(lines):
    """Return the first message of a stream; its iterator must live on, or the stream is closed."""
    return json.loads(next(line for line in lines if line.startswith("data: {"))[6:])


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_the_stream_begins_at_once(client, encoding):
    """A browser is told the state when it connects, compressed or not: here, that none runs."""
    with client.stream("GET", "/events", headers={"Accept-Encoding": encoding}) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert stream.headers["cache-control"] == "no-store"
        assert first_message(stream.iter_lines())["page"]["state"] in ("connecting", "gone")


def test_too_many_browsers_are_refused():
    """Beyond `browsers`, a stream is refused; one that is closed makes room."""
    with served(browsers=1) as client:
        with client.stream("GET", "/events") as stream:
            lines = stream.iter_lines()
            assert not first_message(lines)["models"]
            assert client.get("/events").status_code == 503
        for _ in range(1000):
            with client.stream("GET", "/events") as stream:
                if stream.status_code == 200:
                    break
        assert stream.status_code == 200


def test_nothing_waits_for_a_slow_browser():
    """While a message is not taken, no other is made; the next has all that is new by then."""

    async def messages():
        board = Board("http://learner", 0.0)
        poller = Poller("http://learner", board, 1.0)
        stream = stream_of_messages(board, poller, lambda: False)
        board.update(live(8), 1.0)
        assert (await anext(stream)).startswith(b"retry")
        assert poller.n_browsers == 1
        found = [await anext(stream)]
        for n in range(9, 200):
            board.update(live(n), float(n))
        found.append(await anext(stream))
        await stream.aclose()
        assert poller.n_browsers == 0
        return [json.loads(each.removeprefix(b"data: ")) for each in found]

    first, second = asyncio.run(messages())
    assert first["whole"]
    (model,) = second["models"].values()
    assert [step["serial"] for step in model["steps"]] == list(range(9, 200))
    assert model["metrics"]["iln_events_total"] == 199
