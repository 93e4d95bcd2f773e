"""Runs from an embedded log: exactly once by themselves, and started in any order."""

import json
import logging
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from support.embedded_log import append, messages, read, settings_of, values
from support.running_command import Command
from support.saved_state import saved

from iln_stream.errors import LostPlaceError, NoStreamError, OtherRunError, RefusedError
from iln_stream.loop import Listener, Step
from iln_stream.service import Service, Settings, rebuild
from iln_stream.streams import NewRecord
from iln_stream.streams.sqlite import Retention, create_topic, trim


def event(number: int) -> bytes:
    x = {"a": number % 7 / 7, "b": number % 3}
    return json.dumps({"x": x, "y": number % 5, "id": str(number)}).encode()


def fill(path: Path, first: int, count: int) -> None:
    append(path, [event(number) for number in range(first, first + count)])


def settings(path: Path, **more: object) -> Settings:
    return settings_of(path, **{"predictions": f"sqlite:{path}#predictions", **more})


def published(path: Path, topic: str = "predictions") -> list[int]:
    return [value["offset"] for value in messages(path, topic)]


@pytest.mark.parametrize(("snapshots", "elsewhere"), [(True, False), (False, True)])
def test_each_prediction_is_published_once(path: Path, snapshots: bool, elsewhere: bool) -> None:
    """A run that starts over or resumes publishes each prediction once, in the log's file or in
    another one."""
    other = path.with_name("other.db")
    more = {} if snapshots else {"snapshots": None}
    if elsewhere:
        more["predictions"] = f"sqlite:{other}#predictions"
    for number in range(3):
        fill(path, 30 * number, 30)
        Service(settings(path, **more)).run()
    assert published(other if elsewhere else path) == list(range(90))


def test_a_restart_makes_no_difference(path: Path) -> None:
    """A resumed run ends with the state and the predictions of one that was not interrupted."""
    fill(path, 0, 300)
    Service(settings(path)).run()
    fill(path, 300, 300)
    Service(settings(path)).run()
    folder = path.parent / "whole"
    Service(settings(path, snapshots=str(folder), predictions=f"sqlite:{path}#q")).run()
    assert saved(path.parent / "state", "log-events").learner == saved(folder, "log-events").learner
    assert values(path) == [event(number) for number in range(600)]
    assert values(path, "predictions") == values(path, "q")


def test_a_run_waits_for_its_first_event(path: Path) -> None:
    """A run may start before anything created the log; dead letters have a topic beside it."""
    run = ["run", "--source", f"sqlite:{path}", "--learner", "pool", "--metrics-port", "0"]
    with Command(path.parent, *run, "--snapshots", "state") as learner:
        learner.wait_until_it_says("metrics at")
        append(path, [event(0), b"malformed", event(1)])
        learner.wait_for_metrics(lambda now: now["iln_events_total"] == 2)
        assert learner.terminate() == 0, learner.said
    assert len(values(path, "events-dead-letters")) == 1
    assert saved(path.parent / "state", "log-events").header.positions == {("log-events", 0): 3}


def test_learners_of_several_partitions_share_a_file(path: Path) -> None:
    """Learners of one partition each publish to one topic at the same time, each record once, with
    the partition and the key of the event."""
    create_topic(path, "events", n_partitions=3)
    append(path, [NewRecord(event(number), key=str(number)) for number in range(300)])
    Service(settings(path, learner_per="partition")).run()
    Service(settings(path, learner_per="partition")).run()
    n_found = 0
    for partition in range(3):
        for record in read(path, "predictions", partition):
            found = json.loads(record.payload)  # type: ignore[arg-type]
            assert (found["partition"], found["key"], found["id"]) == (partition, *[record.key] * 2)
            n_found += 1
    assert n_found == 300


def test_an_older_process_can_not_publish(path: Path) -> None:
    """A run that was taken for dead stops once another one publishes the same predictions."""
    fill(path, 0, 50)
    older = Service(settings(path, snapshots=None))
    Service(settings(path, snapshots=None)).run()
    with pytest.raises(OtherRunError, match="another process now publishes"):
        older.run()
    assert published(path) == list(range(50))


def test_records_deleted_before_they_were_learned(path: Path) -> None:
    """If retention deleted records that were not learned, the run stops unless the loss is
    accepted."""
    fill(path, 0, 100)
    Service(settings(path)).run()
    fill(path, 100, 100)
    trim(path, "events", Retention(records=30))
    with pytest.raises(LostPlaceError, match="--accept-loss"):
        Service(settings(path))
    Service(settings(path), accept_loss=True).run()
    assert published(path) == [*range(100), *range(170, 200)]


def test_the_losses_of_all_partitions_are_named(path: Path) -> None:
    """The error counts what --accept-loss would skip, in every partition."""
    create_topic(path, "events", n_partitions=2)
    for _ in range(2):
        append(path, [NewRecord(event(n), partition=p) for n in range(4) for p in (0, 1)])
        if not (path.parent / "state").exists():
            Service(settings(path)).run()
    trim(path, "events", Retention(records=2))
    lost = r"partition 0: records 4 to 5, .*, partition 1: records 4 to 5 were .* these 4 offsets"
    with pytest.raises(LostPlaceError, match=lost):
        Service(settings(path))


def test_a_loss_of_all_of_a_partition_is_accepted(path: Path) -> None:
    """A run resumes after all records of one of two partitions were deleted, though their order is
    in no journal."""
    create_topic(path, "events", n_partitions=2)
    for keys in ("ad", "a", "d"):  # of the partitions 1 and 0
        append(path, [NewRecord(event(number), key=key) for number in range(20) for key in keys])
        if keys == "a":
            trim(path, "events", Retention(seconds=0))
            append(path, [NewRecord(event(number), key="d") for number in range(20)])
        Service(settings(path), accept_loss=True).run()
    assert saved(path.parent / "state", "log-events", "all").n_events == 80


def test_a_log_that_was_renamed(path: Path) -> None:
    """The committed offsets belong to the topic, not to its file's name: nothing comes twice."""
    fill(path, 0, 100)
    out = path.with_name("out.db")
    more = {"predictions": f"sqlite:{out}#predictions", "snapshots": None}
    Service(settings(path, **more)).run()
    renamed = path.rename(path.with_name("renamed.db"))
    fill(renamed, 100, 20)
    Service(settings(renamed, **more)).run()
    assert published(out) == list(range(120))


def test_a_log_that_was_restored(path: Path) -> None:
    """A log that ends before what was published would lose predictions in silence: refused."""
    fill(path, 0, 100)
    backup = path.with_name("backup.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM INTO ?", (str(backup),))
    fill(path, 100, 50)
    out = path.with_name("out.db")
    more = {"predictions": f"sqlite:{out}#predictions", "snapshots": None}
    Service(settings(path, **more)).run()
    for file in path.parent.glob("log.db*"):
        file.unlink()
    backup.rename(path)
    with pytest.raises(LostPlaceError, match="up to offset 150, but it now ends at 100"):
        Service(settings(path, **more))
    Service(settings(path, **{**more, "predictions": f"sqlite:{out}#restored"})).run()
    assert published(out, "restored") == list(range(100))


def test_dead_letters_are_stored_while_events_come(path: Path) -> None:
    """A letter does not wait until the stream pauses."""
    append(path, [b"no event"])
    fill(path, 1, 1)
    service = Service(settings(path, snapshots=None, stop_at_end=False))
    seen: list[int] = []

    def look() -> None:
        deadline = time.monotonic() + 30
        number = 2
        while not seen and time.monotonic() < deadline:
            fill(path, number, 1)
            number += 1
            time.sleep(0.05)
            seen.extend(range(len(values(path, "events-dead-letters"))))
        service.workers[0].loop.stop()

    looking = threading.Thread(target=look)
    looking.start()
    service.run()
    looking.join()
    assert len(seen) == 1


def test_another_log_at_the_path(path: Path) -> None:
    """A run refuses to resume in a log that was created again; `rebuild` starts with it."""
    fill(path, 0, 100)
    Service(settings(path)).run()
    for file in path.parent.glob("log.db*"):
        file.unlink()
    with pytest.raises(LostPlaceError, match="recreated"):
        Service(settings(path, stop_at_end=False))
    fill(path, 0, 40)
    assert rebuild(settings(path), forget=True) == [{("log-events", 0): 0}]
    Service(settings(path)).run()
    assert published(path) == list(range(40))


def test_rebuild_creates_no_log(path: Path) -> None:
    """`rebuild` of a missing log is an error, as an empty one would replace the snapshots; so is a
    run that would end at its end."""
    fill(path, 0, 10)
    Service(settings(path)).run()
    path.rename(path.with_name("moved.db"))
    with pytest.raises(NoStreamError):
        rebuild(settings(path, stop_at_end=False))
    with pytest.raises(NoStreamError):
        Service(settings(path, partitions="0", snapshots=None))
    assert not path.exists()
    assert saved(path.parent / "state", "log-events").header.positions == {("log-events", 0): 10}


def test_metrics_while_it_learns(path: Path) -> None:
    """A batch is fetched at once and learned one by one, but the lag falls by 1 with each record;
    the run is ready once the learner is compiled."""
    fill(path, 0, 30)
    labels = {"model": "log-events/pool", "partition": "0"}
    found = []

    def metrics() -> tuple[float | None, float | None]:
        read = service.registry.get_sample_value
        return read("iln_ready", labels), read("iln_consumer_lag_records", labels)

    class Asks(Listener):
        def on_step(self, step: Step) -> None:
            found.append(metrics())

    service = Service(settings(path), listeners=[Asks()])
    assert metrics()[0] == 0.0
    service.run()
    assert found == [(1.0, lag) for lag in range(30, 0, -1)]


def test_rebuild_forgets_nothing_without_asking(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """If the log no longer holds what the model learned, its snapshots stay as they are until
    `forget` says otherwise."""
    fill(path, 0, 100)
    Service(settings(path)).run()
    trim(path, "events", Retention(records=30))
    folder = path.parent / "state" / "log-events-0"
    before = {file: file.read_bytes() for file in folder.glob("*.snapshot")}
    with pytest.raises(RefusedError, match=r"learned 100 events.* only 30.*rebuild --forget"):
        rebuild(settings(path))
    assert {file: file.read_bytes() for file in folder.glob("*.snapshot")} == before
    with caplog.at_level(logging.INFO):
        assert rebuild(settings(path), forget=True) == [{("log-events", 0): 100}]
    assert "partition 0: learned 30 events; the state before had 100" in caplog.messages
    assert saved(path.parent / "state", "log-events").n_events == 30
    assert rebuild(settings(path), until=80) == [{("log-events", 0): 80}]  # fewer, but none is lost


def test_no_partition_is_rebuilt_if_one_would_forget(path: Path) -> None:
    """With a learner per partition, the first is not replaced before the second is looked at."""
    create_topic(path, "events", n_partitions=2)
    more = {"learner_per": "partition"}
    for partition in range(2):
        append(path, [NewRecord(event(n), partition=partition) for n in range(20)])
    Service(settings(path, **more)).run()
    before = saved(path.parent / "state", "log-events").header
    with sqlite3.connect(path) as connection:
        (slot,) = connection.execute("SELECT slot FROM partitions WHERE number = 1").fetchone()
        connection.execute(f"DELETE FROM records_{slot} WHERE offset < 15")
    with pytest.raises(RefusedError, match="partition 1: the model has learned 20 events"):
        rebuild(settings(path, **more))
    assert saved(path.parent / "state", "log-events").header == before
