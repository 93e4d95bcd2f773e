"""Forecasts: one learner a horizon, from the records of one log."""

import json
from math import sin
from pathlib import Path

import pytest
from support.embedded_log import append, forecasts, settings_of, values

from iln_stream.errors import RefusedError
from iln_stream.records import read_prediction
from iln_stream.service import Service, Settings, SettingsError, predict, warm_start
from iln_stream.snapshots import learner_of, snapshot_at
from iln_stream.streams.sqlite import create_topic, readers

HOUR = 3600.0


def record(i: int) -> bytes:
    load = None if i % 17 == 5 else round(10 + 5 * sin(i / 4) + i % 3, 3)
    return json.dumps({"at": i * HOUR, "load": load, "temp": i % 7, "id": f"r{i}"}).encode()


def fill(path: Path, first: int, count: int) -> None:
    append(path, [record(i) for i in range(first, first + count)])


def settings(path: Path, **more: object) -> Settings:
    given: dict[str, object] = {
        "predictions": f"sqlite:{path}#predictions",
        "target": "load",
        "time_field": "at",
        "id_field": "id",
        "horizon": "1,3h",
        "lags": {"load": 2, "temp": [3]},
        "rolling_means": {"load": 4},
    }
    return settings_of(path, **{**given, **more})


def test_each_record_has_a_forecast_for_each_horizon(path: Path) -> None:
    """Every message names its horizon and, if that is a time, the time that it is for; it has no
    label, and is of the horizon's own model."""
    fill(path, 0, 50)
    service = Service(settings(path, publish=str(path.parent / "models")))
    service.run()
    models = [file.name for file in sorted((path.parent / "models").glob("*.model"))]
    assert models == ["log-events-0@1.model", "log-events-0@3h.model"]
    for horizon, seconds in (("1", None), ("3h", 3 * HOUR)):
        found = forecasts(path, horizon)
        assert [each["offset"] for each in found] == list(range(50))
        for each in found:
            assert each["y"] is None
            assert each["model"]["name"] == f"log-events/pool@{horizon}"
            assert each.get("horizon_time") == (seconds and each["time"] + seconds)
            assert read_prediction(json.dumps(each)).horizon == horizon
    versions = {each["model"]["version"] for h in ("1", "3h") for each in forecasts(path, h)}
    assert len(versions) == 2
    one, three = (each.watched.scores for each in service.workers)
    assert (one.n_events, one.n_labelled) == (50, 46)  # 3 values are missing, 1 is to come
    assert (three.n_events, three.n_labelled) == (50, 44)
    assert [(each.writes_to, each.next_offset) for each in readers(path, "events")] == [
        ("predictions@1", 50),
        ("predictions@3h", 50),
    ]


def test_restarts_make_no_difference(path: Path) -> None:
    """A run in pieces publishes each forecast once, with the values of a run without a stop."""
    for first in range(0, 60, 20):
        fill(path, first, 20)
        Service(settings(path)).run()
    whole = {"predictions": f"sqlite:{path}#whole", "snapshots": str(path.parent / "other")}
    Service(settings(path, **whole)).run()
    for horizon in ("1", "3h"):
        assert forecasts(path, horizon) == forecasts(path, horizon, "whole")
    for folder in ("log-events-0@1", "log-events-0@3h"):
        ours, theirs = (snapshot_at(path.parent / f / folder) for f in ("state", "other"))
        assert ours.header.positions == theirs.header.positions
        assert str(ours.state["pending"]) == str(theirs.state["pending"])
        assert str(ours.state["learner"]) == str(theirs.state["learner"])


def test_a_horizon_can_be_added(path: Path) -> None:
    """A further horizon learns from the beginning, while the others resume."""
    fill(path, 0, 30)
    Service(settings(path, horizon=[1])).run()
    Service(settings(path, horizon=[2, 1])).run()
    assert [each["offset"] for each in forecasts(path, "1")] == list(range(30))
    assert [each["offset"] for each in forecasts(path, "2")] == list(range(30))


def test_a_record_that_can_not_be_read_is_one_dead_letter(path: Path) -> None:
    """It is one record, so it is written once, although each horizon reads it."""
    fill(path, 0, 3)
    append(path, [b'{"load": "?!", "temp": 1}', b"no JSON"])
    Service(settings(path)).run()
    assert len(values(path, "events-dead-letters")) == 2


def test_a_record_without_a_time_is_one_dead_letter(path: Path) -> None:
    """It has no place among times, though it has one among records: it is written nevertheless,
    whichever horizon is named first."""
    file, letters = path.with_name("a.jsonl"), path.with_name("letters.jsonl")
    times = [{"at": i * HOUR} if i % 5 else {} for i in range(20)]
    file.write_text("".join(f"{json.dumps({**at, 'load': 1.0})}\n" for at in times))
    for horizon in ("1,3h", "3h,1"):
        letters.unlink(missing_ok=True)
        more = {"source": str(file), "horizon": horizon, "dead_letters": str(letters)}
        Service(settings(path, snapshots=None, predictions=None, **more)).run()
        found = [json.loads(line) for line in letters.read_text().splitlines()]
        assert [each["offset"] for each in found] == [0, 5, 10, 15]


def test_a_repeated_record_is_no_step(path: Path) -> None:
    """A record that comes twice, with its value, is recognised by its id alone."""
    fill(path, 0, 9)
    fill(path, 8, 1)
    service = Service(settings(path, recent_ids=5))
    service.run()
    assert [each.watched.n_repeats for each in service.workers] == [1, 1]
    assert [each["offset"] for each in forecasts(path, "1")] == list(range(9))


def test_a_forecast_of_the_change(path: Path) -> None:
    """The later value is published and scored. The learner learned its change from the present one,
    with challengers alike; and a run that stops and goes on publishes the same."""
    changes: dict[str, object] = {
        "forecast": "change",
        "learner": "infinite-layer",
        "learner_options": {"profile": "fast"},
        "prediction_intervals": "0.9",
        "challengers": {"other": {"learner": "pool", "learner_options": {"size": 16}}},
    }
    fill(path, 0, 30)
    Service(settings(path, **changes)).run()
    fill(path, 30, 30)
    service = Service(settings(path, **changes))
    service.run()
    whole = {"predictions": f"sqlite:{path}#whole", "snapshots": None, "start": "earliest"}
    Service(settings(path, **{**changes, **whole})).run()
    for horizon in ("1", "3h"):
        found = forecasts(path, horizon)
        assert len(found) == 60
        assert found == forecasts(path, horizon, "whole")
        ((low, high),) = found[-1]["intervals"].values()
        assert low <= found[-1]["y_pred"] <= high
    contest = service.workers[0].learner
    assert {type(each).__name__ for each in contest.contenders.values()} == {"ChangeOfTarget"}
    assert service.workers[0].watched.scores.n_labelled > 50
    with pytest.raises(RefusedError, match="forecast was 'change'"):
        Service(settings(path, **{**changes, "forecast": "value"}))


def test_a_history_goes_on_with_the_log(path: Path) -> None:
    """After files of history the first value of the log labels the last forecast of the history,
    and its lags are values of the history: as if all had been in the log."""
    file = path.parent / "history.jsonl"
    file.write_bytes(b"\n".join(record(i) for i in range(30)) + b"\n")
    fill(path, 30, 20)
    warmed = settings(path, warm_start=str(file), start="earliest")
    warm_start(warmed)
    Service(warmed).run()
    whole = path.parent / "whole.db"
    fill(whole, 0, 50)
    Service(settings(whole, snapshots=str(path.parent / "other"))).run()
    for horizon in ("1", "3h"):
        ours, theirs = forecasts(path, horizon), forecasts(whole, horizon)[30:]
        assert [each["y_pred"] for each in ours] == [each["y_pred"] for each in theirs]


def test_predicting_with_a_snapshot(path: Path) -> None:
    """`predict` forecasts with the learner, horizon and inputs of a snapshot, and scores it."""
    fill(path, 0, 40)
    Service(settings(path)).run()
    snapshot = snapshot_at(path.parent / "state" / "log-events-0@1")
    out = path.parent / "p.jsonl"
    done = predict(
        Settings(source=f"sqlite:{path}", predictions=str(out), metrics_port=None),
        learner_of(snapshot.state["learner"], False),
        snapshot=snapshot,
    )
    # 3 values are missing, 1 is to come
    assert (done.scores.n_events, done.scores.n_labelled) == (40, 36)
    assert {json.loads(line)["horizon"] for line in out.read_text().splitlines()} == {"1"}


def test_a_series_is_in_one_partition(path: Path) -> None:
    """Partitions in order of arrival are no series, so they need a learner each."""
    create_topic(path, "events", 2)
    append(path, [record(0)])
    with pytest.raises(SettingsError, match=r"horizon: a series .* set learner_per = partition"):
        Service(settings(path))
    Service(settings(path, learner_per="partition")).run()
    names = {each["model"]["name"] for each in forecasts(path, "1")}
    assert names == {"log-events/pool@1"}
