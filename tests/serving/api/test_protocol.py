"""Clients that are slow, send no HTTP, or leave."""

import json
import socket
import struct
import threading
from contextlib import suppress
from http.client import HTTPResponse

import pytest
from support.running_api import RunningApi, eventually, publish

POST = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    """A server with short limits."""
    folder = tmp_path_factory.mktemp("hasty")
    publish(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("iln_stream.serving.server.HEADER_SECONDS", 0.3)
        patch.setattr("iln_stream.serving.server.BODY_SECONDS", 0.3)
        with RunningApi(folder) as api:
            yield api.ready()


def rest(connection):
    """Read until the server closes the connection."""
    found = b""
    while part := connection.recv(65536):
        found += part
    return found


UPGRADE = b"Connection: Upgrade\r\nUpgrade: h2c\r\n"


@pytest.mark.parametrize(
    ("sent", "status", "refusal"),
    [
        (b"GET /live HTTP/1.1\r\nHost: loc", b"408", "slow headers"),
        (b"G", b"408", "slow headers"),
        (POST % b"/events", b"408", "slow headers"),
        (POST % b"/predict" + b'Content-Length: 9\r\n\r\n{"x"', b"408", "slow body"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"400", None),
        (b"HELLO\r\n\r\n", b"400", None),
        (b"GET / HTTP/9.9\r\n\r\n", b"400", None),
        (b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400", None),
        (POST % b"/events" + b"Content-Length: -1\r\n\r\n", b"400", None),
        (POST % b"/events" + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", b"400", None),
        (POST % b"/events" + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"400", None),
        (POST % b"/events" + b"A: " + b"b" * 100_000 + b"\r\n\r\n", b"431", None),
        (POST % b"/events" + b"A: b\r\n" * 30_000, b"431", None),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_no_request(hasty, sent, status, refusal):
    """Headers and bodies that do not end in time, what is not HTTP, and headers that are large,
    complete or not, get an error in the form of all errors, and the connection is closed."""
    kind = ("iln_api_refusals_total", refusal)
    before = hasty.metrics().get(kind, 0)
    with hasty.connect() as connection:
        connection.sendall(sent)
        answer = rest(connection)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 " + status)
    assert list(json.loads(body)) == ["error"]
    assert refusal is None or hasty.metrics()[kind] == before + 1


def test_headers_that_trickle(hasty):
    """Bytes that arrive now and then do not prolong the time."""
    with hasty.connect() as connection:
        connection.sendall(b"GET /live HTTP/1.1\r\n")
        connection.settimeout(0.05)
        answer = b""
        while not answer:
            connection.sendall(b"A: b\r\n")
            with suppress(TimeoutError):
                answer = connection.recv(1000)
        assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_silent_connection(hasty):
    """A connection that sends nothing is closed."""
    with hasty.connect() as connection:
        assert rest(connection) == b""


def test_a_connection_is_kept_alive(hasty):
    """The limits hold for a request, not for the connection."""
    with hasty.connect() as connection:
        for _ in range(5):
            connection.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = HTTPResponse(connection)  # its head and body may arrive apart
            answer.begin()
            assert answer.status == 200
            answer.read()
            connection.settimeout(0.2)
            with pytest.raises(TimeoutError):
                connection.recv(1)
            connection.settimeout(30)


@pytest.mark.parametrize("length", [b"Content-Length: 41", b"Transfer-Encoding: chunked"])
def test_upgrade_with_a_body(hasty, length):
    """It is refused, and no byte of its body is read as a request."""
    body = b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with hasty.connect() as connection:
        connection.sendall(POST % b"/feedback" + UPGRADE + length + b"\r\n\r\n")
        answer = connection.recv(12)
        connection.sendall(body)
        answer += rest(connection)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("length", [b"", b"Content-Length: 0\r\n"])
def test_upgrade_without_a_body(hasty, length):
    """It is answered as if it did not ask for another protocol; nothing after it is read."""
    request = b"GET /live HTTP/1.1\r\nHost: localhost\r\n"
    with hasty.connect() as connection:
        connection.sendall(request + UPGRADE + length + b"\r\n" + request + b"\r\n")
        answer = rest(connection)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("path", [b"/predict", b"/events"])
def test_pipelined_requests(hasty, path):
    """Many small requests that arrive together are each answered, in order: their headers are
    counted for each request, not for what arrives at a time."""
    n, body = 1_000, b'{"x": {"a": 1}, "id": "%05d"}'
    requests = [
        POST % path + b"Content-Length: %d\r\n\r\n" % len(body % k) + body % k for k in range(n)
    ]
    with hasty.connect() as connection:
        sender = threading.Thread(target=connection.sendall, args=(b"".join(requests),))
        sender.start()
        answers = connection.makefile("rb")
        statuses = []
        for _ in range(n):
            statuses.append(answers.readline().split(b" ")[1])
            head = dict(line.lower().split(b": ", 1) for line in iter(answers.readline, b"\r\n"))
            answers.read(int(head[b"content-length"]))
        sender.join()
    assert set(statuses) <= {b"200", b"201"}


def forgotten(api):
    """Wait until the server has only our own connection."""
    eventually(lambda: api.server.n_requests == 0 and api.server.n_connections <= 1)


def test_clients_that_leave(hasty):
    """Requests whose client left leave nothing behind."""
    body = b'{"x": {"a": 1}}'
    whole = POST % b"/events" + b"Content-Length: %d\r\n\r\n" % len(body) + body
    for cut in (0, 1, 30, len(whole) - 5, len(whole)):
        for _ in range(10):
            connection = hasty.connect()
            # Closing resets the connection.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(whole[:cut])
            connection.close()
    forgotten(hasty)


def test_a_client_that_does_not_read(hasty):
    """A client that sends requests without reading the answers is disconnected."""
    body = json.dumps({"events": [{"x": {}}] * 1000}).encode()
    request = POST % b"/predict" + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", hasty.port))
        connection.settimeout(30)
        with pytest.raises(OSError, match=r"reset|pipe"):
            connection.sendall(request * 10_000)
    forgotten(hasty)
