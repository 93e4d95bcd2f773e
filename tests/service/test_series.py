"""Several series in one stream: forecasts and inputs of each, by one learner."""

import json
import random
from math import sin
from pathlib import Path

import pytest
from support.embedded_log import append, forecasts, settings_of, values

from iln_stream.errors import RefusedError
from iln_stream.service import Service, Settings, SettingsError, predict, rebuild
from iln_stream.snapshots import learner_of, snapshot_at
from iln_stream.streams import NewRecord

HOUR = 3600.0
SHOPS = {"a": 10.0, "b": 1000.0, "zero": 0.0, "debt": -50.0}


def sold(shop: str, hour: int) -> float:
    return SHOPS[shop] * (1.0 + 0.5 * sin(hour / 4)) + 0.01 * (hour % 5) * SHOPS[shop]


def record(shop: str, hour: int, /, **more: object) -> bytes:
    at = {"at": hour * HOUR, "shop": shop, "article": 7, "sold": sold(shop, hour)}
    return json.dumps({**at, **more}).encode()


def fill(path: Path, hours: range, shops: tuple[str, ...] = ("a", "b")) -> None:
    append(path, [record(shop, hour) for hour in hours for shop in shops])


def settings(path: Path, **more: object) -> Settings:
    given: dict[str, object] = {
        "predictions": f"sqlite:{path}#predictions",
        "target": "sold",
        "time_field": "at",
        "series": "shop,article",
        "horizon": "1,3h",
        "lags": {"sold": 2},
        "rolling_means": {"sold": 4},
        "learner": "infinite-layer",
        "learner_options": {"profile": "fast"},
    }
    return settings_of(path, **{**given, **more})


def test_each_series_gets_its_own_values(path: Path) -> None:
    """Labels, lags, means and trivial predictors are those of the record's series, for a horizon
    in records and in time: the error is small at both levels, and a series of zeros is 0."""
    fill(path, range(300), tuple(SHOPS))
    service = Service(settings(path))
    service.run()
    for horizon, ahead in (("1", 1), ("3h", 3)):
        found = forecasts(path, horizon)
        assert len(found) == 300 * len(SHOPS)
        for i, each in enumerate(found):
            shop, hour = list(SHOPS)[i % len(SHOPS)], i // len(SHOPS)
            if 200 <= hour < 300 - ahead:
                later = sold(shop, hour + ahead)
                assert each["y_pred"] == pytest.approx(later, abs=0.15 * abs(SHOPS[shop]))
    for worker in service.workers:
        last = worker.watched.baselines.by_name["last_value"].running
        assert last < 400.0 / 4  # that of another series would be off by hundreds
        assert worker.watched.scores.n_labelled in (4 * 299, 4 * 297)
        (metric,) = (m for m in worker.loop.late.metrics() if m.name == "iln_series_error_ratio")
        assert metric.read()["0.5"] < 0.2


def test_messages_and_baselines_are_of_the_series(path: Path) -> None:
    """Each message names its series, and the end line has the best baseline: the series' own value
    of the day before, where it has a daily pattern at its own level."""
    append(path, [
        record(shop, hour, sold=(7 + n * hour) % 24 * SHOPS[shop] + hour // 24)
        for hour in range(240) for n, shop in enumerate(("a", "b"), 1)
    ])  # fmt: skip
    service = Service(settings(path, horizon="3"))
    service.run()
    assert [each["series"] for each in forecasts(path, "3")[:3]] == [
        ["a", "7"], ["b", "7"], ["a", "7"]
    ]  # fmt: skip
    (worker,) = service.workers
    assert worker.watched.baselines.seasonal["day_before"].windowed == pytest.approx(1.0)
    assert "the day before (" in worker.watched.summary()


def test_a_stream_of_several_series_is_refused_without_the_setting(path: Path) -> None:
    """The run ends with the name of the setting; before, it reported small errors of wrong
    forecasts. Without time_field, records are taken in their order."""
    fill(path, range(300))
    with pytest.raises(RefusedError, match="series = "):
        Service(settings(path, series=())).run()
    Service(settings(path, series=(), time_field=None, horizon="1", snapshots=None)).run()


def test_a_new_series(path: Path) -> None:
    """It is forecast from its first record on, at its own level."""
    fill(path, range(200))
    append(path, [record("a", hour, shop="new", sold=30 * sold("a", hour)) for hour in range(3)])
    Service(settings(path, horizon="1")).run()
    for hour, each in enumerate(forecasts(path, "1")[-3:-1]):
        assert each["y_pred"] == pytest.approx(30 * sold("a", hour + 1), rel=0.5)


def test_the_record_s_key_is_a_series(path: Path) -> None:
    """With `@key` the keys of the records tell series apart as a field does, to the bit."""
    keyed = [NewRecord(record(shop, hour), shop) for hour in range(60) for shop in ("a", "b")]
    append(path, keyed)
    found = []
    for name in ("@key", "shop"):
        more = {"series": name, "ignore": "shop,article", "horizon": "1"}
        out = {"predictions": f"sqlite:{path}#by-{name[1:]}", "snapshots": str(path.parent / name)}
        Service(settings(path, **more, **out)).run()
        found.append([each["y_pred"] for each in forecasts(path, "1", f"by-{name[1:]}")])
    assert found[0] == found[1]
    assert len(found[0]) == 120


def test_a_record_of_no_series_is_a_dead_letter(path: Path) -> None:
    """Nobody knows whose label it would be; what it lacks is named."""
    fill(path, range(3))
    append(path, [record("a", 3, shop=None), record("b", 3, article="x" * 2_000)])
    Service(settings(path, horizon="1")).run()
    letters = [json.loads(each)["reason"] for each in values(path, "events-dead-letters")]
    assert "shop: missing or null, so that the record belongs to no series" in letters[0]
    assert "names the series has over 1,000 characters" in letters[1]


def test_restarts_rebuilds_and_predictions(path: Path) -> None:
    """A run in pieces is a whole run to the bit, and so is a rebuild; `predict` goes on with the
    levels of the snapshot."""
    draw = random.Random(1)
    for first in range(0, 60, 20):
        fill(path, range(first, first + 20), tuple(draw.sample(list(SHOPS), 3)))
        Service(settings(path)).run()
    whole = {"predictions": f"sqlite:{path}#whole", "snapshots": str(path.parent / "other")}
    Service(settings(path, **whole)).run()
    folders = [path.parent / "state" / f"log-events-0@{h}" for h in ("1", "3h")]
    for horizon, folder in zip(("1", "3h"), folders, strict=True):
        assert forecasts(path, horizon) == forecasts(path, horizon, "whole")
        ours, theirs = (snapshot_at(p) for p in (folder, path.parent / "other" / folder.name))
        for part in ("pending", "decoder", "learner"):
            assert str(ours.state[part]) == str(theirs.state[part])
        of_series = [p.state["counts"]["baselines"]["seasonal"]["series"] for p in (ours, theirs)]
        assert str(of_series[0]) == str(of_series[1])
    before = [str(snapshot_at(folder).state["learner"]) for folder in folders]
    assert rebuild(settings(path)) == [{("log-events", 0): 180}] * 2
    assert [str(snapshot_at(folder).state["learner"]) for folder in folders] == before
    snapshot, out = snapshot_at(folders[0]), path.parent / "p.jsonl"
    file = path.with_name("next.jsonl")
    file.write_bytes(record("b", 60) + b"\n")
    predict(
        Settings(source=str(file), predictions=str(out), metrics_port=None),
        learner_of(snapshot.state["learner"], False),
        snapshot=snapshot,
    )
    assert json.loads(out.read_text())["y_pred"] == pytest.approx(sold("b", 61), rel=0.5)


def test_settings_that_series_need(path: Path) -> None:
    """Fields that name series can't have other roles, and something must depend on them."""
    fill(path, range(3))
    with pytest.raises(SettingsError, match="series: 'sold' has another role"):
        Service(settings(path, series="sold"))
    with pytest.raises(SettingsError, match="series: nothing depends on a record's series"):
        Service(settings(path, horizon=(), lags={}, rolling_means={}))
