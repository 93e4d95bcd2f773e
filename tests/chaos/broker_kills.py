"""Kills the broker repeatedly with SIGKILL under load."""

import random
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kafka import KafkaProducer
from support.kafka_broker import KafkaBroker
from support.kafka_topics import create_topic
from support.running_command import Command
from support.saved_state import Saved, saved

from chaos.learner_kills import finish, values_of
from chaos.logs import KafkaLog
from chaos.stream import event

_EVENTS_A_SECOND = 400


class Outcome(NamedTuple):
    """Results to compare after the last outage."""

    through_outages: Saved
    undisturbed: Saved
    offsets: list[int]
    n_sent: int
    seconds_to_learn: list[float]
    """Seconds from each restart of the broker to the next learned event."""

    def faults(self) -> list[str]:
        """Return each broken guarantee; empty if all hold."""
        found = []
        if self.through_outages.learner != self.undisturbed.learner:
            found.append("the state differs from the undisturbed run's")
        learned = self.through_outages.n_events + self.through_outages.n_dead_letters
        if learned != self.n_sent:
            found.append(f"{learned} events came through of {self.n_sent}")
        if sorted(set(self.offsets)) != self.offsets:
            found.append("predictions were repeated or out of order")
        return found

    def summary(self) -> str:
        """Return what happened."""
        median, longest = statistics.median(self.seconds_to_learn), max(self.seconds_to_learn)
        return f"{self.n_sent} events; learning again after {median:.2f} s, at most {longest:.2f} s"


class _Feeding(threading.Thread):
    """Sends events at a constant rate; the producer waits for the broker."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        super().__init__(name="feed", daemon=True)
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap, linger_ms=5, reconnect_backoff_max_ms=500
        )
        self._topic = topic
        self._enough = threading.Event()
        self.n_sent = 0

    def run(self) -> None:
        while not self._enough.wait(1 / _EVENTS_A_SECOND):
            _, payload = event(self.n_sent)
            self._producer.send(self._topic, payload, partition=0)
            self.n_sent += 1

    def finish(self) -> int:
        """Wait until all events are stored, and return their number."""
        self._enough.set()
        self.join()
        self._producer.flush(timeout=60)
        self._producer.close()
        return self.n_sent


def kill_brokers(broker: KafkaBroker, folder: Path, *, n_kills: int, seed: int) -> Outcome:
    """Kill the broker `n_kills` times while one learner learns, then compare."""
    draw = random.Random(seed)
    log = KafkaLog(broker.bootstrap, "outages")
    log.close()  # another producer feeds it
    for name in (f"{log.name}-p", f"{log.name}-p-letters"):
        create_topic(broker.bootstrap, name=name)
    feed = _Feeding(broker.bootstrap, log.name)
    seconds = []
    with Command(folder, *log.arguments(folder / "disturbed", "p")) as learner:
        learner.wait_for_metrics(lambda now: True)
        feed.start()
        for _ in range(n_kills):
            learner.wait_for_metrics(_more_than(_learned(learner), 100))
            time.sleep(draw.uniform(0, 0.5))
            broker.kill()
            learner.wait_for_metrics(lambda now: now["iln_source_connected"] == 0)
            time.sleep(draw.uniform(0, 1.5))
            before = _learned(learner)
            broker.start()
            returned = time.monotonic()
            learner.wait_for_metrics(_more_than(before, 0))
            seconds.append(time.monotonic() - returned)
        n_sent = feed.finish()
        learner.wait_for_metrics(
            lambda now: now["iln_events_total"] + now["iln_dead_letters_total"] == n_sent
        )
        assert learner.terminate() == 0, learner.said
    finish(folder, log.arguments(folder / "alone", "q", "--stop-at-end"))
    return Outcome(
        saved(folder / "disturbed", log.name),
        saved(folder / "alone", log.name),
        [offset for offset, _ in values_of(log.published("p"))],
        n_sent,
        seconds,
    )


def _learned(learner: Command) -> float:
    return learner.metrics()["iln_events_total"]


def _more_than(before: float, by: int) -> Callable[[dict[str, float]], bool]:
    return lambda now: now["iln_events_total"] > before + by
