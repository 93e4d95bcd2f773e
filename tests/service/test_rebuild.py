"""`rebuild`, on a real broker: learning the log again, up to a position and without records."""

import datetime as dt
import json
import logging
import random
from pathlib import Path
from time import sleep, time
from typing import Any

import pytest
from kafka import KafkaAdminClient, TopicPartition
from support.kafka_broker import KafkaBroker
from support.kafka_topics import TransactionalWriter, create_topic, produce, read_topic
from support.saved_state import Saved, saved

from iln_stream.errors import RefusedError
from iln_stream.service import Service, Settings, SettingsError, rebuild
from iln_stream.snapshots import SnapshotFolder
from iln_stream.streams import StreamPartition

POISON = (None, b'{"x": {"a": 1e6, "b": 0, "c": 0}, "y": -1e9, "id": "poison"}')


def events(first: int, end: int) -> list[tuple[None, bytes]]:
    """Return labelled events, each a function of its number."""
    sent = []
    for number in range(first, end):
        draw = random.Random(number)
        x = {name: draw.uniform(-1, 1) for name in "abc"}
        y = x["a"] * x["b"] + draw.gauss(0, 0.1)
        sent.append((None, json.dumps({"x": x, "y": y, "id": f"e{number}"}).encode()))
    return sent


class Runs:
    """Runs of one configuration, each topic with a folder of snapshots."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        self.bootstrap = bootstrap
        self.folder = folder

    def settings(self, topic: str, **more: Any) -> Settings:
        given = {
            "bootstrap": self.bootstrap,
            "topic": topic,
            "snapshots": str(self.folder),
            "learner": "pool",
            "learner_options": {"size": 64},
            "start": "earliest",
            "stop_at_end": True,
            "metrics_port": 0,
        }
        return Settings.load(**given | more)

    def run(self, topic: str, **more: Any) -> None:
        """Run to the topic's end."""
        Service(self.settings(topic, **more)).run()

    def saved(self, topic: str) -> Saved:
        """Return the newest snapshot."""
        return saved(self.folder, topic)

    def saved_of(self, records: list[tuple[None, bytes]]) -> Saved:
        """Return the snapshot of a run on these records."""
        topic = create_topic(self.bootstrap)
        produce(self.bootstrap, topic, records)
        self.run(topic)
        return self.saved(topic)


@pytest.fixture
def runs(broker: KafkaBroker, tmp_path: Path) -> Runs:
    """Runs on the shared broker."""
    return Runs(broker.bootstrap, tmp_path / "state")


def ids(bootstrap: str, topic: str) -> list[str]:
    return [json.loads(record.value)["id"] for record in read_topic(bootstrap, topic)]


def test_skipped_records_are_not_learned(
    runs: Runs, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The rebuilt model and its counts equal, to the last bit, those of a run without the skipped
    records; the next run resumes after the last record, even if that was skipped."""
    first = [*events(0, 30), POISON, *events(30, 60), POISON, POISON]
    produce(runs.bootstrap, topic, first)
    runs.run(topic, predictions=f"kafka:{topic}-p")
    clean = runs.saved_of(events(0, 60))
    assert runs.saved(topic).learner != clean.learner
    skip = {StreamPartition(topic, 0): [range(30, 31), range(61, 63)]}
    with caplog.at_level(logging.INFO):
        assert rebuild(runs.settings(topic), skip=skip) == [{(topic, 0): 63}]
    assert ":0: skipped offsets 30, 61-62" in caplog.text
    rebuilt = runs.saved(topic)
    assert rebuilt.learner == clean.learner
    assert rebuilt.state["counts"]["scores"] == clean.state["counts"]["scores"]
    assert dict(rebuilt.header.positions) == {(topic, 0): 63}
    produce(runs.bootstrap, topic, events(60, 80))
    runs.run(topic, predictions=f"kafka:{topic}-p")
    assert runs.saved(topic).learner == runs.saved_of(events(0, 80)).learner
    published = ids(runs.bootstrap, f"{topic}-p")
    assert len(published) == len(set(published)) + 2 == 83  # nothing again: three of the poison


@pytest.mark.parametrize("transactional", [False, True])
def test_until_an_offset(transactional: bool, runs: Runs, topic: str) -> None:
    """The rebuilt model has learned the records before the offset; a run resumes there and
    publishes the later predictions again, with `transactional` only uncommitted ones."""
    outputs = {"predictions": f"kafka:{topic}-p", "transactional": transactional}
    produce(runs.bootstrap, topic, events(0, 60))
    runs.run(topic, **outputs)
    assert rebuild(runs.settings(topic), until=40) == [{(topic, 0): 40}]
    assert runs.saved(topic).learner == runs.saved_of(events(0, 40)).learner
    assert runs.saved(topic).n_events == 40
    produce(runs.bootstrap, topic, events(60, 65))
    runs.run(topic, **outputs)
    assert runs.saved(topic).learner == runs.saved_of(events(0, 65)).learner
    again = [] if transactional else list(range(40, 60))
    expected = [*range(60), *again, *range(60, 65)]
    assert ids(runs.bootstrap, f"{topic}-p") == [f"e{number}" for number in expected]


def test_until_is_never_beyond_what_was_learned(runs: Runs, topic: str) -> None:
    """A rebuild does not learn records that no run has published: predictions would be missing."""
    produce(runs.bootstrap, topic, events(0, 20))
    runs.run(topic)
    produce(runs.bootstrap, topic, events(20, 30))
    assert rebuild(runs.settings(topic), until=25) == [{(topic, 0): 20}]
    later = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
    assert rebuild(runs.settings(topic), until=later) == [{(topic, 0): 20}]


def test_until_a_time_in_several_partitions(runs: Runs) -> None:
    """A rebuild learns the records of each partition before a time, except for skipped ones; a run
    then learns the rest."""
    topic = create_topic(runs.bootstrap, partitions=2)
    produce(runs.bootstrap, topic, events(0, 20), partition=0)
    produce(runs.bootstrap, topic, events(100, 130), partition=1)
    sleep(0.01)
    moment = dt.datetime.fromtimestamp(time(), dt.UTC)
    sleep(0.01)
    produce(runs.bootstrap, topic, events(20, 50), partition=0)
    runs.run(topic)
    skip = {StreamPartition(topic, 0): [range(18, 20)]}
    assert rebuild(runs.settings(topic), until=moment, skip=skip) == [
        {(topic, 0): 20, (topic, 1): 30}
    ]

    def n_events() -> int:
        snapshot = SnapshotFolder(runs.folder / f"{topic}-all").newest()
        assert snapshot is not None
        return int(snapshot.state["counts"]["scores"]["n_events"])

    assert n_events() == 48
    runs.run(topic)
    assert n_events() == 78


def test_latest_is_no_place_to_rebuild_from(runs: Runs, topic: str) -> None:
    """After runs with `start = latest`, a rebuild learns the whole log up to the snapshots'
    position, and no further."""
    produce(runs.bootstrap, topic, events(0, 20))
    runs.run(topic)
    produce(runs.bootstrap, topic, events(20, 30))
    assert rebuild(runs.settings(topic, start="latest")) == [{(topic, 0): 20}]
    assert runs.saved(topic).n_events == 20


def test_refused(runs: Runs) -> None:
    """Errors about `until` and `skip` name the valid values, before anything is learned."""
    topic = create_topic(runs.bootstrap, partitions=2)
    produce(runs.bootstrap, topic, events(0, 10))
    runs.run(topic)
    settings = runs.settings(topic)
    with pytest.raises(SettingsError, match="until = 5: an offset needs a single partition, and 2"):
        rebuild(settings, until=5)
    with pytest.raises(SettingsError, match=rf"{topic}:2 is not learned; give one of {topic}:0"):
        rebuild(settings, skip={StreamPartition(topic, 2): [range(1)]})
    with pytest.raises(SettingsError, match=r"skip: offset 10 of .*: name offsets before 10"):
        rebuild(settings, skip={StreamPartition(topic, 0): [range(3, 11)]})


def test_a_source_that_is_no_log(tmp_path: Path) -> None:
    """A rebuild checks its settings as a run does: a file is refused, and no folder is created."""
    settings = Settings(source="events.jsonl", snapshots=str(tmp_path / "s"))
    with pytest.raises(
        SettingsError,
        match=r"resume reading events\.jsonl.*`iln-stream log import events.* --warm-start",
    ):
        rebuild(settings)
    assert not (tmp_path / "s").exists()


def test_offsets_without_records_are_no_records(
    broker: KafkaBroker, runs: Runs, topic: str
) -> None:
    """What was deleted is noticed behind the markers of transactions, too, before the state is
    replaced."""
    with TransactionalWriter(broker.bootstrap) as writer:
        for each in events(0, 30):
            writer.commit(topic, [each])  # with its marker, two offsets
    runs.run(topic)
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        admin.delete_records({TopicPartition(topic, 0): 20})
    with pytest.raises(RefusedError, match=r"learned 30 events.* only 20"):
        rebuild(runs.settings(topic))
    assert runs.saved(topic).n_events == 30
