"""Predictions over HTTP with what a run knows of keys: aggregates, and models by key."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from support.embedded_log import append, settings_of, values
from support.running_api import eventually

from iln_stream.service import Service, Settings
from iln_stream.snapshots.follower import Follower
from iln_stream.snapshots.versions import Versions
from iln_stream.streams import NewRecord

AGGREGATES = {
    "n_10min": {"by": "card", "over": "10min", "how": "count"},
    "ratio": {"by": "card", "of": "amount", "how": "ratio_to_mean"},
    "rate": {"by": ["card", "shop"], "how": "label_mean"},
    "n_all": {"over": "1h", "how": "count"},
    "n_key": {"by": "@key", "over": "1h", "how": "count"},
}


@pytest.fixture
def run(tmp_path: Path):
    """Return the settings of a run on 200 events that publishes; it has ended."""
    log = tmp_path / "log.db"
    rng = np.random.default_rng(1)
    rows = [
        {
            "id": f"e{i}",
            "at": 20.0 * i,
            "card": f"c{rng.integers(5)}",
            "shop": f"s{rng.integers(3)}",
            "amount": float(rng.lognormal()),
            "y": float(i % 7),
        }
        for i in range(200)
    ]
    append(log, [NewRecord(json.dumps(row).encode(), str(row["card"])) for row in rows])
    more = {"target": "y", "time_field": "at", "id_field": "id", "ignore": ["shop"]}
    settings = settings_of(
        log,
        predictions=f"sqlite:{log}#predictions",
        publish=str(tmp_path / "models"),
        aggregates=AGGREGATES,
        keys_in_memory=2,
        **more,
    )
    Service(settings).run()
    return settings


NEW = {"@key": "c1", "card": "c1", "shop": "s2", "amount": 3.0}


def test_a_request_is_predicted_as_the_run_would(run: Settings, start, tmp_path: Path) -> None:
    """The fields of a record give the prediction that the run makes of it next, to the bit, however
    often it is asked: reading counts nothing. The answer says how old what it knows is."""
    api = start().ready()
    asked = {"x": NEW, "timestamp": 4_010.0}
    answers = [api.post("/predict", asked).raise_for_status().json() for _ in range(3)]
    found = {answer["predictions"][0]["y_pred"] for answer in answers}
    assert 0.0 <= answers[0]["model"]["keys_age_seconds"] < 600.0
    record = {"id": "new", "at": 4_010.0, **NEW}
    key = record.pop("@key")
    append(tmp_path / "log.db", [NewRecord(json.dumps(record).encode(), str(key))])
    Service(run).run()
    assert found == {json.loads(values(tmp_path / "log.db", "predictions")[-1])["y_pred"]}
    later = {"x": NEW, "timestamp": 40_000.0}
    (other,) = api.post("/predict", later).raise_for_status().json()["predictions"]
    assert other["y_pred"] not in found


def test_what_the_run_does_not_read_is_not_appended(run: Settings, start, tmp_path: Path) -> None:
    """An event or a label in the form of this API is refused where it would be a dead letter of the
    run, or be read as other inputs; what is only predicted is not."""
    api = start().ready()
    for path, sent in (
        ("/predict", {"x": NEW, "id": "a", "timestamp": 4_010.0}),
        ("/events", {"x": NEW}),
        ("/feedback", {"id": "a", "y": 1.0}),
    ):
        refused = api.post(path, sent)
        assert (refused.status_code, "target = 'y') and would" in refused.text) == (409, True)
    assert len(api.appended()) == 200
    assert api.post("/predict", {"x": NEW, "timestamp": 4_010.0}).status_code == 200


def test_a_new_key_and_a_wrong_field(run: Settings, start) -> None:
    """A key without events is predicted as one; a text where aggregates need a number is refused
    with the field's name; an aggregate that the request has is taken as it is."""
    api = start().ready()
    stranger = {"x": {**NEW, "card": "nobody"}, "timestamp": 4_010.0}
    assert api.post("/predict", stranger).status_code == 200
    wrong = api.post("/predict", {"events": [{"x": NEW}, {"x": {**NEW, "amount": "many"}}]})
    assert wrong.status_code == 422
    assert "events.1.x.amount: aggregates need a number" in wrong.json()["error"]
    given = [{"x": {**NEW, "n_10min": n}, "timestamp": 4_010.0} for n in (0.0, 50.0)]
    found = api.post("/predict", {"events": given}).raise_for_status().json()["predictions"]
    assert found[0]["y_pred"] != found[1]["y_pred"]


def test_where_the_keys_are_not(run: Settings, start, tmp_path: Path) -> None:
    """Without the run's files of keys a request that lacks all aggregates is refused, as it would
    be predicted as if its key were new."""
    shutil.rmtree(tmp_path / "state")
    api = start().ready()
    refused = api.post("/predict", {"x": NEW})
    assert refused.status_code == 422
    assert "none of the inputs that the learner gets of earlier records" in refused.text


def test_a_model_by_key(start, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A published version of a model by key reads the keys in their file, and predicts as the run
    does; it grows with no key. One that is pinned is warned of: its keys are the newest."""
    log = tmp_path / "log.db"
    rng = np.random.default_rng(2)
    rows = [
        {"card": f"c{k}", "amount": float(rng.normal()), "y": 10.0 * k}
        for k in rng.integers(400, size=1_000)
    ]
    append(log, [json.dumps(row).encode() for row in rows])
    models = tmp_path / "models"
    settings = settings_of(
        log,
        predictions=f"sqlite:{log}#predictions",
        publish=str(models),
        by_key="card",
        keys_in_memory=2,
        target="y",
    )
    Service(settings).run()
    (version,) = models.glob("*.model")
    assert version.stat().st_size < (tmp_path / "state/log-events-0/keys.db").stat().st_size / 2
    api = start().ready()
    new = {"card": "c7", "amount": 0.5}
    answer = api.post("/predict", {"x": new}).raise_for_status().json()
    assert answer["model"]["keys_age_seconds"] < 600.0
    append(log, [json.dumps(new).encode()])
    Service(settings).run()
    predicted = json.loads(values(log, "predictions")[-1])["y_pred"]
    assert answer["predictions"][0]["y_pred"] == predicted
    number = Versions(version).pin()
    assert Follower(version).refresh()
    assert f"version {number} is pinned: its models by key are the newest" in caplog.text


def test_an_older_copy_of_the_keys(start, tmp_path: Path) -> None:
    """A file of keys that is older than the published version is refused, not read."""
    log, models = tmp_path / "log.db", tmp_path / "models"
    settings = settings_of(log, publish=str(models), by_key="card", target="y")
    folder, older = tmp_path / "state" / "log-events-0", tmp_path / "older"
    for level in (0.0, 1_000.0):
        rows = [{"card": f"c{i % 5}", "a": 0.1 * i, "y": level} for i in range(100)]
        append(log, [json.dumps(row).encode() for row in rows])
        Service(settings).run()
        if not older.exists():
            shutil.copytree(folder, older)
    api = start().ready()
    asked = {"x": {"card": "c1", "a": 1.0}}
    assert api.post("/predict", asked).json()["predictions"][0]["y_pred"] > 500.0
    for file in folder.glob("keys.db*"):
        file.unlink()
    for file in older.glob("keys.db*"):
        shutil.copy(file, folder)
    other = start()
    eventually(lambda: "or an older copy" in str(other.http.get("/ready").json()["reasons"]))
    assert other.post("/predict", asked).status_code == 503


def test_keys_of_another_run(run: Settings, start, tmp_path: Path) -> None:
    """A file of keys that another run has put in place of the published one's is not read."""
    files = sorted((tmp_path / "state" / "log-events-0").glob("aggregates-1.db*"))
    others = {"snapshots": str(tmp_path / "others"), "publish": None}
    Service(run.model_copy(update=others)).run()
    for file in files:
        file.unlink()
    for file in (tmp_path / "others" / "log-events-0").glob("aggregates-1.db*"):
        shutil.copy(file, files[0].parent)
    api = start().ready()
    refused = api.post("/predict", {"x": NEW})
    assert refused.status_code == 422
    assert "none of the inputs" in refused.text
