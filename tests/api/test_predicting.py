"""Predictions of each kind of learner."""

import threading
import time

import pytest
from river import ensemble, linear_model
from support.publishable import LEARNERS
from support.running_api import example, publish

from iln_stream.api import predicting


@pytest.mark.parametrize("kind", LEARNERS)
def test_each_learner(start, tmp_path, kind):
    """Each learner that can be published predicts as it did, and is described."""
    learner = LEARNERS[kind]()
    publish(tmp_path, learner, n=80, label=lambda t: float(t % 3 == 0), allow_pickle=True)
    api = start(allow_pickle=True).ready()
    (found,) = api.post("/predict", {"x": example(7)}).raise_for_status().json()["predictions"]
    if kind == "classes":
        probabilities = learner.predict_proba_one(example(7))
        assert list(found["probabilities"].values()) == list(probabilities.values())
    else:
        assert found["y_pred"] == learner.predict_one(example(7))
    described = api.http.get("/model").raise_for_status().json()
    assert described["inputs"] is None or set(described["inputs"]) == {"a", "b", "c"}


def test_a_slow_learner_does_not_stop_others(start, tmp_path, monkeypatch):
    """A learner that takes long for an event predicts on a thread; other requests pass."""
    model = ensemble.BaggingRegressor(linear_model.LinearRegression(), n_models=300, seed=1)
    publish(tmp_path, model, n=20, allow_pickle=True)
    monkeypatch.setattr(predicting, "SLOW_SECONDS", 1e-5)
    api = start(allow_pickle=True).ready()
    batch = {"events": [{"x": example(t)} for t in range(800)]}
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
    assert found == [model.predict_one(example(t)) for t in range(800)]
    assert during > 3
