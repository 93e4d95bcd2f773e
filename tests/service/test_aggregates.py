"""Inputs by key in a run: the same whatever stops it, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.embedded_log import append, messages, settings_of, values

from iln_stream.errors import IlnWarning, SnapshotError
from iln_stream.learners.keyed.aggregates import Aggregate, Aggregates
from iln_stream.records import MalformedError
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_json
from iln_stream.service import Service, Settings, SettingsError, predict
from iln_stream.snapshots import learner_of, snapshot_at

AGGREGATES = {
    "n_2min": {"by": "card", "over": "2min", "how": "count"},
    "ratio": {"by": "card", "of": "amount", "how": "ratio_to_mean"},
    "rate": {"by": ["card", "shop"], "how": "label_mean"},
}


def fill(path: Path, first: int, count: int) -> None:
    """Append events, whose labels come 30 records later."""
    rng = np.random.default_rng(first)
    rows = []
    for i in range(first, first + count):
        card, shop = rng.integers(5), rng.integers(3)
        event = {"id": f"e{i}", "at": 20.0 * i, "card": f"c{card}", "shop": f"s{shop}"}
        rows.append(event | {"amount": float(rng.lognormal())})
        if i >= 30:
            rows.append({"id": f"e{i - 30}", "at": 20.0 * i, "y": float(i % 7)})
    append(path, [json.dumps(row).encode() for row in rows])


def settings(path: Path, **more: object) -> Settings:
    given: dict[str, object] = {
        "predictions": f"sqlite:{path}#predictions",
        "target": "y",
        "time_field": "at",
        "id_field": "id",
        "ignore": ["shop"],
        "pending_events": 100,
        "aggregates": AGGREGATES,
    }
    return settings_of(path, **{**given, **more})


@pytest.mark.parametrize(("in_memory", "age"), [(1_000_000, None), (2, None), (2, "2min")])
def test_restarts_make_no_difference(path: Path, in_memory: int, age: str | None) -> None:
    """A run in pieces predicts as one without a stop, to the bit, with labels that are late,
    however few keys are in memory, and if keys are forgotten; and its predictions are others than
    without aggregates, and than of a run that forgets none."""
    for first in range(0, 300, 100):
        fill(path, first, 100)
        more = {"keys_in_memory": in_memory, "forget_keys_after": age}
        Service(settings(path, snapshot_seconds=0.01, **more)).run()
    other = {"snapshots": str(path.parent / "other"), "forget_keys_after": age}
    Service(settings(path, predictions=f"sqlite:{path}#whole", **other)).run()
    none = {"snapshots": str(path.parent / "none"), "aggregates": {}}
    Service(settings(path, predictions=f"sqlite:{path}#none", **none)).run()
    if age is not None:
        never = {"snapshots": str(path.parent / "never")}
        Service(settings(path, predictions=f"sqlite:{path}#never", **never)).run()
        assert values(path, "never") != values(path, "whole")
    found = {
        topic: [each["y_pred"] for each in messages(path, topic)]
        for topic in ("predictions", "whole", "none")
    }
    assert found["predictions"] == found["whole"]
    assert len(found["whole"]) == 300
    assert found["whole"] != found["none"]


def test_records_are_predicted_as_the_next_ones_of_their_keys(path: Path) -> None:
    """`predict` knows the events that the snapshot's run has learned, as the run itself does."""
    fill(path, 0, 100)
    Service(settings(path)).run()
    folder = path.parent / "state" / "log-events-0"
    saved = snapshot_at(folder)
    append(path, [b'{"id": "new", "at": 2000, "card": "c1", "shop": "s1", "amount": 1}'], "more")
    learner = learner_of(saved.state["learner"], False)
    found = []
    for known in (saved, None):
        more = {"source": f"sqlite:{path}#more", "predictions": f"sqlite:{path}#found"}
        predict(settings(path, **more, snapshots=None), learner, None, known, folder)
        found.append(json.loads(values(path, "found")[-1])["y_pred"])
    append(path, values(path, "more"))
    Service(settings(path)).run()
    assert json.loads(values(path, "predictions")[-1])["y_pred"] == found[0] != found[1]


def test_a_history_is_of_the_same_keys(path: Path, tmp_path: Path) -> None:
    """Keys of files that a run begins with go on in the log, also beyond those in memory."""
    fill(path, 0, 60)
    rows = messages(path, "events")
    labels = {row["id"]: row["y"] for row in rows if "y" in row}
    events = [row for row in rows if row["id"] in labels and "card" in row]
    events = [row | {"y": labels[row["id"]]} for row in events]
    history = tmp_path / "history.jsonl"
    history.write_text("\n".join(json.dumps(row) for row in events[:20]))
    topics = {}
    for name, in_memory in (("few", 2), ("all", 1_000_000)):
        append(path, [json.dumps(row).encode() for row in events[20:]], f"of_{name}")
        more = {
            "snapshots": str(tmp_path / name),
            "warm_start": [str(history)],
            "start": "earliest",
        }
        topic = {"source": f"sqlite:{path}#of_{name}", "predictions": f"sqlite:{path}#{name}"}
        Service(settings(path, keys_in_memory=in_memory, **more, **topic)).run()
        topics[name] = [each["y_pred"] for each in messages(path, name)]
    cold = {"source": f"sqlite:{path}#of_all", "predictions": f"sqlite:{path}#cold"}
    Service(settings(path, snapshots=str(tmp_path / "cold"), **cold)).run()
    assert topics["few"] == topics["all"] != [r["y_pred"] for r in messages(path, "cold")]


def test_a_damaged_file_of_keys_is_refused(path: Path) -> None:
    """A run does not go on without what was known of its keys."""
    fill(path, 0, 40)
    Service(settings(path)).run()
    (path.parent / "state" / "log-events-0" / "aggregates-1.db").unlink()
    with pytest.raises(SnapshotError, match=r"aggregates-1\.db, which is not there"):
        Service(settings(path)).run()


def test_another_aggregate_is_another_configuration(path: Path) -> None:
    """A run does not resume from a snapshot whose inputs were others."""
    fill(path, 0, 40)
    Service(settings(path)).run()
    changed = {**AGGREGATES, "n_2min": {"by": "card", "over": "1min", "how": "count"}}
    with pytest.raises(Exception, match="aggregates"):
        Service(settings(path, aggregates=changed)).run()


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"aggregates": {"n": {"by": "card", "over": "10", "how": "count"}}}, "has no unit"),
        ({"aggregates": {"n": {"by": "card", "hwo": "count"}}}, "did you mean how"),
        ({"aggregates": {"n": {"by": 3, "how": "count"}}}, "by: 3 must be the name"),
        ({"forget_keys_after": "90"}, "forget_keys_after\n.*'90' has no unit"),
        ({"forget_keys_after": "1h", "aggregates": {}}, "forget_keys_after: set aggregates, too"),
        (
            {"forget_keys_after": "1h", "aggregates": {"n": {"how": "count", "over": "1d"}}},
            "aggregates: n: its window is longer than 3600 seconds",
        ),
        (
            {"aggregates": {"n": {"how": "label_mean"}}, "horizon": "1", "pending_events": None},
            "label_mean is not possible with horizon",
        ),
    ],
)
def test_wrong_settings_are_refused(path: Path, more: dict, problem: str) -> None:
    """The error names the aggregate and the remedy."""
    fill(path, 0, 1)
    with pytest.raises((ValueError, SettingsError), match=problem):
        Service(settings(path, **more)).run()


def test_what_they_need_is_never_guessed() -> None:
    """A text where a number is needed, or no time, makes a record a dead letter that names the
    field; a missing value of the key makes no input."""
    made = Aggregates({"total": Aggregate("sum", ("card",), "amount")})
    decode = MappedDecoder(FieldMapping(target="y"), parse_json, aggregates=made)
    with pytest.raises(MalformedError, match="amount: aggregates need a number, got 'many'"):
        decode(b'{"card": "c", "amount": "many"}', 1.0)
    with pytest.raises(MalformedError, match="time: unknown, and aggregates need the time"):
        decode(b'{"card": "c", "amount": 1}', None)
    assert decode(b'{"card": "c", "amount": 1}', 1.0).x["total"] == 0.0
    assert "total" not in decode(b'{"card": null, "amount": 1}', 1.0).x


def test_a_date_in_the_future_does_not_end_the_windows() -> None:
    """An event is not later than its record: one that is dated 2099 counts when it was written, and
    the windows of its key go on."""
    made = Aggregates({"n": Aggregate("count", ("card",), None, 3_600.0)})
    mapping = FieldMapping(target="y", time_field="at", types={"at": "time"})
    decode = MappedDecoder(mapping, parse_json, aggregates=made)
    found = []
    for minute, at in enumerate([0, 60, 4_070_908_800, 180, 240]):
        example = decode(b'{"card": "c", "at": %d, "y": 1}' % at, 60.0 * minute)
        decode.accept(example.time, None, 1.0)
        found.append(example.x["n"])
    assert found == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_a_misspelt_field_is_warned_of() -> None:
    """A key or a field that no record has would leave its inputs out in silence."""
    made = Aggregates({"n": Aggregate("count", ("@key",))})
    decode = MappedDecoder(FieldMapping(target="y"), parse_json, aggregates=made)
    assert decode(b'{"y": 1, "z": 2}', 1.0, None).x == {"z": 2.0}
    with pytest.warns(IlnWarning, match="aggregates = '@key': no record of 1 has"):
        decode.warn_of_unseen()
    assert decode(b'{"y": 1, "z": 2}', 1.0, "c1").x == {"z": 2.0, "n": 0.0}
    made = Aggregates({"n": Aggregate("sum", ("crad",), "amuont")})
    decode = MappedDecoder(FieldMapping(target="y"), parse_json, aggregates=made)
    decode(b'{"card": "c", "amount": 1, "y": 1}', 1.0)
    with pytest.warns(IlnWarning) as warned:
        decode.warn_of_unseen()
    assert [str(each.message).rpartition("; ")[2] for each in warned] == [
        "did you mean 'amount'?",
        "did you mean 'card'?",
    ]
    assert str(warned[0].message).startswith("aggregates = 'amuont': no record of 1 has such")
