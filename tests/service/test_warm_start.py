"""`warm_start`, on embedded logs: history first, then the log, as one stream."""

import gzip
import json
import logging
import random
import shutil
import signal
import socket
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.embedded_log import append, settings_of
from support.running_api import eventually
from support.running_command import Command
from support.saved_state import bits_of, saved

from iln_stream.errors import IlnWarning, RefusedError
from iln_stream.loop import Listener, Step
from iln_stream.service import Service, Settings, SettingsError, build_learner, rebuild, warm_start
from iln_stream.snapshots import learner_state
from iln_stream.snapshots.follower import Follower
from iln_stream.streams.sqlite import create_topic

N = 100


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


def settings(path: Path, *files: str, **more: Any) -> Settings:
    given = {"start": "earliest", "target": "y", "time_field": "t", "warm_start": files}
    return settings_of(path, **{**given, **more})


def reference(chosen: Settings, numbers: range) -> dict[str, bytes]:
    """Return the state of a learner that learned these events one by one."""
    learner = build_learner(chosen)
    for number in numbers:
        x = {name: fields(number)[name] for name in "ab"}
        learner.predict_one(x)
        learner.learn_one(x, fields(number)["y"])
    return bits_of(learner_state(learner, allow_pickle=False))


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
    caplog.set_level(logging.INFO)
    Service(chosen).run()
    assert f"history (h.csv): {N} events" in caplog.text
    history.unlink()
    fill(path, range(N + 5, N + 9))
    caplog.clear()
    Service(chosen).run()
    assert "learning h.csv" not in caplog.text
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
    if fields["t"] == 1.7e9 + 60 * 60 and not Path("go").exists():
        Path("reached").touch()
        while not Path("go").exists():
            time.sleep(0.01)
    return fields
"""


@pytest.fixture
def held(path: Path) -> tuple[str, ...]:
    """A command whose history stops at one of its records until there is a file `go`."""
    folder = path.parent
    (folder / "held.py").write_text(HELD)
    (folder / "h.jsonl").write_text("\n".join(json.dumps(fields(n)) for n in range(N)))
    fill(path, range(N, N + 20))
    return (
        *("run", "--source=sqlite:log.db", "--snapshots=state", "--start=earliest"),
        *("--target=y", "--time-field=t", "--learner=pool", "--metrics-port=0"),
        *('--learner-options={"size": 16}', "--decoder=held:read", "--warm-start=h.jsonl"),
    )


@pytest.mark.thorough
def test_kill_in_the_middle(path: Path, held: tuple[str, ...]) -> None:
    """A warm start that is killed leaves no snapshot, and neither does one that is stopped, which
    says so; the next run begins with the history anew, and its learner equals to the last bit one
    that was not interrupted. Meanwhile /ready names the progress, and /health answers, so that no
    supervisor restarts it; the same server answers when the run reads the log."""
    folder = path.parent
    with Command(folder, *held) as run:
        eventually((folder / "reached").exists)
        state = "learning the history: h.jsonl, file 1 of 1; 60 events so far\n"
        assert run.answer("/ready") == (503, state)
        assert run.answer("/health")[0] == 200
        assert run.metrics()["iln_history_events_total"] == 60
        assert "iln_events_total" not in run.metrics()
        run.kill()
    (folder / "reached").unlink()
    with Command(folder, *held) as run:
        eventually((folder / "reached").exists)
        run.signal(signal.SIGTERM)
        run.wait_until_it_says("finishing")
        (folder / "go").touch()
        assert run.wait() == 2
        assert "nothing was saved" in run.said
    assert not list((folder / "state").rglob("*.snapshot"))
    with Command(folder, *held) as run:
        found = run.wait_for_metrics(lambda found: found.get("iln_events_total") == 20)
        assert found["iln_history_events_total"] == N
        assert run.answer("/ready") == (200, "ready\n")
        assert run.said.count("metrics at") == 1
        assert run.terminate() == 0
        assert f"history (h.jsonl): {N} events" in run.said
    assert saved(folder / "state", "log-events").learner == reference(settings(path), range(N + 20))
    with Command(folder, *held) as run:  # resumes, so that there is no history to count
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
    if per == "partition":  # a learner that is gone is taught again, the other one is not
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
    seen: list[Step] = []

    class Keeps(Listener):
        def on_step(self, step: Step) -> None:
            seen.append(step)

    Service(chosen, listeners=[Keeps()]).run()
    late, after = seen
    assert (late.late, late.event_id, late.y) == (True, "b", 3.0)
    assert after.x["time.since_last"] == 240.0
    counts = saved(path.parent / "state", "log-events").state["counts"]
    assert counts["n_repeats"] == 1


def test_events_and_csv(path: Path) -> None:
    """A log of events can have a history in CSV, whose fields only `warm_start_fields` names."""
    events = [{"x": {k: fields(n)[k] for k in "ab"}, "y": fields(n)["y"]} for n in range(N, N + 10)]
    append(path, [json.dumps(event).encode() for event in events])
    own = {"target": "y", "time_field": "t"}
    files = (csv(path.with_name("h.csv"), range(N)),)
    chosen = settings_of(path, start="earliest", warm_start=files, warm_start_fields=own)
    Service(chosen).run()
    assert saved(path.parent / "state", "log-events").learner == reference(chosen, range(N + 10))


@pytest.mark.parametrize(
    ("files", "more", "message"),
    [
        (("late", "early"), {}, r"early\.csv begins at .* before .*late\.csv"),
        (("none",), {}, "no record has a label"),
        (("other",), {}, r"none of the first 2 .*y: expected a .*inspect-source"),
        (("gone",), {}, r"there is no file .*gone\.csv"),
        (("early",), {"start": None}, "start: say where sqlite:.* goes on after the history"),
        (
            ("early",),
            {"warm_start_fields": {"target": "prise"}},
            r"no column 'prise'.*warm_start_fields",
        ),
    ],
)
def test_refused(path: Path, files: tuple[str, ...], more: dict[str, Any], message: str) -> None:
    """A history that can't be learned is refused, and nothing is saved."""
    fill(path, range(1))
    csv(path.with_name("late.csv"), range(50, 60))
    csv(path.with_name("early.csv"), range(10))
    path.with_name("none.csv").write_text("t,a,b,y\n1,2,3,\n2,3,4,\n")
    path.with_name("other.csv").write_text("t,a,b,y\n1,2,3,yes\n2,3,4,no\n")
    names = [str(path.with_name(f"{name}.csv")) for name in files]
    with pytest.raises(SettingsError, match=message):
        warm_start(settings(path, *names, **more))
    assert not list(path.parent.rglob("*.snapshot"))


def test_bad_records_are_counted(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A record that can't be learned and one that is out of order are logged and counted."""
    fill(path, range(1))
    name = csv(path.with_name("h.csv"), range(9))
    Path(name).write_text(Path(name).read_text() + "\n1600000000,1,2,3\n1800000000,1,2,yes\n")
    (warmed,) = warm_start(settings(path, name))
    assert (warmed.history["n_dead_letters"], warmed.history["n_older"]) == (1, 1)
    assert "h.csv: record 10 can't be learned: y: expected a number" in caplog.text
    assert "1 events are older than the event before" in caplog.text


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


def test_classes_from_parquet(path: Path) -> None:
    """Classes are learned from Parquet, and published versions count them."""
    rows = [{"a": float(n % 7), "y": n % 7 > 3} for n in range(N)]
    history = path.with_name("h.parquet")
    pq.write_table(pa.Table.from_pylist(rows), history)
    append(path, [json.dumps(row).encode() for row in rows[:10]])
    chosen = settings(
        path, str(history), time_field=None, learner="infinite-layer-classifier",
        learner_options={}, publish=str(path.with_name("models")),
    )  # fmt: skip
    service = Service(chosen)
    service.run()
    watched = service.workers[0].watched
    assert watched.scores.n_labelled == 10
    assert "accuracy 1" in watched.summary()  # it begins with what the history taught
    follower = Follower(path.with_name("models") / "log-events-0.model")
    assert follower.refresh()
    assert follower.current is not None
    assert follower.current.header.n_learned == N + 10
