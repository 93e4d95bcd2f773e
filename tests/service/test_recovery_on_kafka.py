"""Runs that resume, and rebuilds, where a topic differs from an embedded log."""

import datetime as dt
import json
from pathlib import Path
from time import sleep, time
from typing import Any

import pytest
from kafka import KafkaAdminClient, TopicPartition
from kafka.admin import NewPartitions
from service.test_recovery import event
from support.kafka_broker import KafkaBroker
from support.kafka_topics import TransactionalWriter, create_topic, produce, read_topic
from support.saved_state import Saved, saved

from iln_stream.errors import IlnWarning, RefusedError, SnapshotError, SourceError
from iln_stream.service import Service, Settings, rebuild
from iln_stream.streams import StreamPartition


def events(count: int, first: int = 0) -> list[tuple[None, bytes]]:
    """Return labelled events, each a function of its number."""
    return [(None, event(number)) for number in range(first, first + count)]


class Runs:
    """Runs of one configuration on one topic, with snapshots in one folder."""

    def __init__(self, broker: KafkaBroker, folder: Path) -> None:
        self.bootstrap, self.folder = broker.bootstrap, folder
        self.topic = create_topic(broker.bootstrap)

    def settings(self, **others: Any) -> Settings:
        given = {
            "bootstrap": self.bootstrap,
            "topic": self.topic,
            "start": "earliest",
            "stop_at_end": True,
            "snapshots": str(self.folder / "state"),
            "learner": "pool",
            "learner_options": {"size": 16},
            "metrics_port": None,
        }
        return Settings(**{**given, **others})

    def run(self, **others: Any) -> None:
        """Run to the topic's end."""
        Service(self.settings(**others)).run()

    def fill(self, count: int, first: int = 0, partition: int = 0) -> None:
        produce(self.bootstrap, self.topic, events(count, first), partition=partition)

    def saved(self, partition: int | str = 0) -> Saved:
        return saved(self.folder / "state", self.topic, partition)

    def delete_before(self, offset: int) -> None:
        with KafkaAdminClient(bootstrap_servers=self.bootstrap) as admin:
            admin.delete_records({TopicPartition(self.topic, 0): offset})

    def create_again(self) -> None:
        with KafkaAdminClient(bootstrap_servers=self.bootstrap) as admin:
            admin.delete_topics([self.topic])
            while self.topic in admin.list_topics():
                sleep(0.1)
        create_topic(self.bootstrap, name=self.topic)

    def add_partitions(self, n: int) -> None:
        with KafkaAdminClient(bootstrap_servers=self.bootstrap) as admin:
            admin.create_partitions({self.topic: NewPartitions(n)})


@pytest.fixture
def runs(broker: KafkaBroker, tmp_path: Path) -> Runs:
    """Runs on an empty topic."""
    return Runs(broker, tmp_path)


def test_a_run_goes_on_where_the_last_one_ended(runs: Runs, tmp_path: Path) -> None:
    """Two runs learn the same as one, to the last bit, and each event once; nothing of aborted
    transactions."""
    for part in range(2):
        runs.fill(60, first=60 * part)
        with TransactionalWriter(runs.bootstrap) as writer:
            writer.abort(runs.topic, events(5, first=10_000))
        runs.run(predictions=f"kafka:{runs.topic}-p")
    assert runs.saved().n_labelled == 120
    runs.run(snapshots=str(tmp_path / "whole"))
    assert runs.saved().learner == saved(tmp_path / "whole", runs.topic).learner
    found = [json.loads(r.value)["id"] for r in read_topic(runs.bootstrap, f"{runs.topic}-p")]
    assert found == [f"e{number}" for number in range(120)]


def test_retention_passed_the_saved_place(runs: Runs) -> None:
    """A run stops if records were deleted before they were learned, and both remedies in its error
    work."""
    runs.fill(50)
    runs.run()
    runs.fill(50, first=50)
    runs.delete_before(60)
    with pytest.raises(
        SourceError,
        match=r"records 50 to 59 were deleted .*--accept-loss .* 10 offsets.*rebuild --forget",
    ):
        runs.run()
    assert runs.saved().n_events == 50
    Service(runs.settings(), accept_loss=True).run()
    assert runs.saved().n_events == 90
    (positions,) = rebuild(runs.settings(), forget=True)
    assert list(positions.values()) == [100]
    assert runs.saved().n_events == 40


def test_topic_created_anew(runs: Runs) -> None:
    """A new topic with the name of a deleted one is refused. A rebuild starts with it, and later
    ones ignore the positions of snapshots of the deleted topic."""
    runs.fill(60)
    runs.run()
    runs.create_again()
    runs.fill(20, first=500)
    with pytest.raises(SourceError, match=r"was deleted and recreated .*iln-stream rebuild"):
        runs.run()
    (positions,) = rebuild(runs.settings(), forget=True)
    assert list(positions.values()) == [0]
    runs.run()
    runs.fill(30, first=600)
    (positions,) = rebuild(runs.settings(learner_options={"size": 32}))
    assert list(positions.values()) == [20]


def test_partitions_added(runs: Runs) -> None:
    """New partitions get a warning that keys may have moved. If the learner of the only partition
    has other settings, the learner of all is rebuilt up to its position."""
    runs.fill(5)
    runs.run()
    runs.add_partitions(3)
    with pytest.warns(IlnWarning, match="has 3 partitions and had 1"):
        runs.run(partitions="0")
    other = {"learner_options": {"size": 32}}
    with pytest.raises(SnapshotError, match=r"-0 was saved with other settings.*rebuild"):
        runs.run(**other)
    (positions,) = rebuild(runs.settings(**other))
    assert list(positions.values()) == [5, 0, 0]


def test_partitions_added_to_all(runs: Runs) -> None:
    """The learner of the only partition becomes the learner of all, and learns the new partitions
    from their beginning, even if a later run finds them."""
    runs.fill(50)
    runs.run()
    for n_partitions in (2, 3):
        runs.add_partitions(n_partitions)
        for partition in range(n_partitions):
            runs.fill(20, 100 * n_partitions + 20 * partition, partition)
        runs.run()
    assert list(runs.saved("all").header.positions.values()) == [90, 40, 20]
    assert runs.saved("all").n_events == 150


def test_rebuild_until_a_time(runs: Runs) -> None:
    """A rebuild learns the records of each partition before a time, except for skipped ones; a run
    then learns the rest."""
    runs.add_partitions(2)
    runs.fill(20)
    runs.fill(30, first=100, partition=1)
    sleep(0.01)
    moment = dt.datetime.fromtimestamp(time(), dt.UTC)
    sleep(0.01)
    runs.fill(30, first=20)
    runs.run()
    skip = {StreamPartition(runs.topic, 0): [range(18, 20)]}
    (positions,) = rebuild(runs.settings(), until=moment, skip=skip)
    assert list(positions.values()) == [20, 30]
    assert runs.saved("all").n_events == 48
    runs.run()
    assert runs.saved("all").n_events == 78


def test_offsets_without_records_are_no_records(runs: Runs) -> None:
    """What was deleted is noticed behind the markers of transactions, too, before the state is
    replaced."""
    with TransactionalWriter(runs.bootstrap) as writer:
        for each in events(30):
            writer.commit(runs.topic, [each])  # with its marker, two offsets
    runs.run()
    runs.delete_before(20)
    with pytest.raises(RefusedError, match=r"learned 30 events.* only 20"):
        rebuild(runs.settings())
    assert runs.saved().n_events == 30
