"""`rebuild --forget card_id=c17`: nobody can tell that they were there."""

import json
import re
import shutil
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from support.embedded_log import append, settings_of, values
from support.saved_state import Saved, saved

from iln_stream.errors import RefusedError
from iln_stream.loop import PrequentialLoop
from iln_stream.loop.forgetting import Forgets, Forgotten
from iln_stream.records.parsing import parse_json
from iln_stream.service import Service, Settings, rebuild
from iln_stream.service.rebuild import Erasure
from iln_stream.service.streams import readers, source_stream
from iln_stream.settings import SettingsError
from iln_stream.streams import NewRecord, Record, StreamPartition
from iln_stream.streams.sqlite import SqliteLog, create_topic, erase

WHO = "card-of-mine-17"


def records(numbers: range) -> list[NewRecord]:
    """Return events of five cards, and 20 records later the label of each, by an id alone."""
    found = []
    for n in numbers:
        for age in (0, 20):
            k = n - age
            card = WHO if k % 5 == 3 else f"c{k % 5}"
            fields: dict[str, Any] = {"id": f"{card}/{k}"}
            if age:
                fields["y"] = float(k % 7)
            else:
                at = f"2026-01-01T00:{k // 60:02}:{k % 60:02}Z"
                fields |= {"card_id": card, "amount": k % 11 + 0.5, "at": at}
            if k >= 0:
                value = json.dumps(fields).encode()
                found.append(NewRecord(value, card, f"{age}{fields['id']}", 1.7e9 + n))
    return found


def settings(path: Path, **more: Any) -> Settings:
    given = {
        "target": "y", "id_field": "id", "time_field": "at", "pending_events": 50,
        "recent_ids": 100, "learner": "infinite-layer", "learner_options": {"profile": "fast"},
        "aggregates": {"n": {"how": "count", "by": "card_id", "over": "1h"},
                       "mean_y": {"how": "label_mean", "by": "card_id"}},
        "predictions": f"sqlite:{path}#p", "publish": str(path.parent / "models"),
        "by_key": "card_id", "version_seconds": 1e-9,
    }  # fmt: skip
    return settings_of(path, **{**given, **more})


def run(path: Path, **more: Any) -> Saved:
    Service(settings(path, **more)).run()
    return saved(path.parent / "state", "log-events")


def same(ours: Saved, theirs: Saved) -> list[str]:
    """Return the parts of the states that differ, apart from how many records were read, and of
    whom."""
    for each in (ours, theirs):
        each.state["learner"].pop("keys", None)
        each.state.pop("forgotten", None)
    return [name for name, bits in theirs.bits.items() if ours.bits[name] != bits]


def fill(path: Path, records: list[NewRecord], *, never_seen: bool) -> None:
    """Append records; erase those of the card before anybody has read them."""
    places = append(path, records)
    offsets = [p.offset for p, each in zip(places, records, strict=True) if each.key == WHO]
    if never_seen:
        erase(path, "events", {0: offsets})


@pytest.fixture
def logs(tmp_path: Path) -> tuple[Path, Path]:
    """A log that a run has learned, and one that never had the records of one card."""
    ours, theirs = tmp_path / "ours" / "log.db", tmp_path / "theirs" / "log.db"
    for path in (ours, theirs):
        path.parent.mkdir()
        fill(path, records(range(100)), never_seen=path == theirs)
        run(path)
    return ours, theirs


def test_as_if_never_seen(logs: tuple[Path, Path]) -> None:
    """The state is to the bit that of a run that never saw these events and labels; so is that of
    the next run, and of another rebuild, which pass over later ones and their labels, too, and
    count them."""
    ours, theirs = logs
    before = saved(ours.parent / "state", "log-events")
    assert same(before, saved(theirs.parent / "state", "log-events"))
    erasure = Erasure([f"card_id={WHO}", "crad_id=c1"])
    rebuild(settings(ours), erasure=erasure)
    assert erasure.report[0] == "found 20 records with the values, and 16 labels"
    assert erasure.report[1] == "no record has crad_id=c1: is the field's name right?"
    rebuilt = saved(ours.parent / "state", "log-events")
    assert same(rebuilt, saved(theirs.parent / "state", "log-events")) == []
    later = records(range(100, 150))
    for path in logs:
        fill(path, later, never_seen=path == theirs)
    service = Service(settings(ours))
    service.run()
    assert service.workers[0].watched.n_forgotten == sum(each.key == WHO for each in later) > 0
    assert same(saved(ours.parent / "state", "log-events"), run(theirs)) == []
    rebuild(settings(ours))
    assert same(saved(ours.parent / "state", "log-events"), run(theirs)) == []


def test_stopped_between_event_and_label(
    logs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is remembered of later events is the same to the bit in one run, in one that stops and
    breaks off between an event and its label, and in a rebuild; each knows their labels, and counts
    the ids beyond as many as may wait."""
    ours, theirs = logs
    of_call, n_calls = Forgets.__call__, count()

    def break_off(forgets: Forgets, record: Any) -> bool:
        return of_call(forgets, record) if next(n_calls) < 90 else bool(1 // 0)

    states: list[Saved] = []
    for path in logs:
        if path == theirs:  # one salt
            shutil.copy(ours.parent / "state" / "forgotten.json", theirs.parent / "state")
        rebuild(settings(path), erasure=Erasure([f"card_id={WHO}"]))
        later = records(range(100, 250))
        for part in (later[:30], later[30:]) if path == ours else (later,):
            append(path, part)
            with monkeypatch.context() as patch:
                patch.setattr(Forgets, "__call__", break_off if path == ours else of_call)
                with suppress(ZeroDivisionError):
                    run(path)
            run(path)
        states.append(saved(path.parent / "state", "log-events"))
    rebuild(settings(ours))
    states.append(saved(ours.parent / "state", "log-events"))
    assert len(states[0].state["forgotten"]["ids"]) == 30
    assert [each.bits["forgotten"] for each in states] == [states[0].bits["forgotten"]] * 3
    assert [same(each, states[0]) for each in states] == [[], [], []]
    rebuild(settings(theirs, pending_events=25))
    assert saved(theirs.parent / "state", "log-events").state["forgotten"]["n_evicted"] == 5


def test_label_before_its_event(logs: tuple[Path, Path]) -> None:
    """A label that waits for an event which is then forgotten waits no more, and is nowhere."""
    ours, _ = logs
    rebuild(settings(ours), erasure=Erasure([f"card_id={WHO}"]))
    event, label = (
        b'{"id": "z", "card_id": "%s", "amount": 1.0}' % WHO.encode(),
        b'{"id": "z", "y": 1}',
    )
    append(ours, [label])
    assert run(ours).state["pending"]["waiting"][1] == 1
    append(ours, [event])
    assert run(ours).state["pending"]["waiting"][1] == 0


@pytest.mark.parametrize("trimmed", [False, True])
def test_what_cannot_be_decoded(logs: tuple[Path, Path], trimmed: bool) -> None:
    """Records that can't be decoded, and dead letters of deleted ones, are named with the command
    that removes them; nothing is left then, and later runs and rebuilds pass over them."""
    ours, _ = logs
    append(ours, [f'{{"card_id": "{WHO}", "amount": '.encode()])
    given = {"dead_letters": f"sqlite:{ours}#letters", "metrics_port": 0}
    run(ours, **given)
    if trimmed:
        erase(ours, "events", {0: [len(values(ours)) - 1]})
    erasure = Erasure([f"card_id={WHO}"])
    rebuild(settings(ours, **given), erasure=erasure)
    (named,) = (line for line in erasure.report if line.startswith("not removed"))
    assert "1 records" in named
    assert places_of_who(ours)
    flags = re.findall("--forget (@record=[^ `]+)", named)
    erasure = Erasure(flags)
    rebuild(settings(ours, **given), erasure=erasure)
    assert places_of_who(ours) == []
    assert ("no record has" in "".join(erasure.report)) == trimmed
    assert run(ours, **given).n_dead_letters == 0


def places_of_who(path: Path) -> list[str]:
    """Return the files of a run that have the id of the card."""
    files = [file for file in path.parent.rglob("*") if file.is_file()]
    return [file.name for file in files if WHO.encode() in file.read_bytes()]


def test_nothing_is_left(logs: tuple[Path, Path]) -> None:
    """Their id is in no file: log, predictions, dead letters, snapshots, blocks, keys, versions,
    list of the forgotten; other records are where they were."""
    ours, _ = logs
    assert {"log.db", "keys.db"} < set(places_of_who(ours))
    others = [value for value in values(ours) if WHO.encode() not in value]
    erasure = Erasure([f"card_id={WHO}"])
    rebuild(settings(ours), erasure=erasure)
    assert places_of_who(ours) == []
    assert values(ours) == others
    assert "versions removed" in "\n".join(erasure.report)
    assert not [*(ours.parent / "models").rglob("*.model")]
    run(ours)
    assert places_of_who(ours) == []
    assert [*(ours.parent / "models").rglob("*.model")]


@pytest.mark.parametrize(
    ("at", "n"), [("one_source", 1), *(("erase", n) for n in (1, 2, 3)), ("Versions", 1)]
)
def test_interrupted(
    logs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, at: str, n: int
) -> None:
    """After a command that was interrupted, a run is refused until a rebuild has completed it: what
    that one has to erase it finds by the events, which are erased last."""
    ours, theirs = logs
    module, n_calls = sys.modules["iln_stream.service.rebuild"], count(1)
    of_module = getattr(module, at)

    def fail(*given: Any) -> Any:
        return of_module(*given) if next(n_calls) < n else 1 // 0

    with monkeypatch.context() as patch:
        patch.setattr(module, at, fail)
        with pytest.raises(ZeroDivisionError):
            rebuild(settings(ours), erasure=Erasure([f"@key={WHO}"]))
    with pytest.raises(RefusedError, match="iln-stream rebuild"):
        run(ours)
    rebuild(settings(ours))
    assert places_of_who(ours) == []
    assert same(run(ours), saved(theirs.parent / "state", "log-events")) == []


def test_several_partitions(tmp_path: Path) -> None:
    """Nothing is left in any partition, neither of records nor of what was published of them."""
    path = tmp_path / "log.db"
    create_topic(path, "events", 3)
    found = [each._replace(partition=n % 3) for n, each in enumerate(records(range(60)))]
    append(path, found)
    Service(settings(path)).run()
    rebuild(settings(path), erasure=Erasure([f"card_id={WHO}"]))
    assert places_of_who(path) == []


def test_a_log_that_grows(logs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are sought up to the end that the log had, however many are appended meanwhile."""
    ours, _ = logs
    fetch, more = SqliteLog._fetch, iter(records(range(200, 300)))

    def fetch_and_append(log: SqliteLog, timeout: float) -> Any:
        append(ours, [next(more)])
        return fetch(log, timeout)

    monkeypatch.setattr(SqliteLog, "_fetch", fetch_and_append)
    erasure = Erasure([f"card_id={WHO}"])
    stream = source_stream(settings(ours))
    erasure.find(settings(ours), stream, readers(settings(ours), stream))
    assert erasure.report == ["found 20 records with the values, and 16 labels"]


def test_history(tmp_path: Path) -> None:
    """Files that are learned before the log are read without them, and are the user's to clean."""
    rows = [f"{card},{n}.5,{n % 7}" for n in range(20) for card in ("c1", WHO)]
    given = {"pending_events": None, "id_field": None, "time_field": None, "aggregates": {},
             "recent_ids": None, "start": "earliest"}  # fmt: skip
    states = []
    for name, kept in (("ours", rows), ("theirs", [row for row in rows if WHO not in row])):
        path = tmp_path / name / "log.db"
        path.parent.mkdir()
        file = path.parent / "history.csv"
        file.write_text("\n".join(["card_id,amount,y", *kept]))
        event = b'{"card_id": "c1", "amount": 2.0, "y": 1.0}'
        append(path, [NewRecord(event, timestamp=1.7e9)] * 5)
        run(path, **given, warm_start=[str(file)])
        if name == "ours":
            erasure = Erasure([f"card_id={WHO}"])
            rebuild(settings(path, **given, warm_start=[str(file)]), erasure=erasure)
            assert f"{file}: their records were left out" in "\n".join(erasure.report)
        states.append(saved(path.parent / "state", "log-events"))
    assert same(*states) == []


def test_a_column_named_id(tmp_path: Path) -> None:
    """Records are joined to others by their id only if labels come later, and it is an id."""
    path = tmp_path / "log.db"
    rows = [{"customer": n % 5, "id": n % 3, "y": n % 7} for n in range(30)]
    append(path, [json.dumps(each).encode() for each in rows])
    given = {"target": "y", "ignore": ["customer"], "types": {"id": "category"}}
    Service(settings_of(path, **given)).run()
    erasure = Erasure(["customer=3"])
    rebuild(settings_of(path, **given), erasure=erasure)
    assert erasure.report[0] == "found 6 records with the values, and 0 labels"
    assert saved(tmp_path / "state", "log-events").n_events == 24


def test_others_are_unfinished(logs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """What another run of the folder has finished says nothing of a command that was interrupted;
    and a run's snapshots say what it left out, whatever others forget meanwhile."""
    ours, theirs = logs
    other = theirs.parent / "others.db"
    append(other, [b'{"x": {"a": 2.0}, "y": 1.0}'] * 5)
    run_other = settings_of(other, snapshots=str(ours.parent / "state"))
    forgotten = Forgotten(ours.parent / "state")

    def run_late(loop: PrequentialLoop) -> None:
        forgotten.add("card_id", WHO)
        forgotten.save()
        of_loop(loop)

    of_loop = PrequentialLoop.run
    with monkeypatch.context() as patch:
        patch.setattr(PrequentialLoop, "run", run_late)
        Service(run_other).run()
    assert "forgotten" not in saved(ours.parent / "state", "others-events").header.configuration
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["iln_stream.service.rebuild"], "erase", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            rebuild(settings(ours), erasure=Erasure([f"card_id={WHO}"]))
    rebuild(run_other, erasure=Erasure(["a=1"]))
    with pytest.raises(RefusedError, match="iln-stream rebuild"):
        run(ours)
    rebuild(settings(ours))
    assert places_of_who(ours) == []


@pytest.mark.parametrize("value", ["c17", "=c17", "card_id=", "@record=43"])
def test_what_to_forget(logs: tuple[Path, Path], value: str) -> None:
    """A value without a field, or without anything, is refused before anything changes."""
    with pytest.raises(SettingsError, match=f"--forget {value}: give "):
        rebuild(settings(logs[0]), erasure=Erasure([value]))
    assert not (logs[0].parent / "state" / "forgotten.json").exists()


def test_without_late_labels_no_id_is_remembered(tmp_path: Path) -> None:
    """Where no label comes by itself, ids that are not remembered are no loss to be counted."""
    forgotten = Forgotten(tmp_path)
    forgotten.add("card", "c17")
    forgets = Forgets(forgotten, (parse_json, "id"), {}, None)
    record = Record(0, b'{"card": "c17", "id": "a"}', StreamPartition("log", 0))
    assert forgets(record)
    assert forgets.state() == {"ids": [], "n_evicted": 0}
