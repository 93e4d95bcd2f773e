"""`iln-stream serve` as a process: start, stop, restart."""

import json
import re
import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from support.running_api import eventually, example, publish, records
from support.running_command import Command

from iln_stream.serving.server import ApiServer
from iln_stream.serving.settings import ApiSettings
from iln_stream.settings import SettingsError


class Served:
    """A running `iln-stream serve`."""

    def __init__(self, command):
        self.command = command
        command.wait_until_it_says("serving http")
        self.url = re.search(r"http://[\d.:]+", command.said)[0]
        self.http = httpx.Client(base_url=self.url, trust_env=False, timeout=30)
        eventually(lambda: self.http.get("/ready").status_code == 200)


@pytest.fixture
def serve(tmp_path):
    """Return a function that starts `iln-stream serve` in the folder of the test."""
    started = []

    def start(*flags):
        started.append(Command(tmp_path, "serve", "--port", "0", *flags))
        return Served(started[-1])

    yield start
    for each in started:
        each.kill()


@pytest.mark.thorough
def test_a_kill_loses_nothing(tmp_path, serve):
    """An event that was answered is in the log although the process is killed at once; a new
    process predicts from the published file as the one before."""
    publish(tmp_path)
    found = []
    for _ in range(2):
        served = serve()
        answer = served.http.post("/predict", json={"events": [{"x": example(3)}, {"x": {}}]})
        found.append(answer.json()["predictions"])
        for n in range(20):
            answer = served.http.post("/events", json={"x": {}, "id": f"{len(found)}-{n}"})
            assert answer.status_code == 201
        served.command.kill()
    assert found[0] == found[1]
    appended = [r.key for r in records(f"sqlite:{tmp_path / 'log.db'}")]
    assert appended == [f"{k}-{n}" for k in (1, 2) for n in range(20)]


def test_a_signal_ends_it_gracefully(tmp_path, serve):
    """Events that wait when the signal comes are appended, and their clients answered."""
    publish(tmp_path)
    served = serve()
    lock = sqlite3.connect(tmp_path / "log.db", check_same_thread=False)
    lock.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(20) as clients:
        sent = []

        def four_wait():  # the first group may hold any number of events
            n = len(sent)
            sent.append(clients.submit(served.http.post, "/events", json={"x": {}, "id": str(n)}))
            found = re.search(r"iln_api_queue_events ([\d.]+)", served.http.get("/metrics").text)
            return float(found[1]) >= 4

        eventually(four_wait)
        served.command.signal(signal.SIGTERM)
        served.command.wait_until_it_says("answering the requests in progress")
        threading.Timer(0.2, lock.rollback).start()
        assert {each.result().status_code for each in sent} == {201}
    assert served.command.wait() == 0
    appended = {r.key for r in records(f"sqlite:{tmp_path / 'log.db'}")}
    assert appended == {str(n) for n in range(len(sent))}
    assert "Traceback" not in served.command.said


def test_settings_come_from_a_file_and_from_flags(tmp_path, serve):
    """The table `api` of a TOML file sets what flags do not; with log_format = json, each line of
    the log is an object."""
    publish(tmp_path)
    (tmp_path / "c.toml").write_text('seed = 3\n[api]\nbatch_events = 1\nevents = "sqlite:a.db"\n')
    served = serve("--config", "c.toml", "--events", "sqlite:b.db", "--log-format", "json")
    batch = {"events": [{"x": {}}] * 2}
    assert served.http.post("/predict", json=batch).status_code == 413
    served.http.post("/events", json={"x": {}})
    assert len(records(f"sqlite:{tmp_path / 'b.db'}")) == 1
    assert not (tmp_path / "a.db").exists()
    served.command.signal(signal.SIGINT)
    assert served.command.wait() == 0
    assert all("message" in json.loads(line) for line in served.command.said.splitlines())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_other_machines_need_a_token(tmp_path, host):
    """Without a token or certificates the server listens on loopback only."""
    with pytest.raises(SettingsError, match="set token_file or tls_client_ca"):
        ApiServer(ApiSettings(host=host, port=0, events=f"sqlite:{tmp_path}/l.db"))


def test_a_token_in_plain_text_is_a_warning(tmp_path, caplog):
    """With a token, others may come in; without TLS the log warns."""
    (tmp_path / "t").write_text("a-token-of-0123456789")
    settings = ApiSettings(
        host="0.0.0.0", port=0, token_file=tmp_path / "t", events=f"sqlite:{tmp_path}/l.db"
    )
    ApiServer(settings)
    assert "the token is sent in plain text" in caplog.text


def test_a_port_that_is_taken(tmp_path):
    """The error names host and port."""
    settings = {"events": f"sqlite:{tmp_path}/l.db"}
    first = ApiServer(ApiSettings(port=0, **settings))
    port = int(first.url.rpartition(":")[2])
    with pytest.raises(SettingsError, match=f"port = {port}: Address already in use"):
        ApiServer(ApiSettings(port=port, **settings))


def test_ipv6(tmp_path):
    """It can listen on IPv6, and its URL has brackets."""
    server = ApiServer(ApiSettings(host="::1", port=0, events=f"sqlite:{tmp_path}/l.db"))
    assert server.url.startswith("http://[::1]:")


def test_events_need_a_log(tmp_path):
    """An address that can't be appended to is an error at the start."""
    with pytest.raises(SettingsError, match=r"events = .*can't be appended to"):
        ApiServer(ApiSettings(events="river:TrumpApproval", port=0))
