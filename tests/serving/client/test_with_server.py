"""The client with the real server."""

import math

import pytest
from support.running_api import RunningApi, eventually, example, publish
from support.tls import certificate

from iln_stream.records import Event, Label, promoted
from iln_stream.serving.client import Client
from iln_stream.serving.client_calls import Retries
from iln_stream.serving.client_messages import (
    Appended,
    NewEvent,
    NewLabel,
    StatusError,
    TransportError,
    UnavailableError,
)

pytestmark = pytest.mark.parametrize("ask", ["blocking"], indirect=True)
"""Both clients share all but the transport; docs/http_api.md, which is tested, uses both."""


@pytest.fixture(scope="module")
def learner_and_url(tmp_path_factory):
    """A learner, and the address of a server that predicts with its published version."""
    folder = tmp_path_factory.mktemp("api")
    learner = publish(folder)
    with RunningApi(folder) as api:
        yield learner, api.ready().url


def test_predictions_are_those_of_the_learner(ask, learner_and_url):
    """Numbers and intervals arrive bit for bit, with the version that predicted."""
    learner, url = learner_and_url
    found = ask({"url": url}, "predict", example(7))
    assert found.y_pred == learner.predict_one(example(7))
    assert found.interval[:2] == learner.predict_interval(example(7), 0.9)
    assert (found.interval.level, found.probabilities) == (0.9, None)
    assert (found.model.name, found.model.n_learned) == ("log-events-0", 200)
    assert found.model.age_seconds > 0.0


@pytest.fixture
def api(tmp_path):
    """A server without a model, and its log."""
    with RunningApi(tmp_path) as running:
        wait_for_log(running)
        yield running


def wait_for_log(api):
    with Client(api.url, trust_env=False) as client:
        eventually(lambda: "the log is not open yet" not in client.ready().reasons)


def test_promotion(ask, tmp_path):
    """A promotion is a command in the log, at the place that the client returns."""
    publish(tmp_path, n=1)
    with RunningApi(tmp_path) as api:
        assert ask({"url": api.ready().url}, "promote", "linear") == [Appended(0, 0, True)]
        again = ask({"url": api.url}, "promote", "linear", model="log-events-0")
        assert again == [Appended(0, 1, True)]
        assert [promoted(record.payload) for record in api.appended()] == ["linear", "linear"]


def test_predicted_events_and_their_labels(ask, tmp_path):
    """A prediction with an id says where its event is; labels follow it in the log, each once."""
    learner = publish(tmp_path)
    events = [NewEvent(example(t), id=f"e{t}" if t % 2 else None) for t in range(40)]
    labels = [NewLabel(f"e{t}", math.cos(t), 1.7e9 + t, 2.0) for t in range(1, 40, 2)]
    with RunningApi(tmp_path) as api:
        url = api.ready().url
        options = {"url": url, "batch_events": 7}
        found = ask(options, "predict_many", events)
        places = ask(options, "feedback_many", labels)
        assert [each.y_pred for each in found] == [learner.predict_one(e.x) for e in events]
        assert [each.appended for each in found[::2]] == [None] * 20
        assert [each.appended.offset for each in found[1::2]] == list(range(20))
        assert [place.offset for place in places] == list(range(20, 40))
        again = ask(options, "predict", example(1), id="e1")
        assert again.appended == (0, 0, False)
        assert ask(options, "feedback", *labels[0][:2], timestamp=1.7e9 + 1, weight=2.0) == (
            0, 20, False,
        )  # fmt: skip
        records = [record.payload for record in api.appended()]
    assert [Event.model_validate_json(each).id for each in records[:20]] == [
        event.id for event in events if event.id
    ]
    sent = [Label.model_validate_json(each) for each in records[20:]]
    assert [(e.id, e.y, e.timestamp.timestamp(), e.weight) for e in sent] == labels


def test_refusals_have_the_servers_message(ask, api):
    """An event that the learner would not take is refused, and names the input; those before it in
    other requests are appended."""
    events = [{"a": float(t)} for t in range(5)]
    events[3] = {"a": 1.0, "b=1": 2.0, "b": "1"}  # two columns of the same name
    with pytest.raises(StatusError, match=r"events\.1\.") as failure:
        ask({"url": api.url, "batch_events": 2}, "append_many", events)
    assert failure.value.status == 422
    assert [place.offset for place in failure.value.appended] == [0, 1]
    assert len(api.appended()) == 2


def test_not_ready(ask, api):
    """Without a model the server says why, and predictions are refused."""
    found = ask({"url": api.url}, "ready")
    assert not found.ready
    assert "no model is published" in found.reasons[0]
    with pytest.raises(UnavailableError, match="no model is published") as failure:
        ask({"url": api.url, "retries": Retries(most=0)}, "predict", {"a": 1.0})
    assert failure.value.retry_after == 1.0


def test_limits_of_the_server(ask, tmp_path):
    """Batches that the server finds too large, by number or by bytes, arrive in smaller ones."""
    for n, limits in enumerate(({"batch_events": 7}, {"body_bytes": 600})):
        folder = tmp_path / str(n)
        with RunningApi(folder, **limits) as api:
            wait_for_log(api)
            events = [NewEvent({"a": float(t), "text": "x" * (t % 40)}) for t in range(60)]
            places = ask({"url": api.url}, "append_many", events)
            assert [place.offset for place in places] == list(range(60))
            found = [Event.model_validate_json(record.payload).x for record in api.appended()]
            assert found == [event.x for event in events]


def test_backpressure_is_waited_for(ask, tmp_path):
    """Where the server takes few requests per second, all arrive, later, each once."""
    with RunningApi(tmp_path, rate=2.0) as api:
        wait_for_log(api)
        options = {"url": api.url, "batch_events": 1, "retries": Retries(most=9)}
        events = [NewEvent({"a": float(t)}, id=f"e{t}") for t in range(6)]
        places = ask(options, "append_many", events)
        assert [place.offset for place in places] == list(range(6))
        assert len(api.appended()) == 6


def test_tls(ask, tmp_path):
    """A server is trusted by its certificate only, and a client, if asked, by its own."""
    folders = [tmp_path / name for name in ("server", "client", "stranger")]
    for folder in folders:
        folder.mkdir()
        certificate(folder)
    server, client, stranger = folders
    given = {"tls_certificate": server / "cert.pem", "tls_key": server / "key.pem"}
    once = {"tls_ca": server / "cert.pem", "retries": Retries(most=0)}

    def own(folder):
        return {"tls_certificate": folder / "cert.pem", "tls_key": folder / "key.pem"}

    with RunningApi(tmp_path, **given) as api:
        assert not ask({"url": api.url, **once}, "ready").ready
        with pytest.raises(TransportError, match="certificate verify failed"):
            ask({"url": api.url, **once, "tls_ca": None}, "ready")
    with RunningApi(tmp_path, **given, tls_client_ca=client / "cert.pem") as api:
        assert not ask({"url": api.url, **once, **own(client)}, "ready").ready
        for others in ({}, own(stranger)):
            with pytest.raises(TransportError):
                ask({"url": api.url, **once, **others}, "ready")
