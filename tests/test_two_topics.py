"""Events and labels on two Kafka topics: joined as live, through kills and outages."""

import json
import random
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from chaos.order_kills import begin_again
from kafka import KafkaAdminClient, KafkaProducer
from service.test_two_logs import N, event, label, settings
from support.kafka_broker import KafkaBroker
from support.kafka_topics import create_topic, read_topic, unique_topic
from support.running_command import Command
from support.saved_state import saved

from iln_stream.errors import LostPlaceError
from iln_stream.service import Service, Settings


def sent(bootstrap: str, topic: str, numbers: range, partitions: int, make: Any) -> None:
    """Append events or labels, each to the partition of its number."""
    with closing(KafkaProducer(bootstrap_servers=bootstrap, linger_ms=5)) as producer:
        for number in numbers:
            record = make(number)
            producer.send(topic, record.value, partition=number % partitions)
        producer.flush()


class Topics:
    """A topic of events and one of labels, with the settings that join them."""

    def __init__(self, bootstrap: str, folder: Path, n_events: int = 1, n_labels: int = 1) -> None:
        self.bootstrap, self.folder = bootstrap, folder
        self.numbers = n_events, n_labels
        self.events = create_topic(bootstrap, n_events, name=unique_topic("orders"))
        self.labels = create_topic(bootstrap, n_labels, name=unique_topic("deliveries"))

    def fill(self, events: range, labels: range) -> None:
        sent(self.bootstrap, self.events, events, self.numbers[0], event)
        sent(self.bootstrap, self.labels, labels, self.numbers[1], label)

    def settings(self, **more: Any) -> Settings:
        given = {
            "source": f"kafka:{self.events}",
            "labels": f"kafka:{self.labels}",
            "bootstrap": self.bootstrap,
            "start": "earliest",
            "predictions": f"kafka:{self.events}-predictions",
        }
        return settings(self.folder / "log.db", **{**given, **more})


@pytest.mark.parametrize(
    ("partitions", "client"), [((1, 1), "kafka-python"), ((3, 2), "confluent")]
)
def test_a_backlog_is_joined_as_live(
    broker: KafkaBroker, tmp_path: Path, partitions: tuple[int, int], client: str
) -> None:
    """One learner joins topics with any numbers of partitions; each label finds its event, though
    hardly more events may wait than did live."""
    topics = Topics(broker.bootstrap, tmp_path, *partitions)
    topics.fill(range(N), range(N))
    service = Service(topics.settings(pending_events=80, kafka_client=client))
    service.run()
    watched = service.workers[0].watched
    assert (watched.scores.n_events, watched.scores.n_labelled) == (N, N)
    assert watched.n_dead_letters == 0


def arguments(given: Settings) -> Iterator[str]:
    """The flags of these settings."""
    for name in given.model_fields_set:
        value = getattr(given, name)
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            yield flag if value else f"--no-{flag[2:]}"
        elif value is not None:
            yield from (flag, json.dumps(value) if isinstance(value, dict) else str(value))


def test_kills(broker: KafkaBroker, tmp_path: Path) -> None:
    """After kills, state and predictions are those of an uninterrupted run in the same order."""
    topics = Topics(broker.bootstrap, tmp_path, 2, 1)
    draw = random.Random(7)
    predictions = [f"{topics.events}-{name}" for name in ("predictions", "whole")]
    for name in predictions:
        create_topic(broker.bootstrap, 2, name=name)
    often = {"snapshot_seconds": 0.05, "snapshot_keep": 10_000}
    given = topics.settings(**often, transactional=True)
    live = given.model_copy(update={"stop_at_end": False, "metrics_port": 0})
    n_events, n_labels = 0, 0
    for _ in range(2):
        with Command(tmp_path, "run", *arguments(live)) as learner:
            learner.wait_until_it_says("metrics at")
            end = min(N, n_events + N // 3)
            while n_events < end:
                more = draw.randint(1, 40)
                later = min(end, n_events + more)
                known = min(later, n_labels + draw.randint(1, 40))
                topics.fill(range(n_events, later), range(n_labels, known))
                n_events, n_labels = later, known
            time.sleep(draw.uniform(0, 0.5))
            assert learner.runs, learner.said
            learner.kill()
    topics.fill(range(n_events, N), range(n_labels, N))
    with Command(tmp_path, "run", *arguments(given)) as learner:
        assert learner.wait(120) == 0, learner.said
    begin_again(tmp_path / "state", tmp_path / "again")
    again = {"snapshots": str(tmp_path / "again"), "predictions": f"kafka:{predictions[1]}"}
    Service(given.model_copy(update=again)).run()
    killed, whole = (saved(tmp_path / name, topics.events, "all") for name in ("state", "again"))
    assert (killed.n_events, killed.n_labelled, killed.n_dead_letters) == (N, N, 0)
    assert killed.learner == whole.learner
    published, expected = (
        [each.value for n in (0, 1) for each in read_topic(broker.bootstrap, name, n)]
        for name in predictions
    )
    assert len(published) == N
    assert published == expected


def test_a_recreated_topic_of_labels(broker: KafkaBroker, tmp_path: Path) -> None:
    """A topic of labels that was deleted and created again is noticed at the next start."""
    topics = Topics(broker.bootstrap, tmp_path)
    topics.fill(range(100), range(50))
    Service(topics.settings()).run()
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap)) as admin:
        admin.delete_topics([topics.labels])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            create_topic(broker.bootstrap, name=topics.labels)
            break
        except Exception:  # it is still being deleted
            time.sleep(0.5)
    topics.fill(range(0), range(100))
    with pytest.raises(LostPlaceError, match=f"topic {topics.labels}, partition 0 was deleted and"):
        Service(topics.settings())


@pytest.mark.thorough
def test_the_labels_broker_goes_away(
    broker: KafkaBroker, stoppable: KafkaBroker, tmp_path: Path
) -> None:
    """Events are predicted while the labels' broker is away; labels are learned when it is back."""
    topics = Topics(broker.bootstrap, tmp_path)
    topics.labels = create_topic(stoppable.bootstrap, name=unique_topic("deliveries"))
    given = topics.settings(stop_at_end=False, metrics_port=0)
    own = {**given.labels_settings, "bootstrap": stoppable.bootstrap}
    given = given.model_copy(update={"labels_settings": own})
    sent(broker.bootstrap, topics.events, range(50), 1, event)
    sent(stoppable.bootstrap, topics.labels, range(20), 1, label)
    with Command(tmp_path, "run", *arguments(given)) as learner:
        learner.wait_for_metrics(lambda now: now.get("iln_labelled_events_total") == 20)
        stoppable.stop()
        learner.wait_for_metrics(lambda now: now["iln_labels_connected"] == 0)
        sent(broker.bootstrap, topics.events, range(50, 100), 1, event)
        seen = learner.wait_for_metrics(lambda now: now["iln_events_total"] == 100)
        assert seen["iln_source_connected"] == 1
        learner.wait_until_it_says("(labels) is unreachable; waiting")
        stoppable.start()
        sent(stoppable.bootstrap, topics.labels, range(20, 100), 1, label)
        learner.wait_for_metrics(lambda now: now["iln_labelled_events_total"] == 100)
        learner.wait_until_it_says("(labels) is reachable again")
        assert learner.terminate() == 0
