"""What /predict with ids and /feedback append, on a real server."""

import json

import pytest
from support.running_api import example, publish

from iln_stream.records import Event, Label, decode


def appended_by(api, path, body):
    """Send a request; return its answer, and the records that it appended."""
    before = len(api.appended())
    answer = api.post(path, body)
    return answer, api.appended()[before:]


def test_a_predicted_event_is_recorded(learner_and_api):
    """With an id, the event is in the log as it would be by /events, and the answer says where;
    texts, booleans and nulls are predicted as in the stream."""
    learner, api = learner_and_api
    event = {
        "x": {**example(3), "sky": "clear", "up": True, "none": None},
        "id": "p-1",
        "timestamp": "2026-01-31T12:00:00Z",
        "weight": 2.0,
    }
    answer, (record,) = appended_by(api, "/predict", {**event, "model": "log-events-0"})
    assert answer.status_code == 201
    (found,) = answer.json()["predictions"]
    assert found["y_pred"] == learner.predict_one({**example(3), "sky=clear": 1.0, "up": 1.0})
    assert found["interval"]["lower"] < found["y_pred"]
    assert found["appended"] == {"partition": 0, "offset": record.offset, "is_new": True}
    assert (record.key, decode(record.payload)) == ("p-1", Event(**event))


@pytest.mark.parametrize("path", ["/predict", "/events"])
def test_a_repeated_prediction_is_recorded_once(api, path):
    """An event that the log has by its id is predicted, and not appended again."""
    event = {"x": example(4), "id": f"p-2{path}"}
    api.post(path, event)
    place = api.appended()[-1].offset
    for again in ("/predict", "/events"):
        answer, records = appended_by(api, again, event)
        assert (answer.status_code, records) == (200, [])
        body = answer.json()
        found = body["predictions"][0]["appended"] if again == "/predict" else body["appended"][0]
        assert found == {"partition": 0, "offset": place, "is_new": False}


def test_only_events_with_ids_are_recorded(learner_and_api):
    """Of a batch, each event is predicted and those with ids are recorded, in order."""
    learner, api = learner_and_api
    events = [{"x": example(t), **({"id": f"p-3-{t}"} if t % 3 else {})} for t in range(30)]
    answer, records = appended_by(api, "/predict", {"events": events})
    found = answer.json()["predictions"]
    assert answer.status_code == 201
    assert [each["y_pred"] for each in found] == [learner.predict_one(e["x"]) for e in events]
    assert ["appended" in each for each in found] == [t % 3 > 0 for t in range(30)]
    offsets = [each["appended"]["offset"] for each in found if "appended" in each]
    assert offsets == [record.offset for record in records]
    assert [json.loads(r.payload) for r in records] == [e for e in events if "id" in e]
    for body in ({"x": {}}, {"x": {}, "id": None}, {"events": [{"x": {}}]}):
        answer, records = appended_by(api, "/predict", body)
        assert (answer.status_code, records) == (200, [])
        assert "appended" not in answer.json()["predictions"][0]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"x": {}, "timestamp": 1e9}, "timestamp: only an event with an id is recorded"),
        ({"x": {}, "weight": 2.0, "id": None}, "weight: only an event with an id is recorded"),
        ({"events": [{"x": {}, "id": "a"}, {"x": {}, "weight": 1}]}, "events.1.weight: only an"),
        ({"x": {}, "id": 7}, 'id: expected a text, got 7 (ids are text: send "7")'),
        ({"x": {}, "id": "a", "y": 1.0}, "y: unknown name"),
        ({"x": {}, "id": "a", "weight": -1.0}, "weight: "),
        ({"x": {}, "id": "a", "timestamp": "noon"}, "timestamp: "),
        ({"events": [{"x": {}, "id": "a"}, {"x": {"a": "b", "a=b": 1}}]}, "two inputs would get"),
        ({"x": {}, "id": "a", "model": "other"}, "not published"),
    ],
)
def test_a_refused_prediction_records_nothing(api, body, words):
    """An error in one event of a request leaves the log as it is."""
    answer, records = appended_by(api, "/predict", body)
    assert (answer.status_code in (404, 422), words in answer.json()["error"]) == (True, True)
    assert records == []


def test_labels_in_a_batch(api):
    """Labels are appended in order, each in a record of its own with its event's key."""
    labels = [
        {"id": f"l-1-{n}", "y": n / 3, "timestamp": 1e9 + n, "weight": 0.5 * n} for n in range(40)
    ]
    answer, records = appended_by(api, "/feedback", {"labels": labels})
    assert answer.status_code == 201
    assert [place["offset"] for place in answer.json()["appended"]] == [r.offset for r in records]
    assert [record.key for record in records] == [label["id"] for label in labels]
    assert [decode(record.payload) for record in records] == [Label(**label) for label in labels]
    again, records = appended_by(api, "/feedback", {"labels": labels})
    assert (again.status_code, records) == (200, [])


def test_a_label_that_differs_is_a_correction(api):
    """A repeated label is in the log once; one that differs from the newest is appended."""
    found = []
    for y in (1.0, 1, 2.0, 2.0, 1.0, 1.0):
        (place,) = api.post("/feedback", {"id": "l-2", "y": y}).json()["appended"]
        found.append((place["is_new"], place["offset"]))
    is_new, offsets = zip(*found, strict=True)
    assert is_new == (True, False, True, False, True, False)
    assert offsets[::2] == offsets[1::2]
    labels = [decode(each.payload).y for each in api.appended() if each.key == "l-2"]
    assert labels == [1.0, 2.0, 1.0]
    for more in ({"weight": 2.0}, {"timestamp": 1e9}):
        assert api.post("/feedback", {"id": "l-2", "y": 1.0, **more}).status_code == 201


def test_without_a_log(start, tmp_path):
    """With `events` empty, the server is ready, predicts, and names the setting otherwise."""
    learner = publish(tmp_path)
    api = start(events="").ready()
    (found,) = api.post("/predict", {"x": example(1)}).json()["predictions"]
    assert found["y_pred"] == learner.predict_one(example(1))
    for path, body, status in (
        ("/predict", {"x": {}, "id": "a"}, 422),
        ("/events", {"x": {}}, 404),
        ("/feedback", {"id": "a", "y": 1.0}, 404),
    ):
        answer = api.post(path, body)
        assert answer.status_code == status
        assert "setting events (--events, ILN_API_EVENTS) is empty" in answer.json()["error"]
    assert [each.name for each in tmp_path.iterdir()] == ["models"]
