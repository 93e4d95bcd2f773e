"""Runs that resume from snapshots, on a real broker."""

import json
import random
from datetime import datetime
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from kafka import KafkaAdminClient, TopicPartition
from kafka.admin import NewPartitions
from support.command_line import iln
from support.kafka_broker import KafkaBroker
from support.kafka_topics import TransactionalWriter, create_topic, produce, read_topic
from support.saved_state import saved

from iln_stream.errors import IlnWarning, SnapshotError, SourceError
from iln_stream.loop import Listener, NothingLearnedError, Step
from iln_stream.service import Service, Settings, rebuild
from iln_stream.service.streams import seed_of


def events(count: int, first: int = 0, **more: Any) -> list[tuple[None, bytes]]:
    """Return labelled events, each a function of its number."""
    sent = []
    for number in range(first, first + count):
        draw = random.Random(number)
        x = {name: draw.uniform(-1, 1) for name in "abc"}
        y = x["a"] * x["b"] + draw.gauss(0, 0.1)
        sent.append((None, json.dumps({"x": x, "y": y, "id": f"e{number}", **more}).encode()))
    return sent


class Runs:
    """Runs of one configuration on one topic, with snapshots in one folder."""

    def __init__(self, bootstrap: str, topic: str, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.topic = topic
        self.given = {
            "bootstrap": bootstrap,
            "topic": topic,
            "start": "earliest",
            "stop_at_end": True,
            "snapshots": str(folder),
            "learner": "pool",
            "learner_options": {"size": 64},
            "metrics_port": 0,
            **settings,
        }

    def settings(self, **others: Any) -> Settings:
        return Settings.load(**{**self.given, **others})

    def run(self, **others: Any) -> Service:
        """Run to the topic's end."""
        service = Service(self.settings(**others))
        service.run()
        return service

    def saved(self, partition: int | str = 0) -> Any:
        return saved(self.folder, self.topic, partition)


@pytest.fixture
def runs(broker: KafkaBroker, topic: str, tmp_path: Path) -> Runs:
    """Runs on an empty topic."""
    return Runs(broker.bootstrap, topic, tmp_path / "snapshots")


def whole(runs: Runs, folder: Path, **settings: Any) -> Any:
    """Return the snapshot of one uninterrupted run over the whole topic."""
    Service(runs.settings(**settings, snapshots=str(folder))).run()
    return saved(folder, runs.topic)


# Going on


def test_a_run_goes_on_where_the_last_one_ended(
    broker: KafkaBroker, runs: Runs, tmp_path: Path
) -> None:
    """Three runs learn the same as one, to the last bit, and each event once."""
    for part in range(3):
        produce(broker.bootstrap, runs.topic, events(100, first=100 * part))
        with TransactionalWriter(broker.bootstrap) as writer:
            writer.abort(runs.topic, events(5, first=10_000))
        service = runs.run(predictions=f"kafka:{runs.topic}-p")
        assert service.workers[0].watched.scores.n_events == 100 * (part + 1)
    uninterrupted = whole(runs, tmp_path / "whole")
    assert runs.saved().learner == uninterrupted.learner
    assert runs.saved().n_labelled == 300
    found = [json.loads(r.value)["id"] for r in read_topic(broker.bootstrap, f"{runs.topic}-p")]
    assert found == [f"e{number}" for number in range(300)]


def test_a_run_is_saved_on_its_way(
    broker: KafkaBroker, runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its last snapshot, as after a kill, a run resumes from the one before, and learns the
    later records again, identically."""
    produce(broker.bootstrap, runs.topic, events(5_000))
    monkeypatch.setattr("iln_stream.service.recovery.SNAPSHOT_EVENTS", 500)
    runs.run()
    last = runs.saved()
    folder = runs.folder / f"{runs.topic}-0"
    newest = max(folder.glob("*.snapshot"))
    newest.unlink()
    assert 0 < runs.saved().header.next_offset < 5_000
    runs.run()
    assert runs.saved().learner == last.learner
    assert runs.saved().n_events == 5_000
    assert runs.saved().header.epoch > last.header.epoch


def test_repeats_are_known_across_runs(broker: KafkaBroker, runs: Runs) -> None:
    """An event that a sender repeats is learned once, even across runs."""
    produce(broker.bootstrap, runs.topic, events(20))
    runs.run(recent_ids=10)
    produce(broker.bootstrap, runs.topic, events(10, first=10) + events(1, first=0))
    service = runs.run(recent_ids=10)
    watched = service.workers[0].watched
    assert (watched.n_repeats, watched.scores.n_labelled) == (10, 21)  # e0 was forgotten


def test_what_was_counted_is_gone_on_with(broker: KafkaBroker, runs: Runs) -> None:
    """Counts and running means continue across runs."""
    produce(broker.bootstrap, runs.topic, [*events(50), (None, b"?")])
    before = runs.run().workers[0].watched
    after = runs.run().workers[0].watched
    assert after.scores.state() == before.scores.state()
    assert after.n_dead_letters == 1


def test_snapshots_are_told_to_prometheus(broker: KafkaBroker, runs: Runs) -> None:
    """The metrics describe the newest snapshot, even if another run wrote it."""
    produce(broker.bootstrap, runs.topic, events(50))
    for _ in range(2):
        registry = runs.run().registry
        labels = {"model": f"{runs.topic}/pool", "partition": "0"}
        assert registry.get_sample_value("iln_snapshot_offset", labels) == 50
        assert registry.get_sample_value("iln_snapshot_lag", labels) == 0
        taken = registry.get_sample_value("iln_snapshot_last_success_timestamp_seconds", labels)
        assert taken == datetime.fromisoformat(runs.saved().header.saved_at).timestamp()


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


def test_a_learner_with_parts_of_ones_own(
    broker: KafkaBroker, topic: str, runs: Runs, tmp_path: Path
) -> None:
    """A learner that could not be restored is refused before anything is learned; one that is
    @restorable resumes in other processes."""
    (tmp_path / "own.py").write_text(OWN)
    produce(broker.bootstrap, topic, events(50))
    run = ("run", "--bootstrap", broker.bootstrap, "--topic", topic, "--start=earliest")
    run += ("--stop-at-end", "--metrics-port=0", f"--snapshots={runs.folder}")
    run += (f"--predictions=kafka:{topic}-p",)
    refused = iln(*run, "--learner=own:unknown", cwd=tmp_path)
    assert refused.returncode == 2
    assert (
        "error: snapshots: features is a Unknown, which a state does not describe" in refused.stderr
    )
    assert read_topic(broker.bootstrap, f"{topic}-p") == []
    assert iln(*run, "--learner=own:known", cwd=tmp_path).returncode == 0
    produce(broker.bootstrap, topic, events(50, first=50))
    resumed = iln(*run, "--learner=own:known", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    anew = iln(*run, "--learner=own:known", f"--snapshots={tmp_path / 'whole'}", cwd=tmp_path)
    assert anew.returncode == 0, anew.stderr
    assert runs.saved().learner == saved(tmp_path / "whole", topic).learner
    assert runs.saved().n_labelled == 100


# Snapshots that can't be resumed from


def test_one_process_a_folder(broker: KafkaBroker, runs: Runs) -> None:
    """While one run uses the folder, another is refused before it learns anything."""
    produce(broker.bootstrap, runs.topic, events(5))
    first = Service(runs.settings())
    with pytest.raises(SnapshotError, match="another process learns with"):
        Service(runs.settings())
    first.run()
    runs.run()


def test_other_settings_are_refused_until_rebuilt(
    broker: KafkaBroker, runs: Runs, tmp_path: Path
) -> None:
    """A run with other settings is refused; after a rebuild it has what a new learner would have
    learned, and publishes nothing twice."""
    produce(broker.bootstrap, runs.topic, events(200))
    runs.run(predictions=f"kafka:{runs.topic}-p")
    produce(broker.bootstrap, runs.topic, events(50, first=200))
    other = {"learner_options": {"size": 32}}
    with pytest.raises(SnapshotError, match=r"learner_options.size was 64 and is 32.*rebuild"):
        runs.run(**other)
    assert rebuild(runs.settings(**other)) == [{(runs.topic, 0): 200}]
    runs.run(**other, predictions=f"kafka:{runs.topic}-p")
    found = read_topic(broker.bootstrap, f"{runs.topic}-p")
    assert [json.loads(r.value)["id"] for r in found] == [f"e{n}" for n in range(250)]
    assert runs.saved().learner == whole(runs, tmp_path / "whole", **other).learner


def test_nothing_to_rebuild(runs: Runs) -> None:
    """A rebuild without snapshots is an error that names `run`."""
    with pytest.raises(SnapshotError, match=r"holds none, so that `iln-stream run` starts over"):
        rebuild(runs.settings())


def delete_before(bootstrap: str, topic: str, offset: int) -> None:
    with KafkaAdminClient(bootstrap_servers=bootstrap) as admin:
        admin.delete_records({TopicPartition(topic, 0): offset})


def test_retention_passed_the_saved_place(broker: KafkaBroker, runs: Runs, tmp_path: Path) -> None:
    """A run stops if records were deleted before they were learned, and both remedies in its error
    work."""
    produce(broker.bootstrap, runs.topic, events(50))
    runs.run()
    produce(broker.bootstrap, runs.topic, events(50, first=50))
    delete_before(broker.bootstrap, runs.topic, 60)
    with pytest.raises(
        SourceError,
        match=r"records 50 to 59 were deleted .*--accept-loss .* 10 offsets.*rebuild --forget",
    ):
        runs.run()
    assert runs.saved().n_events == 50
    Service(runs.settings(), accept_loss=True).run()
    assert runs.saved().n_events == 90
    assert rebuild(runs.settings(), forget=True) == [{(runs.topic, 0): 100}]
    assert runs.saved().n_events == 40


def test_topic_created_anew(broker: KafkaBroker, runs: Runs) -> None:
    """A new topic with the name of a deleted one is refused."""
    produce(broker.bootstrap, runs.topic, events(30))
    runs.run()
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        admin.delete_topics([runs.topic])
        while runs.topic in admin.list_topics():
            sleep(0.1)
    create_topic(broker.bootstrap, name=runs.topic)
    produce(broker.bootstrap, runs.topic, events(40, first=500))
    with pytest.raises(SourceError, match=r"was deleted and recreated .*iln-stream rebuild"):
        runs.run()
    assert rebuild(runs.settings(), forget=True) == [{(runs.topic, 0): 0}]
    runs.run()
    assert runs.saved().n_events == 40


def test_partitions_added(broker: KafkaBroker, runs: Runs) -> None:
    """New partitions get a warning that keys may have moved."""
    produce(broker.bootstrap, runs.topic, events(5))
    runs.run()
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        admin.create_partitions({runs.topic: NewPartitions(3)})
    with pytest.warns(IlnWarning, match="has 3 partitions and had 1"):
        runs.run(partitions="0")


def test_partitions_added_to_all(broker: KafkaBroker, runs: Runs) -> None:
    """The learner of the only partition becomes the learner of all, and learns the new partitions
    from their beginning, even if a later run finds them."""
    produce(broker.bootstrap, runs.topic, events(50))
    runs.run()
    for n_partitions in (2, 3):
        with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
            admin.create_partitions({runs.topic: NewPartitions(n_partitions)})
        for partition in range(n_partitions):
            produce(
                broker.bootstrap,
                runs.topic,
                events(20, first=100 * n_partitions + 20 * partition),
                partition=partition,
            )
        runs.run()
    assert list(runs.saved("all").header.positions.values()) == [90, 40, 20]
    assert runs.saved("all").n_events == 150


# Several partitions


def test_one_learner_over_all(broker: KafkaBroker, tmp_path: Path) -> None:
    """By default one learner learns all partitions and resumes, each event once."""
    topic = create_topic(broker.bootstrap, partitions=3)
    runs = Runs(broker.bootstrap, topic, tmp_path)
    for part in range(2):
        for partition in range(3):
            new = events(40, first=1_000 * partition + 40 * part)
            produce(broker.bootstrap, topic, new, partition=partition)
        (worker,) = runs.run(predictions=f"kafka:{topic}-p").workers
        assert worker.watched.scores.n_labelled == 120 * (part + 1)
        assert worker.watched.labels == (f"{topic}/pool", "0-2")
    for partition in range(3):
        records = read_topic(broker.bootstrap, f"{topic}-p", partition)
        found = [json.loads(record.value) for record in records]
        assert [(each["partition"], each["offset"]) for each in found] == [
            (partition, offset) for offset in range(80)
        ]


def test_single_learners_do_not_become_one(broker: KafkaBroker, tmp_path: Path) -> None:
    """Replacing the learners of several partitions by one over all is refused."""
    topic = create_topic(broker.bootstrap, partitions=2)
    for partition in range(2):
        produce(broker.bootstrap, topic, events(5), partition=partition)
    runs = Runs(broker.bootstrap, topic, tmp_path)
    runs.run(learner_per="partition")
    with pytest.raises(SnapshotError, match=r"holds learners of some .*--learner-per partition"):
        runs.run()


def test_rebuild_of_one_order(broker: KafkaBroker, tmp_path: Path) -> None:
    """A learner over all partitions is rebuilt from each, up to its position there."""
    topic = create_topic(broker.bootstrap, partitions=2)
    for partition in range(2):
        new = events(30 + partition, first=100 * partition)
        produce(broker.bootstrap, topic, new, partition=partition)
    runs = Runs(broker.bootstrap, topic, tmp_path)
    runs.run()
    produce(broker.bootstrap, topic, events(10, first=500))
    other = {"learner_options": {"size": 32}}
    assert rebuild(runs.settings(**other)) == [{(runs.topic, 0): 30, (runs.topic, 1): 31}]
    runs.run(**other)
    assert runs.saved("all").n_events == 71


def test_each_partition_has_its_learner(broker: KafkaBroker, tmp_path: Path) -> None:
    """Learners per partition are the same in one process or in several, each with its own seed,
    which its snapshots record."""
    topic = create_topic(broker.bootstrap, partitions=3)
    for partition in range(3):
        produce(broker.bootstrap, topic, events(60), partition=partition)
    together = Runs(broker.bootstrap, topic, tmp_path / "together", learner_per="partition")
    service = together.run()
    assert [worker.source.partitions for worker in service.workers] == [(0,), (1,), (2,)]
    apart = Runs(broker.bootstrap, topic, tmp_path / "apart", learner_per="partition")
    apart.run(partitions="1")
    apart.run(partitions="2,0")
    for partition in range(3):
        assert together.saved(partition).learner == apart.saved(partition).learner
        assert together.saved(partition).header.seed == seed_of(1, partition)
    learners = [json.dumps(together.saved(p).learner[""].decode()) for p in range(3)]
    assert len(set(learners)) == 3


def test_one_partition_that_fails_stops_all(broker: KafkaBroker, tmp_path: Path) -> None:
    """If one learner fails, the process ends."""
    topic = create_topic(broker.bootstrap, partitions=2)
    produce(broker.bootstrap, topic, events(5), partition=0)
    runs = Runs(broker.bootstrap, topic, tmp_path, learner_per="partition", stop_at_end=False)
    service = Service(runs.settings())
    produce(broker.bootstrap, topic, [(None, b"{}")], partition=1)

    class Failing(Listener):
        def on_dead_letter(self, letter: object) -> None:
            raise SourceError("no more")

    service.workers[1].loop.listeners = (Failing(), *service.workers[1].loop.listeners)
    with pytest.raises(SourceError, match="no more"):
        service.run()


def test_an_error_saves_nothing_half_heard(
    broker: KafkaBroker, runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a listener fails on a learned event, no snapshot is saved: with the state after the event
    and the position before it, the event would be learned twice."""
    produce(broker.bootstrap, runs.topic, events(100))
    monkeypatch.setattr("iln_stream.service.recovery.SNAPSHOT_EVENTS", 10)
    service = Service(runs.settings())

    class FailingOnce(Listener):
        def on_step(self, step: Step) -> None:
            if step.offset == 55:
                raise SourceError("failed after learning")

    service.workers[0].loop.listeners = (FailingOnce(), *service.workers[0].loop.listeners)
    with pytest.raises(SourceError, match="failed after learning"):
        service.run()
    assert runs.saved().n_events <= 55
    runs.run()
    assert runs.saved().learner == whole(runs, tmp_path / "whole").learner


def test_records_of_another_form(broker: KafkaBroker, runs: Runs) -> None:
    """A topic without any valid event ends the run after 100 dead letters, with advice; a restart
    begins after them, so that no record has two letters."""
    flat = [(None, json.dumps({"rooms": n, "price": 2.0 * n}).encode()) for n in range(250)]
    produce(broker.bootstrap, runs.topic, flat)
    for last in (99, 199, 249, 249):
        if last == 249 and runs.saved().header.next_offset == 250:
            runs.run()  # nothing is left to fail on
        else:
            with pytest.raises(
                NothingLearnedError,
                match=r"none of the first .* If price is the label, set target = price",
            ):
                runs.run()
        letters = read_topic(broker.bootstrap, f"{runs.topic}-dead-letters")
        assert [json.loads(letter.value)["offset"] for letter in letters] == list(range(last + 1))
    produce(broker.bootstrap, runs.topic, events(20))
    runs.run()
    assert runs.saved().n_events == 20


def test_rebuild_of_snapshots_that_nobody_can_read(broker: KafkaBroker, tmp_path: Path) -> None:
    """The remedy in the error works: without a readable snapshot, the journal gives the positions
    of a learner over all partitions."""
    topic = create_topic(broker.bootstrap, partitions=2)
    for partition in range(2):
        produce(broker.bootstrap, topic, events(30, first=100 * partition), partition=partition)
    runs = Runs(broker.bootstrap, topic, tmp_path)
    runs.run()
    for snapshot in tmp_path.rglob("*.snapshot"):
        snapshot.write_bytes(snapshot.read_bytes()[:-1])
    with pytest.raises(SnapshotError, match="`iln-stream rebuild`"):
        runs.run()
    assert rebuild(runs.settings()) == [{(runs.topic, 0): 30, (runs.topic, 1): 30}]
    runs.run()
    assert runs.saved("all").n_events == 60


def test_rebuild_after_partitions_were_added(broker: KafkaBroker, runs: Runs) -> None:
    """If the learner of the only partition has other settings, the learner of all is rebuilt up to
    its position."""
    produce(broker.bootstrap, runs.topic, events(50))
    runs.run()
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        admin.create_partitions({runs.topic: NewPartitions(2)})
    produce(broker.bootstrap, runs.topic, events(20, first=100), partition=1)
    other = {"learner_options": {"size": 32}}
    with pytest.raises(SnapshotError, match=r"-0 was saved with other settings.*rebuild"):
        runs.run(**other)
    assert rebuild(runs.settings(**other)) == [{(runs.topic, 0): 50, (runs.topic, 1): 0}]
    runs.run(**other)
    assert runs.saved("all").n_events == 70


def test_a_rebuild_stays_within_its_topic(broker: KafkaBroker, runs: Runs) -> None:
    """A rebuild ignores the positions of snapshots of a deleted topic."""
    produce(broker.bootstrap, runs.topic, events(60))
    runs.run()
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        admin.delete_topics([runs.topic])
        while runs.topic in admin.list_topics():
            sleep(0.1)
    create_topic(broker.bootstrap, name=runs.topic)
    assert rebuild(runs.settings(), forget=True) == [{(runs.topic, 0): 0}]
    produce(broker.bootstrap, runs.topic, events(20, first=500))
    runs.run()
    produce(broker.bootstrap, runs.topic, events(30, first=600))
    assert rebuild(runs.settings(learner_options={"size": 32})) == [{(runs.topic, 0): 20}]


def test_the_first_place_is_kept(broker: KafkaBroker, runs: Runs) -> None:
    """A run with `start = latest` that is killed at once resumes where it began, and skips no
    record."""
    produce(broker.bootstrap, runs.topic, events(10))
    Service(runs.settings(start="latest")).close()  # killed before it learned
    produce(broker.bootstrap, runs.topic, events(20, first=10))
    runs.run(start="latest")
    assert runs.saved().n_events == 20
