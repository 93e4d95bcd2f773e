"""Limits on requests: on a real server, and of the token bucket with a clock of its own."""

import json
import threading
import time
from contextlib import suppress

import pytest
from support.running_api import eventually, publish

from iln_stream.serving.gate import HttpError, RateLimit


def client(address):
    return {"client": (address, 1)}


def passes(limit, scope):
    with suppress(HttpError):
        limit(scope)
        return True
    return False


def test_a_bucket_refills():
    """After a burst, requests pass at the rate; Retry-After says when the next one does."""
    now = [0.0]
    limit = RateLimit(0.5, 3, lambda: now[0])
    assert [passes(limit, client("10.0.0.1")) for _ in range(4)] == [True, True, True, False]
    with pytest.raises(HttpError) as refused:
        limit(client("10.0.0.1"))
    assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "2"})
    now[0] = 2.0
    assert [passes(limit, client("10.0.0.1")) for _ in range(2)] == [True, False]
    now[0] = 1000.0  # the bucket does not grow above its size
    assert [passes(limit, client("10.0.0.1")) for _ in range(4)] == [True, True, True, False]


def test_clients_have_buckets_of_their_own():
    """One client does not use up another's requests; an IPv6 network of /64 is one client."""
    limit = RateLimit(1.0, 1, lambda: 0.0)
    assert passes(limit, client("10.0.0.1"))
    assert passes(limit, client("10.0.0.2"))
    assert passes(limit, client("2001:db8::1"))
    assert not passes(limit, client("2001:db8::2"))
    assert passes(limit, client("2001:db8:0:1::1"))
    assert passes(limit, client("fe80::1%eth0"))
    assert passes(limit, client("unknown:1"))


def test_clients_behind_a_proxy(start, monkeypatch):
    """Only a trusted proxy names the clients; others can't choose their own name."""
    path = "/openapi.json"
    for trusted, expected in ((None, [200, 429]), ("127.0.0.1", [200, 200])):
        if trusted is not None:
            monkeypatch.setenv("FORWARDED_ALLOW_IPS", trusted)
        api = start(rate=0.01)
        found = [
            api.http.get(path, headers={"X-Forwarded-For": f"192.0.2.{n}"}).status_code
            for n in range(2)
        ]
        assert found == expected


def test_buckets_do_not_fill_memory():
    """The number of buckets is bounded: the one unused for longest goes first."""
    limit = RateLimit(1.0, 1, lambda: 0.0, most_clients=2)
    assert passes(limit, client("a"))
    assert passes(limit, client("b"))
    assert not passes(limit, client("a"))
    assert passes(limit, client("c"))
    assert not passes(limit, client("a"))
    assert passes(limit, client("b"))


def test_rate(start):
    """Beyond the rate, requests get a 429 with Retry-After; probes still pass."""
    api = start(rate=0.01)
    statuses = [api.http.get("/openapi.json").status_code for _ in range(2)]
    assert statuses == [200, 429]
    assert int(api.http.get("/openapi.json").headers["Retry-After"]) > 1
    assert api.http.get("/live").status_code == 200


def test_largest_request(start, tmp_path):
    """A body of the largest size and a batch of the largest number pass; one more byte, announced
    or not, or one more event is a 413."""
    publish(tmp_path)
    api = start(body_bytes=1000, batch_events=3).ready()
    body = b'{"x": {}}'
    assert api.post_text("/predict", body.ljust(1000)).status_code == 200
    for answer in (
        api.post_text("/predict", body.ljust(1001)),
        api.http.post(
            "/predict",
            content=iter([body.ljust(600), b" " * 401]),
            headers={"Content-Type": "application/json"},
        ),
    ):
        assert (answer.status_code, "1,000 bytes" in answer.json()["error"]) == (413, True)
    assert api.metrics()["iln_api_refusals_total", "body size"] == 2
    for path in ("/predict", "/events"):
        assert api.post(path, {"events": [{"x": {}}] * 3}).status_code < 300
        answer = api.post(path, {"events": [{"x": {}}] * 4})
        assert (answer.status_code, "at most 3" in answer.json()["error"]) == (413, True)


def test_an_endless_body_is_cut_off(start, monkeypatch):
    """A client that goes on sending a body after its refusal is disconnected."""
    monkeypatch.setattr("iln_stream.serving.server.BODY_SECONDS", 0.5)
    api = start(body_bytes=1000)
    with api.connect() as connection:
        connection.sendall(
            b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        with pytest.raises(OSError, match=r"reset|pipe"):
            send_for_ever(connection, b"10000\r\n" + b" " * 0x10000 + b"\r\n")
    assert api.http.get("/live").status_code == 200


def send_for_ever(connection, data):
    while True:
        connection.sendall(data)


def test_concurrent_requests(start):
    """Beyond the number of requests in progress, further ones get a 503 at once."""
    api = start(concurrent_requests=2)
    head = (
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 2\r\n\r\n"
    )
    with api.connect() as one, api.connect() as two:
        one.sendall(head)
        two.sendall(head)
        eventually(lambda: api.http.get("/model").status_code == 503
                   and "in progress" in api.http.get("/model").text)  # fmt: skip
        assert api.http.get("/model").headers["Retry-After"] == "1"
        assert api.http.get("/live").status_code == 200
    eventually(lambda: "in progress" not in api.http.get("/model").text)


def test_connections(start, monkeypatch):
    """Beyond the number of connections, further ones are refused."""
    monkeypatch.setattr("iln_stream.serving.server.CONNECTIONS", 3)
    api = start()
    with api.connect(), api.connect(), api.connect(), api.connect() as fourth:
        assert fourth.recv(1000).startswith(b"HTTP/1.1 503 ")
        assert fourth.recv(1000) == b""
    eventually(lambda: answers(api))


def answers(api):
    try:
        return api.http.get("/live").status_code == 200
    except Exception:
        return False


def test_only_json(api):
    """Another type is a 415: a form in a web page can send those, but not JSON. Parameters of the
    type do not matter."""
    kinds = {None: 415, "text/plain": 415, "Application/JSON; charset=utf-8": 200}
    for kind, status in kinds.items():
        headers = {} if kind is None else {"Content-Type": kind}
        answer = api.http.post("/predict", content=b'{"x": {}}', headers=headers)
        assert answer.status_code == status


def test_length_required(api):
    """A POST without a length is a 411."""
    with api.connect() as connection:
        connection.sendall(
            b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n"
        )
        assert connection.recv(1000).startswith(b"HTTP/1.1 411 ")


def test_backlog(start, tmp_path):
    """Appends are refused while the learner is too far behind the log, and pass once it is not."""
    publish(tmp_path, n=3)  # it has learned the records before offset 3
    api = start(max_backlog=5).ready()
    assert [api.post("/events", {"x": {}}).status_code for _ in range(9)] == [201] * 9
    answer = api.post("/events", {"x": {}})
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "5")
    assert "6 records behind" in answer.json()["error"]
    assert api.post("/feedback", {"id": "a", "y": 1}).status_code == 429
    assert api.post("/predict", {"x": {}, "id": "a"}).status_code == 429
    assert api.post("/predict", {"x": {}}).status_code == 200
    assert api.metrics()["iln_api_backlog_records",] == 6
    publish(tmp_path, n=9, resumable=False)
    eventually(lambda: api.post("/events", {"x": {}}).status_code == 201)


def test_a_batch_lets_single_requests_pass(start, tmp_path):
    """While a large batch is predicted, single predictions are answered."""
    publish(tmp_path)
    api = start(batch_events=4_000, body_bytes=1 << 24).ready()
    body = json.dumps({"events": [{"x": {"a": 1.0}}] * 4_000}).encode()
    done, took = [], []

    def send_batch():
        begun = time.monotonic()
        done.append(api.post_text("/predict", body))
        took.append(time.monotonic() - begun)

    batch = threading.Thread(target=send_batch)
    batch.start()
    longest = 0.0
    while batch.is_alive():
        begun = time.monotonic()
        assert api.post("/predict", {"x": {}}).status_code == 200
        longest = max(longest, time.monotonic() - begun)
    batch.join()
    assert len(done[0].json()["predictions"]) == 4_000
    assert longest < took[0] / 2
