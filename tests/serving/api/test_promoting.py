"""`POST /promote`: a command in the log, for each model that learns it."""

from support.running_api import publish

from iln_stream.records import is_command, promoted
from iln_stream.streams import StreamPartition
from iln_stream.streams.sqlite import create_topic

LINEAR = {"contender": "linear"}


def test_a_promotion_is_appended(start, tmp_path):
    """The answer says where the command is in the log."""
    publish(tmp_path, n=5)
    api = start().ready()
    api.post("/events", {"x": {}})
    answer = api.post("/promote", LINEAR)
    assert answer.status_code == 201
    assert answer.json() == {"appended": [{"partition": 0, "offset": 1, "is_new": True}]}
    _, record = api.appended()
    assert is_command(record.payload)
    assert promoted(record.payload) == "linear"


def test_models_of_several_partitions(start, tmp_path):
    """Each model of the log gets a command, or the one that is named; a model of another none."""
    create_topic(tmp_path / "log.db", "events", 3)
    publish(tmp_path, name="log-events-0", n=0, positions={StreamPartition("log-events", 0): 5})
    both = {StreamPartition("log-events", 1): 5, StreamPartition("log-labels", 0): 9}
    publish(tmp_path, name="log-events-1+2", n=0, positions=both)
    publish(tmp_path, name="other", n=5, stream="other")
    api = start().ready()

    def places(**more):
        appended = api.post("/promote", LINEAR | more).json()["appended"]
        return [each["partition"] for each in appended]

    assert places() == [0, 1]
    assert places(model="log-events-1+2") == [1]
    assert api.post("/promote", LINEAR | {"model": "other"}).status_code == 422
    assert api.post("/promote", LINEAR | {"model": "gone"}).status_code == 404


def test_refusals(start, tmp_path):
    """A wrong body, a server without a log, and one without models say what is wrong."""
    publish(tmp_path, n=5)
    without_log = start(events="").ready()
    assert without_log.post("/promote", LINEAR).status_code == 404
    api = start().ready()
    for body in ({}, {"contender": ""}, {"contender": 3}, LINEAR | {"x": 1}):
        assert api.post("/promote", body).status_code == 422
    assert api.post_text("/promote", '{"contender": "a", "contender": "b"}').status_code == 400
    assert api.appended() == []
