"""The routes, on a real server."""

import json
import math
import time

import pytest
from river import linear_model, preprocessing
from support.running_api import eventually, example, publish

from iln_stream.errors import IlnWarning
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.records import ClassEvent, Event, Label, decode


def test_a_prediction_is_that_of_the_learner(learner_and_api):
    """A prediction and its interval are the learner's own, to the last bit."""
    learner, api = learner_and_api
    x = example(7)
    answer = api.post("/predict", {"x": x}).raise_for_status().json()
    lower, upper = learner.predict_interval(x, 0.9)
    assert answer["predictions"] == [
        {
            "y_pred": learner.predict_one(x),
            "interval": {"lower": lower, "upper": upper, "level": 0.9},
        }
    ]
    model = answer["model"]
    assert (model["name"], model["n_learned"]) == ("log-events-0", 200)
    assert model["version"] >= 1
    assert 0 <= model["age_seconds"] < 600


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (("cat", "dog", "eel"), ("cat", "dog", "eel")),
        ((True, False), ("true", "false")),
        ((3, "3"), ("3", '"3"')),
    ],
)
def test_classes(start, tmp_path, labels, names):
    """A classifier answers with the most probable class and all probabilities; classes that are no
    text keep their type in y_pred, and get distinct names."""
    learner = publish(
        tmp_path, InfiniteLayerClassifier(seed=1), label=lambda t: labels[t % len(labels)]
    )
    (found,) = start().ready().post("/predict", {"x": example(4)}).json()["predictions"]
    probabilities = learner.predict_proba_one(example(4))
    assert found == {
        "y_pred": max(probabilities, key=probabilities.get),
        "probabilities": {
            name: probabilities[label] for label, name in zip(labels, names, strict=True)
        },
    }


def test_a_river_pipeline(start, tmp_path):
    """A pipeline of River, pickled, predicts as it did; it has no interval."""
    pipeline = preprocessing.StandardScaler() | linear_model.LinearRegression()
    publish(tmp_path, pipeline, allow_pickle=True)
    api = start(allow_pickle=True).ready()
    (found,) = api.post("/predict", {"x": example(3)}).json()["predictions"]
    assert found == {"y_pred": pipeline.predict_one(example(3))}


def test_a_pickle_is_refused_unless_allowed(start, tmp_path):
    """Loading a pickle runs code, so it needs `allow_pickle`; /ready says so."""
    publish(tmp_path, linear_model.LinearRegression(), allow_pickle=True)
    api = start()
    reasons = wait_for_reason(api, "holds a pickle")
    assert "model log-events-0: " in reasons
    assert api.post("/predict", {"x": {}}).status_code == 503


def test_a_former_version_goes_on(start, tmp_path):
    """When a learner of River is published after one of ours, as when it becomes champion, /ready
    says that the former version predicts and why; it is well again with the next of ours."""
    publish(tmp_path)
    api = start().ready()
    version = api.http.get("/model").json()["version"]
    for _ in range(2):  # each version that can't be loaded is counted, so that the alert lasts
        failures = api.metrics()["iln_api_model_failures_total", "log-events-0"]
        publish(tmp_path, linear_model.LinearRegression(), n=1, allow_pickle=True)
        eventually(
            lambda failures=failures: (
                api.metrics()["iln_api_model_failures_total", "log-events-0"] > failures
            )
        )
    found = api.http.get("/ready")
    assert found.status_code == 200
    (degraded,) = found.json()["degraded"]
    assert degraded.startswith(f"model log-events-0 predicts with version {version}, published ")
    assert "allow_pickle" in degraded
    assert api.post("/predict", {"x": {}}).json()["model"]["version"] == version
    publish(tmp_path)
    eventually(lambda: api.http.get("/ready").json()["degraded"] == [])
    assert api.post("/predict", {"x": {}}).json()["model"]["version"] > version


def test_an_event_that_the_model_fails_on(start, tmp_path):
    """A model that raises an error is an error of the request, which names the event and appends
    nothing."""
    learner = publish(tmp_path, linear_model.LinearRegression(), allow_pickle=True)
    learner.intercept = 1.797e308
    publish(tmp_path, learner, n=0, allow_pickle=True, resumable=False)
    api = start(allow_pickle=True).ready()
    huge = {name: math.copysign(1.7e308, weight) for name, weight in learner.weights.items()}
    answer = api.post("/predict", {"events": [{"x": {}, "id": "a"}, {"x": huge}]})
    assert answer.status_code == 422, answer.text
    assert answer.json()["error"].startswith("events.1.x: the learner can't predict it: ")
    assert api.appended() == []


def test_several_models(start, tmp_path):
    """With several models a request names one; unknown names are errors that list the known."""
    first = publish(tmp_path, name="first-0")
    second = publish(tmp_path, name="second-0", label=math.sin)
    api = start().ready()
    x = example(1)
    for name, learner in (("first-0", first), ("second-0", second)):
        answer = api.post("/predict", {"x": x, "model": name}).json()
        assert answer["predictions"][0]["y_pred"] == learner.predict_one(x)
        assert answer["model"]["name"] == name
        assert api.http.get("/model", params={"model": name}).json()["name"] == name
    unnamed = api.post("/predict", {"x": x})
    assert (unnamed.status_code, "first-0, second-0" in unnamed.text) == (422, True)
    unknown = api.post("/predict", {"x": x, "model": "third"})
    assert (unknown.status_code, "first-0, second-0" in unknown.text) == (404, True)


def test_a_model_that_is_published_later(start, tmp_path):
    """Without a model, predictions and readiness are refused with the reason, until there is one;
    events are appended."""
    api = start()
    wait_for_reason(api, "no model is published")
    eventually(lambda: api.post("/events", {"x": {}}).status_code == 201)
    for path, body in (("/predict", {"x": {}, "id": "a"}), ("/promote", {"contender": "linear"})):
        answer = api.post(path, body)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert len(api.appended()) == 1
    publish(tmp_path)
    assert api.ready().post("/predict", {"x": {}}).status_code == 200


def test_an_event_is_appended(api):
    """An event lies in the log as it was sent, under its id, once; its place is the answer."""
    event = {
        "x": {"a": 0.1, "sky": "clear", "up": True, "none": None},
        "y": 1e-17,
        "id": "ä-17",
        "timestamp": "2026-01-31T12:00:00Z",
    }
    answer = api.post("/events", event)
    assert answer.status_code == 201
    (place,) = answer.json()["appended"]
    assert place["is_new"]
    (record,) = (each for each in api.appended() if each.offset == place["offset"])
    assert (record.origin.partition, record.key) == (place["partition"], "ä-17")
    assert decode(record.payload) == Event(**event)
    again = api.post("/events", event)
    assert (again.status_code, again.json()["appended"]) == (200, [{**place, "is_new": False}])
    assert len([each for each in api.appended() if each.key == "ä-17"]) == 1


def test_numbers_are_appended_without_loss(api):
    """A number read from the log has the same bits as the one that was sent."""
    values = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, 2**53 + 2, 123456789.123456789]
    answer = api.post("/events", {"x": {str(i): v for i, v in enumerate(values)}}).json()
    record = api.appended()[answer["appended"][0]["offset"]]
    found = decode(record.payload).x
    assert [v.hex() for v in found.values()] == [float(v).hex() for v in values]


def test_events_without_an_id_are_always_appended(api):
    """Only ids make events repeats of each other."""
    one, two = (api.post("/events", {"x": {"a": 1}}).json()["appended"][0] for _ in range(2))
    assert (one["is_new"], two["is_new"]) == (True, True)
    assert one["offset"] != two["offset"]


def test_a_batch_is_appended_in_order(api):
    """A batch keeps its order; 201 if at least one is new."""
    batch = [{"x": {"n": n}, "id": f"batch-{n}"} for n in range(50)]
    answer = api.post("/events", {"events": batch})
    offsets = [place["offset"] for place in answer.json()["appended"]]
    assert (answer.status_code, offsets) == (201, list(range(offsets[0], offsets[0] + 50)))
    found = api.appended()[offsets[0] :]
    assert [json.loads(each.payload)["x"]["n"] for each in found[:50]] == list(range(50))
    assert api.post("/events", {"events": [*batch[:2], {"x": {}}]}).status_code == 201
    assert api.post("/events", {"events": batch[:2]}).status_code == 200


@pytest.mark.parametrize("name", ["f-1", "label:f-1"])
def test_feedback_is_a_label_beside_its_event(api, name):
    """A label has its event's key but is not taken for a repeat of it, whatever its id."""
    assert api.post("/events", {"x": {}, "id": name}).status_code == 201
    answer = api.post("/feedback", {"id": name, "y": 2.5})
    assert answer.status_code == 201
    record = api.appended()[answer.json()["appended"][0]["offset"]]
    assert (record.key, decode(record.payload)) == (name, Label(id=name, y=2.5))
    assert api.post("/feedback", {"id": name, "y": 2.5}).status_code == 200


def test_labels_are_those_of_the_task(start, tmp_path, api):
    """A class is no label of a regressor, and a learner of classes takes it."""
    refused = api.post("/events", {"x": {}, "y": "cat"})
    assert (refused.status_code, "y: " in refused.json()["error"]) == (422, True)
    assert api.post("/feedback", {"id": "a", "y": "cat"}).status_code == 422
    publish(tmp_path, InfiniteLayerClassifier(seed=1), label=lambda t: "cat")
    classes = start().ready()
    assert classes.post("/events", {"x": {}, "y": "cat"}).status_code == 201
    assert classes.post("/feedback", {"id": "a", "y": True}).status_code == 201
    assert decode(classes.appended()[0].payload, ClassEvent).y == "cat"


def test_the_model(learner_and_api):
    """/model describes the version: learner, task, positions, inputs."""
    _, api = learner_and_api
    found = api.http.get("/model").raise_for_status().json()
    assert found["age_seconds"] > 0
    assert found["published_at"] == pytest.approx(time.time(), abs=600)
    assert sorted(found["inputs"]) == ["a", "b", "c"]
    expected = {
        "name": "log-events-0",
        "n_learned": 200,
        "learner": "InfiniteLayerRegressor",
        "task": "regression",
        "positions": {"0": 200},
    }
    assert {key: found[key] for key in expected} == expected


def test_probes(api):
    """Both probes answer; /ready gives no reasons when ready."""
    assert api.http.get("/live").json() == {"live": True}
    assert api.http.get("/ready").json() == {"ready": True, "reasons": [], "degraded": []}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/predict", 405), ("POST", "/model", 405), ("GET", "/nothing", 404)],
)
def test_wrong_paths_and_methods(api, method, path, status):
    """They have errors of the form that all have, and a 405 says which method is right."""
    answer = api.http.request(method, path)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert ("Allow" in answer.headers) == (status == 405)


def test_no_other_origin_may_read_answers(api):
    """There are no CORS headers, and a preflight is refused."""
    headers = {"Origin": "http://example.org", "Access-Control-Request-Method": "POST"}
    preflight = api.http.options("/events", headers=headers)
    assert preflight.status_code == 405
    answer = api.http.get("/model", headers=headers)
    both = {*preflight.headers, *answer.headers}
    assert not [name for name in both if name.startswith("access-control")]


def test_metrics_count_requests(api):
    """Requests are counted by route and status, and timed; events, labels and repeats
    have metrics."""
    before = api.metrics()
    api.post("/predict", {"events": [{"x": {}}, {"x": {}}]})
    api.post_text("/predict", "{")
    for _ in range(2):
        api.post("/events", {"x": {}, "id": "m-1"})
        api.post("/feedback", {"id": "m-1", "y": 1.0})
    after = api.metrics()

    def gained(*key):
        return after.get(key, 0) - before.get(key, 0)

    assert gained("iln_api_requests_total", "/predict", "200") == 1
    assert gained("iln_api_requests_total", "/predict", "400") == 1
    assert gained("iln_api_refusals_total", "malformed") == 1
    assert gained("iln_api_predictions_total") == 2
    assert gained("iln_api_events_total", "appended") == 2
    assert gained("iln_api_events_total", "repeated") == 2
    assert gained("iln_api_request_duration_seconds_count", "/predict") == 2
    assert after["iln_api_model_age_seconds", "log-events-0"] > 0


def wait_for_reason(api, words):
    """Wait until /ready gives a reason with these words, and return all reasons."""
    deadline = time.monotonic() + 30
    while words not in (found := api.http.get("/ready")).text:
        assert time.monotonic() < deadline, found.text
        time.sleep(0.05)
    assert found.status_code == 503
    return "\n".join(found.json()["reasons"])


def test_numbers_as_text_are_counted(api):
    """Numbers in quotes are categories; the metric counts them in predictions and events."""
    name = ("iln_api_inputs_suspicious_total", "number_as_category")
    before = api.metrics()[name]
    with pytest.warns(IlnWarning, match=r"^x\.q: the text '21\.5' is taken as a category"):
        api.post("/predict", {"events": [{"x": {"q": "21.5", "b": "clear"}}, {"x": {"q": "3"}}]})
    api.post("/events", {"x": {"q": "21.5", "b": 2.0}})
    assert api.metrics()[name] == before + 3
