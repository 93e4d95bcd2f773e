"""Appending in groups, to a real log that is locked, missing or fails."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.running_api import eventually, publish

from iln_stream.serving.metrics import ApiMetrics


def locked(folder):
    """Return a connection that holds the log's lock, so that appends wait."""
    connection = sqlite3.connect(folder / "log.db", check_same_thread=False)
    connection.execute("BEGIN IMMEDIATE")
    return connection


def test_events_gather_while_a_group_is_stored(start, tmp_path, monkeypatch):
    """Events that arrive during an append are appended together, each with its own place."""
    groups = []
    monkeypatch.setattr(ApiMetrics, "appended", lambda self, *counts: groups.append(counts))
    publish(tmp_path)
    api = start().ready()
    lock = locked(tmp_path)
    with ThreadPoolExecutor(20) as clients:
        answers = [clients.submit(api.post, "/events", {"x": {}, "id": str(n)}) for n in range(20)]
        eventually(lambda: api.server.n_requests == 20)
        lock.rollback()
        places = [each.result().json()["appended"][0]["offset"] for each in answers]
    assert sorted(places) == list(range(20))
    assert [r.key for r in sorted(api.appended())] == [
        str(n) for _, n in sorted(zip(places, range(20), strict=True))
    ]
    assert len(groups) < 10


def test_a_full_queue(start, tmp_path, monkeypatch):
    """When the queue is full, events get a 429 with Retry-After; predictions do not wait. Alone, a
    batch may be larger than the queue, so that it is not refused for ever."""
    publish(tmp_path)
    monkeypatch.setattr("iln_stream.serving.server.QUEUE_EVENTS", 3)
    api = start().ready()
    lock = locked(tmp_path)
    with ThreadPoolExecutor(20) as clients:
        waiting = [clients.submit(api.post, "/events", {"x": {}}) for _ in range(20)]
        # At most three are being appended, and three wait.
        eventually(lambda: sum(each.done() for each in waiting) >= 14)
        assert {each.result().status_code for each in waiting if each.done()} == {429}
        assert api.post("/predict", {"x": {}}).status_code == 200
        lock.rollback()
        answers = [each.result() for each in waiting]
    refused = [each for each in answers if each.status_code == 429]
    assert {each.headers["Retry-After"] for each in refused} == {"1"}
    stored = [each for each in answers if each.status_code == 201]
    assert len(stored) == len(api.appended()) == 20 - len(refused)
    assert api.post("/events", {"events": [{"x": {}}] * 10}).status_code == 201


@pytest.mark.parametrize("path", ["/events", "/predict"])
def test_a_log_that_does_not_answer(start, tmp_path, monkeypatch, path):
    """Without an answer of the log in time, the client gets a 503 and no prediction, and may send
    again by id; without an id it gets its prediction."""
    publish(tmp_path)
    monkeypatch.setattr("iln_stream.serving.app.APPEND_SECONDS", 0.2)
    api = start().ready()
    lock = locked(tmp_path)
    answer = api.post(path, {"x": {}, "id": "a"})
    assert (answer.status_code, list(answer.json())) == (503, ["error"])
    assert "send events with an id again" in answer.text
    assert "Retry-After" in answer.headers
    assert api.post("/predict", {"x": {}}).status_code == 200
    lock.rollback()
    eventually(lambda: api.post(path, {"x": {}, "id": "a"}).status_code == 200)
    assert len(api.appended()) == 1


def test_a_log_that_can_not_be_opened(start, tmp_path):
    """The server starts without its log, says so, and opens it once that is possible."""
    publish(tmp_path)
    file = tmp_path / "logs" / "here.db"
    file.parent.write_text("a file where the folder should be")
    api = start(events=f"sqlite:{file}")
    eventually(lambda: "the log can't be opened" in api.http.get("/ready").text)
    assert api.http.get("/ready").status_code == 503
    answer = api.post("/events", {"x": {}})
    assert (answer.status_code, "the log can't be opened" in answer.text) == (503, True)
    eventually(lambda: api.post("/predict", {"x": {}}).status_code == 200)
    file.parent.unlink()
    file.parent.mkdir()
    assert api.ready().post("/events", {"x": {}}).status_code == 201


def test_a_log_that_fails_while_it_is_used(start, tmp_path):
    """After an error the log is opened again; events in between get a 503, none is lost."""
    publish(tmp_path)
    api = start().ready()
    assert api.post("/events", {"x": {}, "id": "a"}).status_code == 201
    with sqlite3.connect(tmp_path / "log.db") as connection:
        (table,) = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'records%'"
        ).fetchone()
        connection.execute(f"ALTER TABLE {table} RENAME TO hidden")
    answer = api.post("/events", {"x": {}, "id": "b"})
    assert (answer.status_code, "the log can't be written to" in answer.text) == (503, True)
    with sqlite3.connect(tmp_path / "log.db") as connection:
        connection.execute(f"ALTER TABLE hidden RENAME TO {table}")
    assert api.ready().post("/events", {"x": {}, "id": "b"}).status_code == 201
    assert [each.key for each in api.appended()] == ["a", "b"]
