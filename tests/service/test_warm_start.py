"""`warm_start`, on embedded logs: history first, then the log, as one stream."""

import gzip
import json
import logging
import random
import shutil
import socket
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.embedded_log import append
from support.kafka_broker import KafkaBroker
from support.kafka_topics import produce
from support.running_command import Command
from support.saved_state import saved

from iln_stream.errors import IlnWarning, RefusedError
from iln_stream.service import Service, Settings, SettingsError, build_learner, rebuild, warm_start
from iln_stream.snapshots import learner_state
from iln_stream.snapshots.follower import Follower
from iln_stream.state import pack
from iln_stream.streams.sqlite import create_topic

N = 200


def fields(number: int) -> dict[str, float]:
    """Return the fields of an event, a function of its number."""
    draw = random.Random(number)
    a, b = draw.uniform(-1, 1), draw.uniform(-1, 1)
    return {"t": 1.7e9 + 60 * number, "a": a, "b": b, "y": a * b + draw.gauss(0, 0.1)}


def csv(path: Path, numbers: range) -> str:
    """Write events as CSV, compressed if the name says so; return the path."""
    lines = ["t,a,b,y", *(",".join(map(repr, fields(n).values())) for n in numbers)]
    text = "\n".join(lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return str(path)


def fill(path: Path, numbers: range) -> None:
    append(path, [json.dumps(fields(n)).encode() for n in numbers])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the log is."""
    return tmp_path / "log.db"


def settings(path: Path, *files: str, **more: Any) -> Settings:
    given = {
        "source": f"sqlite:{path}",
        "snapshots": str(path.parent / "state"),
        "start": "earliest",
        "stop_at_end": True,
        "target": "y",
        "time_field": "t",
        "learner": "pool",
        "learner_options": {"size": 16},
        "metrics_port": None,
        "warm_start": files,
    }
    return Settings(**{**given, **more})


def reference(chosen: Settings, numbers: range) -> dict[str, bytes]:
    """Return the state of a learner that learned these events one by one."""
    learner = build_learner(chosen)
    for number in numbers:
        x = {name: fields(number)[name] for name in "ab"}
        learner.predict_one(x)
        learner.learn_one(x, fields(number)["y"])
    arrays, text = pack(learner_state(learner, allow_pickle=False))
    return {**{name: array.tobytes() for name, array in arrays.items()}, "": text.encode()}


@pytest.mark.parametrize("at_once", [True, False])
def test_history_and_log_are_one_stream(path: Path, at_once: bool) -> None:
    """After two files and the log, by one command or by two, the learner equals to the last bit
    one that learned all events one by one, and the scores are of the log alone."""
    first = csv(path.with_name("first.csv"), range(N))
    second = csv(path.with_name("second.csv.gz"), range(N, 2 * N))
    fill(path, range(2 * N, 3 * N))
    chosen = settings(path, first, second)
    if not at_once:
        (warmed,) = warm_start(chosen)
        assert "offset 0 of log-events:0" in warmed.summary
        assert saved(path.parent / "state", "log-events").learner == reference(chosen, range(2 * N))
    Service(chosen).run()
    found = saved(path.parent / "state", "log-events")
    assert found.learner == reference(chosen, range(3 * N))
    assert (found.n_events, found.n_labelled) == (N, N)
    history = found.header.configuration["history"]
    assert [each["n_labelled"] for each in history["files"]] == [N, N]
    assert [each["name"] for each in history["files"]] == ["first.csv", "second.csv.gz"]
    assert history["first_time"] == "2023-11-14T22:13:20Z"
    assert history["start"] == {"log-events:0": 0}


def test_the_log_goes_on_at_its_end_before_the_history(path: Path) -> None:
    """With `latest`, records of the log before the warm start are not learned, later ones are."""
    fill(path, range(1000, 1010))
    chosen = settings(path, csv(path.with_name("h.csv"), range(N)), start="latest")
    warm_start(chosen)
    fill(path, range(N, N + 10))
    Service(chosen).run()
    found = saved(path.parent / "state", "log-events")
    assert found.learner == reference(chosen, range(N + 10))


def test_the_log_goes_on_at_an_offset(path: Path) -> None:
    """The first record of the log that is learned is the one at the offset; several partitions
    have no one offset."""
    fill(path, range(N - 7, N + 10))  # the log began while the history was still written
    chosen = settings(path, csv(path.with_name("h.csv"), range(N)), start=7)
    (warmed,) = warm_start(chosen)
    assert warmed.history["start"] == {"log-events:0": 7}
    Service(chosen).run()
    found = saved(path.parent / "state", "log-events")
    assert found.learner == reference(chosen, range(N + 10))
    create_topic(other := path.with_name("two.db"), "events", 2)
    with pytest.raises(SettingsError, match="start = 7: an offset needs a single partition"):
        warm_start(settings(other, *chosen.warm_start, start=7))


def test_a_later_run_does_not_need_the_file(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The second run resumes, says that it does not learn the history again, and keeps its
    description, although the file is gone."""
    history = path.with_name("h.csv")
    chosen = settings(path, csv(history, range(N)))
    fill(path, range(N, N + 5))
    Service(chosen).run()
    history.unlink()
    fill(path, range(N + 5, N + 9))
    with caplog.at_level(logging.INFO):
        Service(chosen).run()
    assert "the snapshot has learned h.csv, which is not learned again" in caplog.text
    found = saved(path.parent / "state", "log-events")
    assert found.learner == reference(chosen, range(N + 9))
    assert found.header.configuration["history"]["files"][0]["name"] == "h.csv"


def test_other_files_than_those_of_the_snapshot(path: Path) -> None:
    """A run with files that its snapshot has not learned warns."""
    fill(path, range(9))
    Service(settings(path)).run()
    chosen = settings(path, csv(path.with_name("h.csv"), range(N)))
    with pytest.warns(IlnWarning, match=r"h\.csv is not learned.*learned no history"):
        Service(chosen).run()
    with pytest.raises(RefusedError, match="another folder"):
        warm_start(chosen)


HELD = """
import json, time
from pathlib import Path

def read(payload):
    fields = json.loads(payload)
    if fields["t"] == 1.7e9 + 60 * 100 and not Path("go").exists():
        Path("reached").touch()
        time.sleep(600)
    return fields
"""


WAIT = """
        while not Path("go").exists():
            time.sleep(0.01)"""


def test_kill_in_the_middle(path: Path) -> None:
    """A warm start that is killed leaves no snapshot; the next run begins with the history anew,
    and its learner equals to the last bit one that was not interrupted."""
    folder = path.parent
    (folder / "held.py").write_text(HELD)
    lines = [json.dumps(fields(number)) for number in range(N)]
    (folder / "h.jsonl").write_text("\n".join(lines))
    fill(path, range(N, N + 20))
    chosen = settings(path)
    command = (
        *("run", "--source=sqlite:log.db", "--snapshots=state", "--start=earliest"),
        *("--stop-at-end", "--target=y", "--time-field=t", "--learner=pool", "--metrics-port=0"),
        *('--learner-options={"size": 16}', "--decoder=held:read", "--warm-start=h.jsonl"),
    )
    with Command(folder, *command) as run:
        run.wait_until_it_says("learning h.jsonl")
        while not (folder / "reached").exists():
            assert run.runs, run.said
        run.kill()
    assert not list((folder / "state").rglob("*.snapshot"))
    (folder / "go").touch()
    with Command(folder, *command) as run:
        assert run.wait() == 0, run.said
        assert f"history (h.jsonl): {N} events" in run.said
    found = saved(folder / "state", "log-events")
    assert found.learner == reference(chosen, range(N + 20))


def test_probes_answer_while_the_history_is_learned(path: Path) -> None:
    """A run serves /health, /ready with its progress, and /metrics while it learns the history, so
    that no supervisor restarts it; the same server answers when it reads the log."""
    folder = path.parent
    (folder / "held.py").write_text(HELD.replace("time.sleep(600)", WAIT))
    (folder / "h.jsonl").write_text("\n".join(json.dumps(fields(n)) for n in range(N)))
    fill(path, range(N, N + 20))
    command = (
        *("run", "--source=sqlite:log.db", "--snapshots=state", "--start=earliest"),
        *("--target=y", "--time-field=t", "--learner=pool", "--metrics-port=0"),
        *("--decoder=held:read", "--warm-start=h.jsonl"),
    )
    with Command(folder, *command) as run:
        run.wait_until_it_says("metrics at")
        while not (folder / "reached").exists():
            assert run.runs, run.said
        state = "learning the history: h.jsonl, file 1 of 1; 100 events so far\n"
        assert run.answer("/ready") == (503, state)
        assert run.answer("/health")[0] == 200
        assert run.metrics()["iln_history_events_total"] == 100
        assert "iln_events_total" not in run.metrics()
        (folder / "go").touch()
        found = run.wait_for_metrics(lambda found: found.get("iln_events_total") == 20)
        assert found["iln_history_events_total"] == N
        assert run.answer("/ready") == (200, "ready\n")
        assert run.said.count("metrics at") == 1
        assert run.terminate() == 0
    with Command(folder, *command) as run:  # resumes, so that there is no history to count
        run.wait_for_metrics(lambda found: "iln_history_events_total" not in found)
        assert run.terminate() == 0


def test_a_failed_history_frees_the_port(path: Path) -> None:
    """When the history can't be learned, the server that showed its progress ends, too."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    history = path.with_name("h.csv")
    history.write_text("t,a,b,y\n" + "no time,1,2,3\n" * 200)
    fill(path, range(3))
    with pytest.raises(SettingsError, match="none of the first 100 records"):
        Service(settings(path, str(history), metrics_port=port))
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))


def test_a_stopped_warm_start_saves_nothing(path: Path) -> None:
    """SIGTERM ends it with an error that says so."""
    folder = path.parent
    (folder / "held.py").write_text(HELD.replace("600", "1"))
    (folder / "h.jsonl").write_text("\n".join(json.dumps(fields(n)) for n in range(N)))
    command = (
        *("warm-start", "h.jsonl", "--source=sqlite:log.db", "--snapshots=state"),
        *("--start=earliest", "--target=y", "--time-field=t", "--learner=pool"),
        "--decoder=held:read",
    )
    with Command(folder, *command) as run:
        run.wait_until_it_says("learning h.jsonl")
        while not (folder / "reached").exists():
            assert run.runs, run.said
        assert run.terminate() == 2
        assert "nothing was saved" in run.said
    assert not list((folder / "state").rglob("*.snapshot"))


@pytest.mark.parametrize("per", ["topic", "partition"])
def test_several_partitions(path: Path, per: str) -> None:
    """One learner of all partitions learns the history once, those of each partition learn it
    each, and their snapshots hold the partitions' positions."""
    create_topic(path, "events", 2)
    chosen = settings(path, csv(path.with_name("h.csv"), range(N)), learner_per=per)
    warmed = warm_start(chosen)
    starts = [each.history["start"] for each in warmed]
    zero, one = {"log-events:0": 0}, {"log-events:1": 0}
    assert starts == ([zero | one] if per == "topic" else [zero, one])
    fill(path, range(N, N + 10))
    Service(chosen).run()
    names = ["all"] if per == "topic" else ["0", "1"]
    found = [saved(path.parent / "state", "log-events", name) for name in names]
    assert sum(each.n_labelled for each in found) == 10
    assert all(each.header.configuration["history"]["n_labelled"] == N for each in found)


def test_a_warm_start_of_some_partitions_goes_on(path: Path) -> None:
    """If one partition's learner is there and another's is not, only the latter is taught."""
    create_topic(path, "events", 2)
    chosen = settings(path, csv(path.with_name("h.csv"), range(N)), learner_per="partition")
    warm_start(chosen)
    shutil.rmtree(path.parent / "state" / "log-events-1")
    assert [each.reader.name for each in warm_start(chosen)] == ["1"]


def test_ids_pending_events_and_last_time_go_on(path: Path) -> None:
    """The log's loop knows the ids of the history, its events that wait for a label, and its last
    time: a repeat is skipped, a late label is learned, `since_last` counts from the history."""
    (history := path.with_name("h.jsonl")).write_text(
        '{"id": "a", "t": 100, "v": 1, "y": 2}\n{"id": "b", "t": 160, "v": 2}\n'
    )
    append(
        path,
        [
            b'{"id": "a", "t": 100, "v": 1, "y": 2}',
            b'{"id": "b", "y": 3}',
            b'{"id": "c", "t": 400, "v": 1, "y": 2}',
        ],
    )
    chosen = settings(
        path, str(history), id_field="id", recent_ids=10, pending_events=10,
        time_features=["since_last"], predictions=str(path.with_name("p.jsonl")),
    )  # fmt: skip
    service = Service(chosen)
    seen: list[Any] = []
    loop = service.workers[0].loop
    listener = loop.listeners[-1]
    on_step = listener.on_step
    listener.on_step = lambda step: (seen.append(step), on_step(step))  # type: ignore[method-assign]
    service.run()
    late, after = seen
    assert (late.late, late.event_id, late.y) == (True, "b", 3.0)
    assert after.x["time.since_last"] == 240.0
    counts = saved(path.parent / "state", "log-events").state["counts"]
    assert counts["n_repeats"] == 1


def test_fields_of_their_own(path: Path) -> None:
    """Files with other names of label and time, another separator and no id are learned as the
    log is, with settings of their own."""
    lines = ["when;a;b;price", *(";".join(map(repr, fields(n).values())) for n in range(N))]
    (history := path.with_name("h.csv")).write_text("\n".join(lines))
    own = {"target": "price", "time_field": "when", "id_field": "", "separator": ";"}
    chosen = settings(path, str(history), id_field="id", warm_start_fields=own)
    fill(path, range(N, N + 10))
    Service(chosen).run()
    found = saved(path.parent / "state", "log-events")
    assert found.learner == reference(chosen, range(N + 10))


def test_events_and_csv(path: Path) -> None:
    """A log of events can have a history in CSV, whose fields only `warm_start_fields` names."""
    events = [{"x": {k: fields(n)[k] for k in "ab"}, "y": fields(n)["y"]} for n in range(N, N + 10)]
    append(path, [json.dumps(event).encode() for event in events])
    given = {
        "source": f"sqlite:{path}", "snapshots": str(path.parent / "state"), "start": "earliest",
        "stop_at_end": True, "learner": "pool", "learner_options": {"size": 16},
        "metrics_port": None, "warm_start": (csv(path.with_name("h.csv"), range(N)),),
        "warm_start_fields": {"target": "y", "time_field": "t"},
    }  # fmt: skip
    chosen = Settings(**given)  # type: ignore[arg-type]
    Service(chosen).run()
    assert saved(path.parent / "state", "log-events").learner == reference(chosen, range(N + 10))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"snapshots": None}, "warm_start: set snapshots"),
        ({"start": None}, "start: say where sqlite:.* goes on after the history"),
        ({"warm_start": ("gone.csv",)}, "there is no file gone.csv"),
        ({"warm_start_fields": {"target": "prise"}}, r"no column 'prise'.*warm_start_fields"),
        ({"warm_start_fields": {"topic": "t"}}, "warm_start_fields: topic is not one of target"),
        ({"warm_start_fields": {"decimal": "x"}}, "warm_start_fields: decimal"),
        ({"source": "events.jsonl", "snapshots": None}, "after the history a run goes on"),
    ],
)
def test_settings_that_do_not_fit(path: Path, more: dict[str, Any], message: str) -> None:
    """Each is an error that names the setting, before anything is learned or saved."""
    fill(path, range(1))
    chosen = settings(path, csv(path.with_name("h.csv"), range(9)), **more)
    with pytest.raises(SettingsError, match=message):
        warm_start(chosen)
    assert not list(path.parent.rglob("*.snapshot"))


def test_labels_of_the_other_kind(path: Path) -> None:
    """A history whose labels the learner can't learn is an error, and nothing is saved."""
    fill(path, range(1))
    (history := path.with_name("h.csv")).write_text("t,a,b,y\n1,2,3,yes\n2,3,4,no\n")
    with pytest.raises(
        SettingsError, match=r"none of the first 2 .*y: expected a .*inspect-source"
    ):
        warm_start(settings(path, str(history)))
    assert not list(path.parent.rglob("*.snapshot"))


def test_a_history_without_labels(path: Path) -> None:
    """A history of which nothing can be learned is an error."""
    fill(path, range(1))
    (history := path.with_name("h.csv")).write_text("t,a,b,y\n1,2,3,\n2,3,4,\n")
    with pytest.raises(SettingsError, match="no record has a label"):
        warm_start(settings(path, str(history)))


def test_files_in_the_wrong_order(path: Path) -> None:
    """A file that begins before the one before it is refused, before anything is learned."""
    fill(path, range(1))
    late = csv(path.with_name("late.csv"), range(50, 60))
    early = csv(path.with_name("early.csv"), range(10))
    with pytest.raises(SettingsError, match=r"early\.csv begins at .* before .*late\.csv"):
        warm_start(settings(path, late, early))


def test_bad_records_are_counted(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A record that can't be learned and one that is out of order are logged and counted."""
    fill(path, range(1))
    name = csv(path.with_name("h.csv"), range(9))
    Path(name).write_text(Path(name).read_text() + "\n1600000000,1,2,3\n1800000000,1,2,yes\n")
    (warmed,) = warm_start(settings(path, name))
    assert (warmed.history["n_dead_letters"], warmed.history["n_older"]) == (1, 1)
    assert "h.csv: record 10 can't be learned: y: expected a number" in caplog.text
    assert "h.csv: record 9 is older than the record before" in caplog.text


def test_rebuild(path: Path) -> None:
    """`rebuild` learns the history again, and then the log from where it began; without the files
    it refuses."""
    fill(path, range(1000, 1010))  # before the warm start
    chosen = settings(path, csv(path.with_name("h.csv"), range(N)), start="latest")
    warm_start(chosen)
    fill(path, range(N, N + 10))
    Service(chosen).run()
    before = saved(path.parent / "state", "log-events")
    with pytest.raises(SettingsError, match=r"warm_start: the learner learned h\.csv"):
        rebuild(settings(path, start="latest"))
    assert rebuild(chosen) == [{("log-events", 0): 20}]
    again = saved(path.parent / "state", "log-events")
    assert again.header.epoch > before.header.epoch
    assert again.learner == before.learner
    assert again.header.configuration == before.header.configuration


def test_predictions_name_another_model(path: Path) -> None:
    """The version of the model in predictions depends on the history."""
    fill(path, range(N, N + 1))
    versions = set()
    for name, numbers in (("x", range(N)), ("y", range(1, N)), ("z", range(0))):
        files = [csv(path.with_name(f"{name}.csv"), numbers)] if numbers else []
        out, state = path.with_name(f"{name}.jsonl"), path.with_name(name)
        Service(settings(path, *files, snapshots=str(state), predictions=str(out))).run()
        versions.add(json.loads(out.read_text())["model"]["version"])
    assert len(versions) == 3


def test_kafka(broker: KafkaBroker, topic: str, path: Path) -> None:
    """On a real broker the topic goes on at its end before the history, too."""
    produce(broker.bootstrap, topic, [(None, b'{"a": 9, "y": 9}')] * 3)
    chosen = settings(
        path, csv(path.with_name("h.csv"), range(N)), source="kafka", bootstrap=broker.bootstrap,
        topic=topic, start="latest",
    )  # fmt: skip
    (warmed,) = warm_start(chosen)
    assert warmed.history["start"] == {f"{topic}:0": 3}
    later = [(None, json.dumps(fields(n)).encode()) for n in range(N, N + 10)]
    produce(broker.bootstrap, topic, later)
    Service(chosen).run()
    found = saved(path.parent / "state", topic)
    assert found.learner == reference(chosen, range(N + 10))
    assert found.header.positions == {(topic, 0): 13}


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_classes_from_other_formats(path: Path, form: str) -> None:
    """Classes are learned from JSON lines and Parquet, and published versions count them."""
    rows = [{"a": float(n % 7), "y": n % 7 > 3} for n in range(N)]
    history = path.with_name(f"h.{form}")
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), history)
    else:
        history.write_text("\n".join(map(json.dumps, rows)))
    append(path, [json.dumps(row).encode() for row in rows[:10]])
    chosen = settings(
        path, str(history), time_field=None, learner="infinite-layer-classifier",
        learner_options={}, publish=str(path.with_name("models")),
    )  # fmt: skip
    service = Service(chosen)
    service.run()
    scores = service.workers[0].watched.scores
    assert scores.n_labelled == 10
    assert "accuracy 1" in scores.summary()  # it begins with what the history taught
    follower = Follower(path.with_name("models") / "log-events-0.model")
    assert follower.refresh()
    assert follower.current is not None
    assert follower.current.n_learned == N + 10
