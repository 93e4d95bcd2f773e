"""`Client` and `AsyncClient`: what they send, and what they do when a connection fails."""

import inspect
import socket

import pytest

from iln_stream.serving.client import AsyncClient, Client
from iln_stream.serving.client_calls import Retries
from iln_stream.serving.client_messages import (
    Appended,
    ClientError,
    ModelVersion,
    NewEvent,
    Prediction,
    StatusError,
    TimedOutError,
    TransportError,
)

SOON = Retries(most=2, first_wait=0.01)
TOKEN = "0123456789abcdef"


def test_both_have_the_same_calls():
    """Each call of one client is one of the other, with the same parameters."""

    def calls(client):
        return {
            name: inspect.signature(method).parameters
            for name, method in inspect.getmembers(client, inspect.isfunction)
            if not name.startswith("_") or name == "__init__"
        }

    assert calls(Client) == calls(AsyncClient)


def test_prediction(ask, server):
    """A prediction is sent as JSON, and comes back with the version that made it."""
    found = ask({"url": server.url}, "predict", {"a": 1.0, "sky": "clear", "b": None})
    assert found == Prediction(1.5, ModelVersion("m", 3, 0.25, 70))
    (received,) = server.received
    assert (received.method, received.path) == ("POST", "/predict")
    assert received.body == {"events": [{"x": {"a": 1.0, "sky": "clear", "b": None}}]}
    assert received.headers["Content-Type"] == "application/json"
    assert received.headers["User-Agent"].startswith("iln-stream/")
    assert "Authorization" not in received.headers


def test_a_prediction_to_record(ask, server):
    """An id, a time and a weight are sent with the inputs, one by one and in a batch."""
    options = {"url": server.url}
    named = {"id": "e1", "timestamp": 1e9, "weight": 2.0}
    ask(options, "predict", {"a": 1.0}, **named)
    ask(options, "predict_many", [{"a": 1.0}, NewEvent({"a": 2.0}, id="e2")])
    assert [each.body["events"] for each in server.received] == [
        [{"x": {"a": 1.0}, **named}],
        [{"x": {"a": 1.0}}, {"x": {"a": 2.0}, "id": "e2"}],
    ]


def test_a_path_below_which_the_api_is(ask, server):
    """The server may be below a path, as behind a proxy."""
    ask({"url": f"{server.url}/iln/"}, "feedback", "e1", True)
    assert server.received[0].path == "/iln/feedback"


def test_model_by_name_is_escaped(ask, server):
    """A name with special characters reaches the server."""
    server.script = [(404, {}, {"error": "no"})]
    with pytest.raises(StatusError):
        ask({"url": server.url}, "model", "a&b=ü")
    assert server.received[0].path == "/model?model=a%26b%3D%C3%BC"


@pytest.mark.parametrize("broken", ["break", (503, {}, {"error": "busy"})])
def test_what_is_idempotent_is_sent_again(ask, server, broken):
    """Predictions, labels, and events with ids, outlive a broken connection and a busy server."""
    options = {"url": server.url, "retries": SOON}
    for call in (
        ("predict", {"a": 1.0}),
        ("feedback", "e1", 2.5),
        ("append_many", [NewEvent({"a": 1.0}, id="e1")]),
    ):
        server.script, server.received[:] = [broken, broken], []
        assert ask(options, *call)
        assert len(server.received) == 3
        assert server.received[0] == server.received[2]


def test_a_server_that_hangs(ask, server):
    """A server that does not answer is an error after `timeout`, which says so."""
    server.script = ["hang"]
    with pytest.raises(TimedOutError, match=r"did not answer within 0.2 s"):
        ask({"url": server.url, "timeout": 0.2, "retries": Retries(0)}, "predict", {"a": 1.0})


def test_no_server(ask):
    """An address where nobody listens is an error that names it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(TransportError, match=f"{url} can't be reached"):
            ask({"url": url, "retries": SOON}, "ready")


def test_token(ask, server, tmp_path):
    """A token is sent with each request; one in a file may change while the client runs."""
    ask({"url": server.url, "token": TOKEN}, "predict", {"a": 1.0})
    assert server.received[-1].headers["Authorization"] == f"Bearer {TOKEN}"
    file = tmp_path / "token"
    with Client(
        server.url, token_file=str(written(file, "first-token\n")), trust_env=False
    ) as client:
        client.predict({"a": 1.0})
        assert server.received[-1].headers["Authorization"] == "Bearer first-token"
        written(file, "second-token\n")
        client.predict({"a": 1.0})
        assert server.received[-1].headers["Authorization"] == "Bearer second-token"
        file.unlink()
        with pytest.raises(ClientError, match=r"token_file = .*No such file"):
            client.predict({"a": 1.0})


def test_a_token_that_is_lost_on_the_way(ask, server, tmp_path):
    """If the token can't be read for a further request, the places of stored events are kept."""
    file = written(tmp_path / "token", TOKEN)

    def lose_it(received):
        file.unlink()
        return 201, {}, {"appended": [{"partition": 0, "offset": 7, "is_new": True}]}

    server.answer = lose_it
    events = [NewEvent({"a": 1.0}, id=f"e{i}") for i in range(3)]
    with pytest.raises(ClientError, match=r"token_file = .*No such file") as failure:
        ask({"url": server.url, "token_file": file, "batch_events": 1}, "append_many", events)
    assert failure.value.appended == (Appended(0, 7, True),)
    assert len(server.received) == 1


def written(file, text):
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "localhost:8080"}, "begin with http:// or https://"),
        ({"token": TOKEN, "token_file": "t"}, "give one of them"),
        ({"token": "two words"}, "token: must hold one token"),
        ({"url": "https://h", "tls_certificate": "c"}, "give both or none"),
        ({"tls_ca": "ca.pem"}, "TLS needs https://"),
        ({"url": "https://h", "tls_ca": "absent.pem"}, "tls_ca = 'absent.pem': .*No such file"),
        ({"url": "https://h", "tls_certificate": "no", "tls_key": "no"}, "tls_certificate = 'no'"),
    ],
)
def test_options_that_can_not_be(ask, options, message):
    """An option that is wrong is an error that names it, before anything is sent."""
    with pytest.raises(ClientError, match=message):
        ask(options, "ready")


def test_batch_limits(ask):
    """Limits of no events are refused."""
    with pytest.raises(ValueError, match="batch_events = 0: must be at least 1"):
        ask({"batch_events": 0}, "ready")
