"""Predictions of records over HTTP: by the run's own settings of fields."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.embedded_log import append, messages, settings_of
from support.running_api import example

from iln_stream import RecordInputs, load
from iln_stream.client import Client
from iln_stream.service import Service
from iln_stream.streams import NewRecord

FIELDS = {
    "types": {"note": "text", "zip": "category"},
    "time_features": ["hour", "weekday"],
    "time_zone": "Europe/Berlin",
    "crosses": ["zone*hour"],
    "ignore": ["card"],
}
AGGREGATES = {"n_1h": {"by": "card", "over": "1h", "how": "count"}}
BY_KEY = {"n_1h": {"by": "@key", "over": "1h", "how": "count"}}


def record(i: int) -> dict[str, Any]:
    rng = np.random.default_rng(i)
    zone = f"z{rng.integers(3)}"
    at = f"2026-03-{29 + i // 720:02}T{i // 30 % 24:02}:{2 * (i % 30):02}:00"
    order = {"zip": 1067 + int(rng.integers(4)), "km": float(rng.gamma(2.0)), "zone": zone}
    note = "ring twice" if rng.random() < 0.5 else "third floor"
    return {"at": at, "card": f"c{rng.integers(5)}", "order": order, "zone": zone, "note": note}


def label(order: dict[str, Any]) -> float:
    km, rings = order["order"]["km"], "ring" in order["note"]
    return float(3.0 * km + 2.0 * (order["zone"] == "z1") + 4.0 * rings)


@pytest.mark.parametrize("aggregates", [{}, AGGREGATES, BY_KEY])
def test_notebook_run_and_http_agree(tmp_path: Path, start, aggregates: dict[str, object]) -> None:
    """A record has the same prediction, to the bit, in a run, over HTTP, from its Python client
    and, unless aggregates need earlier events, in Python with the same settings."""
    log = tmp_path / "log.db"
    minutes = [{**record(i), "y": label(record(i))} for i in range(200)]
    append(log, [NewRecord(json.dumps(each).encode(), str(each["card"])) for each in minutes])
    settings = settings_of(
        log, target="y", time_field="at", publish=str(tmp_path / "models"), aggregates=aggregates,
        learner="infinite-layer", learner_options={"profile": "fast"},
        predictions=f"sqlite:{log}#out", **FIELDS,
    )  # fmt: skip
    Service(settings).run()
    api = start().ready()
    new = [record(i) for i in range(200, 205)]
    asked = [each | ({"@key": each["card"]} if aggregates is BY_KEY else {}) for each in new]
    answer = api.post("/predict", {"records": asked}).raise_for_status().json()
    one = api.post("/predict", {"record": asked[0]}).raise_for_status().json()
    by_http = [each["y_pred"] for each in answer["predictions"]]
    assert one["predictions"][0]["y_pred"] == by_http[0]
    with Client(api.url, trust_env=False) as client:
        assert [each.y_pred for each in client.predict_records(asked)] == by_http
    assert not any("unknown_inputs" in each for each in answer["predictions"])
    append(log, [NewRecord(json.dumps(each).encode(), str(each["card"])) for each in new])
    Service(settings).run()
    by_run = [each["y_pred"] for each in messages(log, "out")][-5:]
    if aggregates:  # in the run, the new events count for those after them
        assert by_http[0] == by_run[0]
        return
    assert by_http == by_run
    inputs, model = RecordInputs(time_field="at", **FIELDS), load(tmp_path / "state")
    assert [model.predict_one(inputs.transform_one(each)) for each in new] == by_run
    assert len(set(by_run)) == 5


def test_inputs_that_the_learner_does_not_know(learner_and_api) -> None:
    """A misspelt input is named in the answer and counted, others are not; and a record is refused
    where the run reads events."""
    _, api = learner_and_api
    x = example(1)
    before = api.metrics()[("iln_api_inputs_suspicious_total", "unknown")]
    (found,) = api.post("/predict", {"x": {**x, "tempp": 3.0, "at": "now"}}).json()["predictions"]
    assert found["unknown_inputs"] == ["tempp", "at=now"]
    assert "unknown_inputs" not in api.post("/predict", {"x": x}).json()["predictions"][0]
    assert api.metrics()[("iln_api_inputs_suspicious_total", "unknown")] == before + 2.0
    with Client(api.url, trust_env=False) as client:
        assert client.predict({**x, "tempp": 3.0}).unknown_inputs == ("tempp",)
    refused = api.post("/predict", {"record": {"a": 1.0}})
    assert refused.status_code == 409
    assert "the run has no settings of fields" in refused.json()["error"]
