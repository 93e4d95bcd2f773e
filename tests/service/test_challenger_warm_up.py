"""New challengers learn what their log still holds, in every kind of run."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.embedded_log import append, settings_of, values
from support.running_api import eventually
from support.running_command import Command
from support.saved_state import saved

from iln_stream.errors import ContenderError
from iln_stream.learners.contest import Contest
from iln_stream.service import Service, Settings, promote
from iln_stream.snapshots import learner_of
from iln_stream.streams import NewRecord
from iln_stream.streams.sqlite import Retention, create_topic, trim

MEAN = {"learner": "support.contenders:mean"}


def event(number: int, **more: Any) -> NewRecord:
    fields = {"x": {"a": number % 7 / 7}, "y": number % 5, "id": str(number), **more}
    return NewRecord(json.dumps(fields).encode(), key=str(number))


def settings(path: Path, **more: Any) -> Settings:
    return settings_of(path, **{"snapshot_pickle": True, **more})


def contest(
    path: Path, reader: int | str = 0, stream: str = "log-events", folder: str = "state"
) -> Contest[Any]:
    found = learner_of(saved(path.parent / folder, stream, reader).state["learner"], True)
    assert isinstance(found, Contest)
    return found


def mean_of(path: Path, **given: Any) -> float:
    """Return the mean that the challenger has learned."""
    found: float = contest(path, **given).contenders["mean"].predict_one({})
    return found


@pytest.mark.parametrize("learner_per", ["topic", "partition"])
def test_several_partitions(path: Path, learner_per: str) -> None:
    """A challenger learns the partitions of its learner, each up to the snapshot's position."""
    create_topic(path, "events", n_partitions=3)
    append(path, [event(number) for number in range(90)])
    own = settings(path, learner_per=learner_per)
    Service(own).run()
    append(path, [event(number, y=1000.0) for number in range(90, 120)])
    Service(own.model_copy(update={"challengers": {"mean": MEAN}})).close()
    for number in range(3) if learner_per == "partition" else ["all"]:
        mine = [number] if learner_per == "partition" else range(3)
        records = [json.loads(value) for p in mine for value in values(path, partition=int(p))]
        labels = [each["y"] for each in records if each["y"] < 1000.0]
        assert mean_of(path, reader=number) == pytest.approx(sum(labels) / len(labels))


def test_the_second_log(path: Path) -> None:
    """A challenger joins the history's events with the labels of the second log."""
    append(path, [NewRecord(b'{"x": {"a": 1}, "id": "%d"}' % n) for n in range(20)])
    append(path, [b'{"id": "%d", "y": %d}' % (n, n) for n in range(20)], "labels")
    own = settings(path, labels=f"sqlite:{path}#labels", pending_events=100)
    Service(own).run()
    Service(own.model_copy(update={"challengers": {"mean": MEAN}})).close()
    assert mean_of(path) == pytest.approx(9.5)


def test_forecasts(path: Path) -> None:
    """A challenger of a forecast learns later values, as the learner of this horizon does."""
    append(path, [b'{"y": %d}' % n for n in range(20)])
    own = settings(path, horizon="2,3", target="y")
    Service(own).run()
    Service(own.model_copy(update={"challengers": {"mean": MEAN}})).close()
    assert mean_of(path, reader="0@2") == pytest.approx(sum(range(2, 20)) / 18)
    assert mean_of(path, reader="0@3") == pytest.approx(sum(range(3, 20)) / 17)


def test_what_the_log_still_holds(path: Path) -> None:
    """A challenger begins at the first record that retention left, and passes over commands."""
    append(path, [event(number) for number in range(50)])
    promote(settings(path), "nobody")
    Service(settings(path)).run()
    trim(path, "events", Retention(records=21))
    Service(settings(path, challengers={"mean": MEAN})).close()
    assert mean_of(path) == pytest.approx(2.0)
    assert saved(path.parent / "state", "log-events").n_dead_letters == 1


@pytest.mark.parametrize(("policy", "learned"), [("skip", True), ("stop", False)])
def test_failures(path: Path, policy: str, learned: bool, caplog: pytest.LogCaptureFixture) -> None:
    """A challenger that fails on the history goes on and is warned of, or ends the run."""
    caplog.set_level("INFO", "iln_stream")
    append(path, [event(number, x={"a": number / 20}) for number in range(20)])
    Service(settings(path)).run()
    failing = {"learner": "support.contenders:Failing", "on_failure": policy}
    own = settings(path, challengers={"failing": failing})
    if learned:
        Service(own).close()
        assert "challenger failing has learned 19 events of the log: " in caplog.text
        assert "failing failed on 1 events of its history, first at offset 19" in caplog.text
        assert values(path, "events-dead-letters") == []
        assert "failing" in contest(path).contenders
    else:
        with pytest.raises(ContenderError, match=r"failing failed .* offset 19"):
            Service(own)
        assert "challengers" not in saved(path.parent / "state", "log-events").header.configuration


def test_a_run_after_history(path: Path) -> None:
    """A challenger learns the files that the others learned, and the log from where they went on:
    then it is bit for bit as if it had taken part from the beginning."""
    history = path.parent / "history.jsonl"
    history.write_bytes(b"".join(event(n, y=100.0 + n).value + b"\n" for n in range(5)))
    append(path, [event(number) for number in range(10)])
    own = settings(path, warm_start=str(history), start=3)
    linear = {"linear": {"learner": "support.contenders:linear"}}
    Service(own.model_copy(update={"challengers": linear})).run()
    late = own.model_copy(update={"snapshots": str(path.parent / "late")})
    Service(late).run()
    Service(late.model_copy(update={"challengers": {**linear, "mean": MEAN}})).close()
    found = contest(path, folder="late").contenders
    labels = [100.0 + n for n in range(5)] + [n % 5 for n in range(3, 10)]
    assert found["mean"].predict_one({}) == pytest.approx(sum(labels) / len(labels))
    x = {"a": 0.3}
    assert found["linear"].predict_one(x) == contest(path).contenders["linear"].predict_one(x)


@pytest.mark.parametrize("change", ["changed", "not named"])
def test_a_run_after_history_that_is_gone(
    path: Path, change: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Without the files as they were, a challenger learns the log alone, and that is warned of."""
    history = path.parent / "history.jsonl"
    history.write_text('{"x": {}, "y": 1000}\n')
    append(path, [event(number) for number in range(10)])
    own = settings(path, warm_start=str(history), start="earliest")
    Service(own).run()
    if change == "changed":
        history.write_text('{"x": {}, "y": 2000}\n')
    else:
        own = own.model_copy(update={"warm_start": ()})
    Service(own.model_copy(update={"challengers": {"mean": MEAN}})).close()
    assert mean_of(path) == pytest.approx(2.0)
    assert "the new challengers (mean) learn the log alone" in caplog.text


HELD = """
import time
from pathlib import Path
from river import linear_model

class Held(linear_model.LinearRegression):
    n = 0

    def learn_one(self, x, y, w=1.0):
        self.n += 1
        if self.n == 150 and not Path("go").exists():
            Path("reached").touch()
            time.sleep(600)
        super().learn_one(x, y, w)
"""


@pytest.mark.thorough
def test_kill_during_a_warm_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is killed while a challenger learns the log's history begins the warm-up anew, and
    its state equals, to the last bit, that of a run that was not interrupted. During the warm-up
    the metric says that the run is not ready."""
    folder = path.parent
    (folder / "held.py").write_text(HELD)
    monkeypatch.syspath_prepend(folder)
    append(path, [event(number) for number in range(300)])
    alone = (
        *("run", "--source=sqlite:log.db", "--stop-at-end", "--learner=pool", "--metrics-port=0"),
        *('--learner-options={"size": 16}', "--snapshot-pickle", "--snapshot-seconds=0.05"),
    )
    added = (*alone, '--challengers={"held": {"learner": "held:Held"}}')
    with Command(folder, *alone, "--snapshots=killed") as run:
        assert run.wait() == 0, run.said
    shutil.copytree(folder / "killed", folder / "whole")
    before = saved(folder / "killed", "log-events")
    append(path, [event(number) for number in range(300, 420)])
    with Command(folder, *added, "--snapshots=killed") as run:
        run.wait_until_it_says("challenger held learns the log")
        eventually((folder / "reached").exists)
        assert run.metrics()["iln_ready"] == 0.0
        run.kill()
    assert saved(folder / "killed", "log-events").bits == before.bits
    (folder / "go").touch()
    for state in ("killed", "whole"):
        with Command(folder, *added, f"--snapshots={state}") as run:
            assert run.wait() == 0, run.said
            assert "challenger held has learned 300 events of the log" in run.said
    killed, whole = (saved(folder / state, "log-events") for state in ("killed", "whole"))
    assert killed.header.positions == whole.header.positions == {("log-events", 0): 420}
    assert killed.n_events == whole.n_events == 420
    assert killed.bits == whole.bits
