"""Predictions of each kind of learner."""

import threading
import time

import pytest
from river import ensemble, linear_model
from support.publishable import LEARNERS
from support.running_api import example, publish

from iln_stream import QuantileRegressor
from iln_stream.serving import predicting


@pytest.mark.parametrize("kind", ["accurate", "single-ridge", "scaled-pipeline", "change"])
def test_each_learner(start, tmp_path, kind):
    """What is published predicts as the learner did, and is described."""
    learner = LEARNERS[kind]()
    publish(tmp_path, learner, n=80, label=lambda t: float(t % 3 == 0), allow_pickle=True)
    api = start(allow_pickle=True).ready()
    (found,) = api.post("/predict", {"x": example(7)}).raise_for_status().json()["predictions"]
    assert found["y_pred"] == learner.predict_one(example(7))
    described = api.http.get("/model").raise_for_status().json()
    assert described["inputs"] is None or set(described["inputs"]) == {"a", "b", "c"}


def test_an_answer_has_the_quantiles(start, tmp_path):
    """By level as text, those of the published learner; other learners' answers have none."""
    learner = QuantileRegressor(linear_model.LinearRegression(), levels=(0.1, 0.9))
    publish(tmp_path, learner, n=80, allow_pickle=True)
    api = start(allow_pickle=True).ready()
    (found,) = api.post("/predict", {"x": example(7)}).raise_for_status().json()["predictions"]
    expected = learner.predict_quantiles_one(example(7))
    assert found["quantiles"] == {"0.1": expected[0.1], "0.9": expected[0.9]}


def test_inputs_of_earlier_records(start, tmp_path):
    """A request without any lag is refused, as it would be predicted as if all were missing; the
    error says what to send. One of them is enough, and so is null: others may be missing."""
    names = [f"b.lag_{k}" for k in range(1, 7)]
    learner = publish(tmp_path, series_inputs=names)
    api = start().ready()
    refused = api.post("/predict", {"events": [{"x": {"b.lag_2": 1.0}}, {"x": example(7)}]})
    assert refused.status_code == 422
    error = refused.json()["error"]
    assert error.startswith("events.1.x: it has none of the inputs")
    assert "(b.lag_1, b.lag_2, b.lag_3, b.lag_4 and 2 more)" in error
    assert "send them, null where a value is missing" in error
    x = {**example(7), "b.lag_6": None}
    (found,) = api.post("/predict", {"x": x}).raise_for_status().json()["predictions"]
    assert found["y_pred"] == learner.predict_one(example(7))


def test_a_slow_learner_does_not_stop_others(start, tmp_path, monkeypatch):
    """A learner that takes long for an event predicts on a thread; other requests pass."""
    model = ensemble.BaggingRegressor(linear_model.LinearRegression(), n_models=150, seed=1)
    publish(tmp_path, model, n=20, allow_pickle=True)
    monkeypatch.setattr(predicting, "SLOW_SECONDS", 1e-5)
    api = start(allow_pickle=True).ready()
    batch = {"events": [{"x": example(t)} for t in range(400)]}
    done = []
    sending = threading.Thread(target=lambda: done.append(api.post("/predict", batch).json()))
    sending.start()
    during = 0
    deadline = time.monotonic() + 60
    while sending.is_alive() and time.monotonic() < deadline:
        assert api.http.get("/live").status_code == 200
        during += 1
    sending.join()
    found = [each["y_pred"] for each in done[0]["predictions"]]
    assert found == [model.predict_one(example(t)) for t in range(400)]
    assert during > 3
