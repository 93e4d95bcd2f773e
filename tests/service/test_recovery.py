"""Runs that resume from snapshots, on an embedded log."""

import json
import random
import re
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from support.command_line import iln
from support.embedded_log import append, messages, settings_of, values
from support.saved_state import Saved, saved

from iln_stream.errors import SnapshotError, SourceError
from iln_stream.loop import Listener, NothingLearnedError, Step
from iln_stream.service import Service, rebuild
from iln_stream.service.streams import seed_of
from iln_stream.streams import NewRecord
from iln_stream.streams.sqlite import create_topic


def event(number: int) -> bytes:
    """Return a labelled event, a function of its number."""
    draw = random.Random(number)
    x = {name: draw.uniform(-1, 1) for name in "abc"}
    y = x["a"] * x["b"] + draw.gauss(0, 0.1)
    return json.dumps({"x": x, "y": y, "id": f"e{number}"}).encode()


def fill(path: Path, count: int, first: int = 0, partition: int = 0) -> None:
    numbers = range(first, first + count)
    append(path, [NewRecord(event(number), partition=partition) for number in numbers])


def run(path: Path, **more: Any) -> Service:
    """Run to the log's end."""
    service = Service(settings_of(path, **more))
    service.run()
    return service


def snapshot(path: Path, partition: int | str = 0, state: str = "state") -> Saved:
    return saved(path.parent / state, "log-events", partition)


def whole(path: Path, **more: Any) -> Saved:
    """Return the snapshot of one uninterrupted run over the whole log."""
    run(path, snapshots=str(path.parent / "whole"), **more)
    return snapshot(path, state="whole")


def ids(path: Path) -> list[str]:
    """Return the ids of the predictions."""
    return [value["id"] for value in messages(path, "p")]


@pytest.fixture
def outputs(path: Path) -> dict[str, Any]:
    """Settings of a run that publishes each prediction at least once."""
    return {"predictions": f"sqlite:{path}#p", "transactional": False}


# Going on


def test_a_run_is_saved_on_its_way(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its last snapshot, as after a kill, a run resumes from the one before, and learns the
    later records again, identically."""
    fill(path, 600)
    monkeypatch.setattr("iln_stream.service.recovery.SNAPSHOT_EVENTS", 50)
    run(path)
    last = snapshot(path)
    max((path.parent / "state" / "log-events-0").glob("*.snapshot")).unlink()
    assert 0 < snapshot(path).header.next_offset < 600
    run(path)
    assert snapshot(path).learner == last.learner
    assert snapshot(path).n_events == 600
    assert snapshot(path).header.epoch > last.header.epoch


def test_repeats_are_known_across_runs(path: Path) -> None:
    """An event that a sender repeats is learned once, even across runs."""
    fill(path, 20)
    run(path, recent_ids=10)
    fill(path, 10, first=10)
    fill(path, 1)
    watched = run(path, recent_ids=10).workers[0].watched
    assert (watched.n_repeats, watched.scores.n_labelled) == (10, 21)  # e0 was forgotten


def test_snapshots_are_told_to_prometheus(path: Path) -> None:
    """The metrics describe the newest snapshot, even if another run wrote it."""
    fill(path, 50)
    for _ in range(2):
        registry = run(path).registry
        labels = {"model": "log-events/pool", "partition": "0"}
        assert registry.get_sample_value("iln_snapshot_lag_records", labels) == 0
        taken = registry.get_sample_value("iln_snapshot_last_success_timestamp_seconds", labels)
        assert taken == datetime.fromisoformat(snapshot(path).header.saved_at).timestamp()


OWN = """
from dataclasses import dataclass
import numpy as np
from iln_stream import ScaledTarget, ShrinkingGradient, WinsorisedScaler
from iln_stream.learners import restorable

class Unknown:
    q = 1.0
    def draw(self, n, d, rng):
        return rng.standard_normal((n, d))
    def psi(self, x, w):
        return np.sign(np.vecdot(w, x))

@restorable
@dataclass(frozen=True)
class Known(Unknown):
    q: float = 1.0

def make(features):
    return ScaledTarget(WinsorisedScaler() | ShrinkingGradient(features, draws=20, seed=1))

unknown, known = make(Unknown()), make(Known())
"""


@pytest.mark.thorough
def test_a_learner_with_parts_of_ones_own(path: Path) -> None:
    """A learner that could not be restored is refused before anything is learned; one that is
    @restorable resumes in other processes."""
    folder = path.parent
    (folder / "own.py").write_text(OWN)
    fill(path, 50)
    command = ("run", "--source=sqlite:log.db", "--stop-at-end", "--metrics-port=0")
    command += ("--snapshots=state", "--predictions=sqlite:log.db#p")
    refused = iln(*command, "--learner=own:unknown", cwd=folder)
    assert refused.returncode == 2
    assert (
        "error: snapshots: features is a Unknown, which a state does not describe" in refused.stderr
    )
    assert iln(*command, "--learner=own:known", cwd=folder).returncode == 0
    fill(path, 50, first=50)
    resumed = iln(*command, "--learner=own:known", cwd=folder)
    assert resumed.returncode == 0, resumed.stderr
    assert ids(path) == [f"e{number}" for number in range(100)]
    assert snapshot(path).n_labelled == 100
    uninterrupted = whole(path, learner="own:known", learner_options={})
    assert snapshot(path).learner == uninterrupted.learner


def test_the_first_place_is_kept(path: Path) -> None:
    """A run with `start = latest` that is killed at once resumes where it began, and skips no
    record."""
    fill(path, 10)
    Service(settings_of(path, start="latest")).close()  # killed before it learned
    fill(path, 20, first=10)
    run(path, start="latest")
    assert snapshot(path).n_events == 20


# Snapshots that can't be resumed from


def test_one_process_a_folder(path: Path) -> None:
    """While one run uses the folder, another is refused before it learns anything."""
    fill(path, 5)
    first = Service(settings_of(path))
    with pytest.raises(SnapshotError, match="another process learns with"):
        Service(settings_of(path))
    first.run()
    run(path)


def test_other_settings_are_refused_until_rebuilt(path: Path, outputs: dict[str, Any]) -> None:
    """A run with other settings is refused; after a rebuild it has what a new learner would have
    learned, and publishes nothing twice."""
    fill(path, 100)
    run(path, **outputs)
    fill(path, 50, first=100)
    other = {"learner_options": {"size": 32}}
    with pytest.raises(SnapshotError, match=r"learner_options.size was 16 and is 32.*rebuild"):
        run(path, **other)
    assert rebuild(settings_of(path, **other)) == [{("log-events", 0): 100}]
    run(path, **other, **outputs)
    assert ids(path) == [f"e{n}" for n in range(150)]
    assert snapshot(path).learner == whole(path, **other).learner


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (
            {"target": "y", "types": {"a": "number", "b": "time"}},
            {"target": "y", "types": {"a": "category", "b": "time"}, "decimal": ","},
            "types.a was 'number' and is 'category'; decimal was '.' and is ','",
        ),
        ({}, {"target": "y"}, "target was None and is 'y'"),
        ({}, {"features": ["*"]}, "settings of fields were not given, or are not any more"),
    ],
)
def test_only_settings_that_differ_are_told(
    path: Path, before: dict[str, Any], now: dict[str, Any], told: str
) -> None:
    """Not all that say which field is what."""
    fill(path, 1)
    Service(settings_of(path, **before)).close()
    with pytest.raises(SnapshotError) as refused:
        Service(settings_of(path, **now))
    assert f"saved with other settings: {told}. Restore them" in str(refused.value)


def test_nothing_to_rebuild(path: Path) -> None:
    """A rebuild without snapshots is an error that names `run`."""
    fill(path, 1)
    with pytest.raises(SnapshotError, match=r"holds none, so that `iln-stream run` starts over"):
        rebuild(settings_of(path))


def test_rebuild_of_snapshots_that_nobody_can_read(path: Path) -> None:
    """The remedy in the error works: without a readable snapshot, the journal gives the positions
    of a learner over all partitions."""
    create_topic(path, "events", 2)
    for partition in range(2):
        fill(path, 30 + partition, 100 * partition, partition)
    run(path)
    fill(path, 10, 500)
    for each in path.parent.rglob("*.snapshot"):
        each.write_bytes(each.read_bytes()[:-1])
    with pytest.raises(SnapshotError, match="`iln-stream rebuild`"):
        run(path)
    assert rebuild(settings_of(path)) == [{("log-events", 0): 30, ("log-events", 1): 31}]
    run(path)
    assert snapshot(path, "all").n_events == 71


# Several partitions


def test_single_learners_do_not_become_one(path: Path) -> None:
    """Replacing the learners of several partitions by one over all is refused."""
    create_topic(path, "events", 2)
    for partition in range(2):
        fill(path, 5, partition=partition)
    run(path, learner_per="partition")
    with pytest.raises(SnapshotError, match=r"holds learners of some .*--learner-per partition"):
        run(path)


def test_each_partition_has_its_learner(path: Path) -> None:
    """Learners per partition are the same in one process or in several, each with its own seed,
    which its snapshots record."""
    create_topic(path, "events", 3)
    for partition in range(3):
        fill(path, 60, partition=partition)
    apart = {"learner_per": "partition", "snapshots": str(path.parent / "apart")}
    service = run(path, learner_per="partition")
    assert [worker.source.partitions for worker in service.workers] == [(0,), (1,), (2,)]
    run(path, **apart, partitions="1")
    run(path, **apart, partitions="2,0")
    for partition in range(3):
        ours = snapshot(path, partition)
        assert ours.learner == snapshot(path, partition, "apart").learner
        assert ours.header.seed == seed_of(1, partition)
    assert len({snapshot(path, p).learner[""] for p in range(3)}) == 3


def test_one_partition_that_fails_stops_all(path: Path) -> None:
    """If one learner fails, the process ends, and saves the others."""
    create_topic(path, "events", 2)
    fill(path, 5)
    learned = threading.Barrier(2)

    class Failing(Listener):
        def on_step(self, step: Step) -> None:
            if step.offset == 4:
                learned.wait(60)

        def on_dead_letter(self, letter: object) -> None:
            learned.wait(60)
            raise SourceError("no more")

    given = settings_of(path, learner_per="partition", stop_at_end=False)
    service = Service(given, listeners=[Failing()])
    append(path, [NewRecord(b"{}", partition=1)])
    with pytest.raises(SourceError, match="no more"):
        service.run()
    assert snapshot(path).n_events == 5


def test_an_error_saves_nothing_half_heard(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a listener fails on a learned event, no snapshot is saved: with the state after the event
    and the position before it, the event would be learned twice."""
    fill(path, 100)
    monkeypatch.setattr("iln_stream.service.recovery.SNAPSHOT_EVENTS", 10)
    service = Service(settings_of(path))

    class FailingOnce(Listener):
        def on_step(self, step: Step) -> None:
            if step.offset == 55:
                raise SourceError("failed after learning")

    service.workers[0].loop.listeners = (FailingOnce(), *service.workers[0].loop.listeners)
    with pytest.raises(SourceError, match="failed after learning"):
        service.run()
    assert snapshot(path).n_events <= 55
    run(path)
    assert snapshot(path).learner == whole(path).learner


def test_a_log_that_was_renamed(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A run that starts over beside the model of another log says so, once; one that resumes, or
    has nothing beside it, does not."""
    for name in ("old.db", "old.db", "new.db", "new.db"):
        fill(path.with_name(name), 5)
        run(path.with_name(name))
    said = [each for each in caplog.messages if "starts over" in each]
    assert len(said) == 1
    assert re.search("new-events-0 has no snapshot; .* has models of old-events-0. If", said[0])


def test_records_of_another_form(path: Path) -> None:
    """A topic without any valid event ends the run after 100 dead letters, with advice; a restart
    begins after them, so that no record has two letters."""
    append(path, [json.dumps({"rooms": n, "price": 2.0 * n}).encode() for n in range(150)])
    for last in (99, 149):
        with pytest.raises(
            NothingLearnedError,
            match=r"none of the first .* of others see `iln-stream inspect-source`",
        ):
            run(path)
        letters = values(path, "events-dead-letters")
        assert [json.loads(letter)["offset"] for letter in letters] == list(range(last + 1))
    fill(path, 20)
    run(path)
    assert snapshot(path).n_events == 20
