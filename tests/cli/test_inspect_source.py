"""`iln-stream inspect-source`: the fields of a source, and settings that learn them."""

import datetime as dt
import json
import tomllib

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.embedded_log import append, settings_of
from support.kafka_topics import produce

from iln_stream.errors import IlnWarning
from iln_stream.service import Service
from iln_stream.streams import NewRecord

RUN = "run", "--config=learn.toml", "--metrics-port=0", "--learner=pool", "--stop-at-end"


@pytest.fixture
def inspected(command, tmp_path):
    """Write records into a.jsonl, and inspect it."""

    def inspect(records, *more):
        lines = [each if isinstance(each, str) else json.dumps(each) for each in records]
        (tmp_path / "a.jsonl").write_text("\n".join(lines))
        return command("inspect-source", "a.jsonl", *more)

    return inspect


@pytest.fixture
def imported(command, tmp_path):
    """Import records into topics of shop.db; return the flags of a source and its labels."""

    def store(events, labels):
        for name, rows in (("events", events), ("labels", labels)):
            (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
            assert command("log", "import", f"{name}.jsonl", f"sqlite:shop.db#{name}").code == 0
        return ("sqlite:shop.db#events", "--labels", "sqlite:shop.db#labels")

    return store


def test_more_fields_than_an_event_can_have(inspected):
    """They would take minutes: the error names the bound."""
    done = inspected([{f"x{i}": 1 for i in range(10_001)}])
    assert "10,001 fields; at most 10,000" in done.err


def test_names_are_printed_as_they_are(inspected):
    """Names and reasons with brackets or colons reach the table and the TOML file unchanged, as do
    odd texts and possible codes its comments."""
    records = [
        {"temp [red]": str(i), ":smile:": i % 3, "te\nmp": str(i / 2), "price [EUR]": i / 2}
        for i in range(100)
    ]
    records.append({"te\nmp": "2\x7f\n1,5", "price [EUR]": 2})
    done = inspected([*records, '{"[bold]": 1, "[bold]": 2}', '{"a": {"b": 1}, "a.b": 2}']).ok()
    table = done.err
    for name in ("temp [red]", ":smile:", "price [EUR]", "[bold]: this key occurs"):
        assert name in table
    settings = tomllib.loads(done.out)
    assert settings["target"] == "price [EUR]"
    assert settings["types"] == {"temp [red]": "number", "te\nmp": "number"}
    assert r'# "te\nmp": 1 of 101 values are no numbers, the first is "2\u007f\n1,5"' in done.out
    assert '":smile:" = "category"' in done.out.partition("# Few different whole numbers")[2]
    assert "2 records can't be read" in table


def test_a_parquet_file(command, tmp_path):
    """The proposal for a Parquet file learns it."""
    hours = [dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=i) for i in range(60)]
    table = pa.table(
        {
            "at": hours,
            "shop": [{"zip": f"0{i % 7}067"} for i in range(60)],
            "sky": pa.array([["clear", "rain"][i % 2] for i in range(60)]).dictionary_encode(),
            "photo": [b"\x00"] * 60,
            "price": [i % 7 / 2 for i in range(60)],
        }
    )
    parquet.write_table(table, tmp_path / "a.parquet")
    done = command("inspect-source", "a.parquet").ok()
    assert tomllib.loads(done.out) == {
        "source": "a.parquet", "target": "price", "time_field": "at", "ignore": ["photo"],
        "time_features": ["hour", "weekday"], "types": {"shop.zip": "category"},
    }  # fmt: skip
    (tmp_path / "learn.toml").write_text(done.out)
    ran = command("run", "--config", "learn.toml", "--metrics-port", "0", "--learner", "pool").ok()
    assert "60 events, 0 dead letters" in ran.err
    refused = command("run", "--source", "a.parquet", "--target", "shop.zap")
    assert "no column 'shop.zap'" in refused.err
    assert "did you mean shop.zip?" in refused.err


def test_a_spreadsheet_of_another_country(command, tmp_path):
    """What is unusual is named; its settings are proposed and read the file; run without fails."""
    lines = [
        f'{i % 28 + 1:02d}.01.2026;"{i % 7},5";"{("klar", "Regen; stark")[i % 2]}";{i % 9},50'
        for i in range(60)
    ]
    text = "\ufeff" + "\r\n".join(["Datum;Außen Temp;Wetter;Preis (EUR)", *lines]) + "\r\n"
    (tmp_path / "a.csv").write_bytes(text.encode())
    done = command("inspect-source", "a.csv").ok()
    for found in ("separator = ';'", "decimal = ','", "date_order = 'dmy'"):
        assert f"It is read with {found}." in done.err
    assert '"Außen Temp" = "number"' in done.out
    settings = tomllib.loads(done.out)
    assert (settings["separator"], settings["decimal"], settings["date_order"]) == (";", ",", "dmy")
    assert (settings["target"], settings["time_field"]) == ("Preis (EUR)", "Datum")
    (tmp_path / "learn.toml").write_text(done.out)
    run = ("run", "--metrics-port", "0", "--learner", "pool")
    assert "60 events, 0 dead letters" in command(*run, "--config", "learn.toml").ok().err
    as_it_is = ("--source", "a.csv", "--target", "Preis (EUR)")
    refused = command(*run, *as_it_is)
    assert (refused.code, "set separator = ';'" in refused.err) == (2, True)
    refused = command(*run, *as_it_is, "--separator", ";")
    assert (refused.code, 'set decimal = ","' in refused.err) == (2, True)
    assert 'decimal = ","' in refused.err.rpartition("Save this as")[2]


def test_the_proposal_has_no_password(inspected):
    """Options that may hold a password are named in the proposal, not shown."""
    options = '{"sasl_plain_password": "geheim"}'
    done = inspected([{"a": 1, "price": 2}, {"a": 2, "price": 3}], "--kafka-options", options)
    assert "# Add kafka_options: they may hold passwords" in done.out
    assert "geheim" not in done.out + done.err
    assert tomllib.loads(done.out)["target"] == "price"


def test_a_label_of_classes(inspected):
    """If most labels are texts or booleans, the settings name the learner of classes."""
    for values in (["cat", "dog", "3"], [True, False, True]):
        records = [{"a": i, "label": values[i % 3]} for i in range(40)]
        settings = tomllib.loads(inspected(records).out)
        assert settings["target"] == "label"
        assert settings["learner"] == "infinite-layer-classifier"


def test_given_settings_are_kept(inspected, command, tmp_path):
    """The proposal repeats given settings, from flags and files, and guesses complete them."""
    records = [
        {"tx": f"t-{i}", "at": f"2026-01-01T08:00:{i}Z", "country": "DE", "n": str(i), "w": i,
         "a": i / 3, "sky": "clear", "line": "x" * (i % 3)}
        for i in range(10, 60)
    ]  # fmt: skip
    (tmp_path / "some.toml").write_text('weight_field = "w"\ntypes = {sky = "category"}\n')
    done = inspected(
        records, "--config", "some.toml", "--id-field", "tx", "--ignore", "line",
        "--time-features", "hour", "--null-values", "NA", "--learner", "pool", "--window", "500",
    ).ok()  # fmt: skip
    assert tomllib.loads(done.out) == {
        "source": "a.jsonl", "target": "a", "id_field": "tx", "time_field": "at",
        "time_features": ["hour"], "weight_field": "w", "ignore": ["line", "n"],
        "types": {"sky": "category"}, "null_values": ["NA"], "learner": "pool", "window": 500,
    }  # fmt: skip
    assert '# target = "a" is a guess: the last number' in done.out
    twice = command("inspect-source", "a.jsonl", "--id-field", "tx", "--target", "tx")
    assert (twice.code, "'tx' can't be two of target, id_field" in twice.err) == (2, True)


def test_events_with_settings_of_fields(inspected):
    """Events are records as they are if a setting says so."""
    records = [{"x": {"a": str(i)}, "y": i / 2} for i in range(30)]
    assert not inspected(records).out
    settings = tomllib.loads(inspected(records, "--target", "y").out)
    assert settings == {"source": "a.jsonl", "target": "y", "types": {"x.a": "number"}}


def test_the_table_fits_a_narrow_terminal(inspected, monkeypatch):
    """With 80 characters no heading is cut and no word is broken."""
    monkeypatch.setenv("COLUMNS", "80")
    records = [
        {"customer_name": f"customer-{i % 20}", "shop": {"temperature": str(i / 3)},
         "note": f"please call {i} again", "price": i}
        for i in range(40)
    ]  # fmt: skip
    table = inspected(records).err
    assert "…" not in table
    assert max(map(len, table.partition("Save this")[0].splitlines())) <= 80
    words = {*table.split()}
    assert {"customer_name", "shop.temperature", "examples", "distinct", "ignored"} <= words


def test_a_log_of_labels(imported, command, tmp_path):
    """With `labels`, ids are found by their values, no input is a label, and the proposal runs;
    it is the same where the label is named, in which a wrong name is an error."""
    orders = [
        {"order": 100 + i, "bags": i % 4, "at": f"2026-01-01T{i % 24:02}:00:00"} for i in range(24)
    ]
    outcomes = [{"by": "Kim", "orderId": str(100 + i), "result": {"price": f"{i}.5"},
                 "done_at": 1767225600 + 3600 * (i + 1)} for i in (*range(20), 3)]  # fmt: skip
    streams = imported(orders, outcomes)
    done = command("inspect-source", *streams).ok()
    settings = tomllib.loads(done.out)
    assert settings["labels_settings"] == {
        "target": "result.price", "id_field": "orderId", "time_field": "done_at",
    }  # fmt: skip
    assert (settings["id_field"], settings["time_field"]) == ("order", "at")
    assert settings["recent_ids"] == 100_000
    assert "target" not in settings
    (tmp_path / "learn.toml").write_text(done.out)
    ran = command(*RUN)
    assert "24 events, 0 dead letters, 1 repeats, waiting: 4 events and 0 labels" in ran.err
    named = command("inspect-source", *streams, "--target", "result.price")
    assert named.out == done.out, named.err
    wrong = command("inspect-source", *streams, "--target", "result.prize")
    assert "did you mean result.price?" in wrong.err


def test_labels_without_a_time(imported, command, tmp_path):
    """The proposal says that labels have no time, so that a run of it warns of nothing."""
    orders = [{"order": 100 + i, "n": i % 4, "at": f"2026-01-01T{i}:00:00"} for i in range(10, 24)]
    minutes = [{"order": 100 + i, "minutes": i / 2} for i in range(10, 24)]
    done = command("inspect-source", *imported(orders, minutes))
    own = tomllib.loads(done.out)["labels_settings"]
    assert own == {"target": "minutes", "id_field": "order", "time_field": ""}
    assert "# Labels have no field of a time" in done.out
    (tmp_path / "learn.toml").write_text(done.out)
    ran = command(*RUN)
    assert "14 events, 0 dead letters" in ran.err
    assert "time_field" not in ran.err
    (tmp_path / "learn.toml").write_text(done.out.replace(', "time_field" = ""', ""))
    with pytest.warns(IlnWarning, match='set time_field = "" in labels_settings'):
        command(*RUN)


def test_a_topic_with_repeated_ids(broker, topic, command, tmp_path):
    """The proposal recognises repeats, begins somewhere, and says why it took the label: it runs
    as it is, and learns each event once."""
    orders = [{"order_id": f"o-{i}", "delivery_minutes": 20 + i % 7, "km": i / 3, "price": i / 2}
              for i in (*range(98), 3, 4)]  # fmt: skip
    produce(broker.bootstrap, topic, [(None, json.dumps(each).encode()) for each in orders])
    done = command("inspect-source", f"kafka:{topic}", "--bootstrap", broker.bootstrap).ok()
    settings = tomllib.loads(done.out)
    assert settings["start"] == "earliest"
    assert (settings["id_field"], settings["recent_ids"]) == ("order_id", 100_000)
    assert '# target = "price" is the label by its name. Other numbers: "delivery_' in done.out
    assert '# "order_id" is the id, and 2 of 100 values came before' in done.out
    (tmp_path / "learn.toml").write_text(done.out)
    ran = command(*RUN)
    assert "98 events, 0 dead letters" in ran.err


def test_every_partition_is_looked_at(command, tmp_path):
    """Records of one key are in one partition: a field that only some keys have is found, as is
    the time, though its order is that of the whole log."""
    assert command("log", "create", "sqlite:log.db", "--partitions", "3").code == 0
    log = []
    shops = ("a", {}), ("b", {"depth": 2.5}), ("c", {"colour": "red"})
    for i in range(30):
        at = f"2026-01-01T08:{i:02d}:00Z"
        for partition, (shop, extra) in enumerate(shops):
            fields = {"moment": at, "shop": shop, "price": i / 7, **extra}
            log.append(NewRecord(json.dumps(fields).encode(), partition=partition))
    append(tmp_path / "log.db", log)
    done = command("inspect-source", "sqlite:log.db", "--records", "30").ok()
    assert all(name in done.err for name in ("depth", "colour"))
    assert tomllib.loads(done.out)["time_field"] == "moment"


def test_forecasts_of_several_series(inspected, command, tmp_path):
    """The proposal names the fields that tell series apart, and seasonal lags; it learns.

    Without `series`, a run would refuse this file.
    """
    rows = [
        {
            "at": f"2026-01-{1 + hour // 24:02}T{hour % 24:02}:00",
            "shop": shop,
            "open": "yes" if hour % 24 > 6 else "no",
            "sold": 10 * (1 + ord(shop) - ord("a")) + hour % 24,
        }
        for hour in range(24 * 14)
        for shop in "abc"
    ]
    done = inspected(rows, "--target", "sold")
    assert "# There is a series for each shop: to forecast each from its own past" in done.out
    done = inspected(rows, "--target", "sold", "--horizon", "24")
    found = tomllib.loads(done.out)
    assert found["series"] == ["shop"]
    assert found["lags"] == {"sold": [1, 2, 3, 23, 24, 25, 143, 144, 145, 311, 312, 313]}
    assert found["rolling_means"] == {"sold": [24, 168]}
    (tmp_path / "learn.toml").write_text(done.out)
    done = command("run", "--config", "learn.toml", "--profile", "fast").ok()
    assert "1,008 events, 0 dead letters" in done.err


@pytest.mark.parametrize("weekdays", [range(5), range(7)])
def test_a_horizon_of_records(weekdays, inspected):
    """A comment says that the time between records differs, unless only weekends are left out."""
    days = [dt.date(2026, 1, 5) + dt.timedelta(days=i) for i in range(200)]
    rows = [{"at": str(day), "sold": i % 7} for i, day in enumerate(days)
            if day.weekday() in weekdays and (len(weekdays) < 7 or i % 9 % 4)]  # fmt: skip
    done = inspected(rows, "--target", "sold", "--horizon", "3")
    assert ("# Time steps differ" in done.out) == (len(weekdays) == 7)
    done = inspected(rows, "--target", "sold", "--horizon", "3d")
    assert "# Time steps differ" not in done.out


def test_a_meter(inspected):
    """The change is learned of what only rises but for a reset, and the comment says so."""
    rows = [{"at": 1_767_225_600 + 3_600 * i, "kwh": i % 150 * 5.5} for i in range(200)]
    done = inspected([{"kwh": each["kwh"]} for each in rows], "--target", "kwh", "--horizon", "1")
    assert tomllib.loads(done.out)["forecast"] == "change"
    done = inspected(rows, "--target", "kwh", "--horizon", "1")
    assert tomllib.loads(done.out)["forecast"] == "change"
    assert '# "kwh" rises as the counts of a meter do' in done.out
    done = inspected(rows, "--target", "kwh", "--horizon", "1", "--forecast", "value")
    assert tomllib.loads(done.out)["forecast"] == "value"


def test_a_forecast_of_classes(inspected, command, tmp_path):
    """Classes have no lags; the run scores the frequencies of classes beside the learner.

    It ended in a traceback at the first label, as frequencies had classes that no score knew.
    """
    rows = [
        {
            "at": f"2026-01-{1 + i // 24:02}T{i % 24:02}:00",
            "temp": i % 7,
            "state": "abba"[i // 9 % 4],
        }
        for i in range(200)
    ]
    done = inspected(rows, "--target", "state", "--horizon", "2")
    found = tomllib.loads(done.out)
    assert "lags" not in found
    assert found["learner"] == "infinite-layer-classifier"
    (tmp_path / "learn.toml").write_text(done.out)
    done = command("run", "--config", "learn.toml", "--profile", "fast").ok()
    assert "200 events, 0 dead letters" in done.err
    assert "class frequencies" in done.err


def test_a_forecast_of_one_series(inspected):
    """Categories are no series where times do not repeat; given lags are kept."""
    rows = [
        {"day": f"2026-{1 + day // 28:02}-{1 + day % 28:02}", "sky": "ab"[day % 2], "sold": day % 7}
        for day in range(100)
    ]
    given = "--target", "sold", "--horizon", "1", "--lags", '{"sold": 4}'
    found = tomllib.loads(inspected(rows, *given).out)
    assert "series" not in found
    assert found["lags"] == {"sold": [1, 2, 3, 4]}
    assert found["rolling_means"] == {"sold": [7]}


def test_change_events_are_learned(command, tmp_path):
    """Change events with deletions and tombstones are learned by the settings that inspect-source
    proposes: each row after a change, and the others counted."""
    path = tmp_path / "log.db"
    lines = []
    for i in range(40):
        row = {"order": i, "at": 1_767_225_600_000 + 60_000 * i, "km": float(i % 7), "price": i % 7}
        lines.append(json.dumps({"before": None, "after": row, "op": "c"}).encode())
        if i % 4 == 3:
            lines.append(json.dumps({"before": row, "after": None, "op": "d"}).encode())
            lines.append(NewRecord(None, key=str(i)))
    append(path, lines)
    done = command("inspect-source", f"sqlite:{path}")
    assert 'envelope = "debezium"' in done.out
    assert 'target = "price"' in done.out
    found = tomllib.loads(done.out)
    service = Service(settings_of(path, **{**found, "stop_at_end": True}))
    service.run()
    watched = service.workers[0].watched
    assert (watched.scores.n_labelled, watched.n_skipped, watched.n_dead_letters) == (40, 20, 0)
