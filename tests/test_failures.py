"""The failures in docs/guarantees.md, tested on processes and a real broker."""

import json
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chaos.logs import arguments, published
from chaos.stream import Feed
from kafka import KafkaAdminClient, KafkaProducer
from support.kafka_broker import KafkaBroker
from support.kafka_topics import create_topic, produce, read_topic
from support.mounts import read_only_once
from support.running_command import Start
from support.saved_state import Saved, saved

from iln_stream.service import Service, Settings


def handled(n: int) -> Callable[[dict[str, float]], bool]:
    """Return a condition: the run has made predictions or dead letters of this many records."""
    return lambda now: now["iln_events_total"] + now["iln_dead_letters_total"] == n


@pytest.mark.thorough
@pytest.mark.parametrize(
    "client", ["kafka-python", pytest.param("confluent", marks=pytest.mark.thorough)]
)
def test_partitions_added_while_running(
    broker: KafkaBroker, start: Start, tmp_path: Path, client: str
) -> None:
    """Records of new partitions are not lost silently: a metric counts the partitions, the log
    says what to do, and the next start learns them from their beginning."""
    topic = create_topic(broker.bootstrap)
    record = (None, b'{"x": {"a": 1}, "y": 2}')
    often = ("--kafka-options", '{"metadata_max_age_ms": 500}', "--kafka-client", client)
    run = (*arguments(broker.bootstrap, topic, tmp_path / "s", f"{topic}-p"), *often)
    running = start(*run)
    produce(broker.bootstrap, topic, [record] * 10)
    running.wait_for_metrics(lambda now: now["iln_events_total"] == 10)
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        admin.create_partitions({topic: 3})
    running.wait_for_metrics(lambda now: now["iln_new_partitions"] == 2)
    running.wait_until_it_says("has 3 partitions and had 1")
    running.wait_until_it_says("start it again")
    produce(broker.bootstrap, topic, [record] * 5, partition=2)
    assert running.terminate() == 0
    again = start(*run)
    again.wait_for_metrics(lambda now: now["iln_events_total"] == 15)
    assert again.terminate() == 0


@pytest.fixture
def fed(broker: KafkaBroker, topic: str) -> Iterator[Feed]:
    """Feeds the topic, with aborted transactions."""
    feed = Feed(broker.bootstrap, topic)
    yield feed
    feed.close()


def uninterrupted(bootstrap: str, topic: str, folder: Path, start: Start) -> Saved:
    """Return the snapshot of an uninterrupted run."""
    run = arguments(bootstrap, topic, folder / "whole", f"{topic}-whole", "--stop-at-end")
    assert start(*run).wait() == 0
    return saved(folder / "whole", topic)


# The disk


def test_full_disk(
    broker: KafkaBroker, topic: str, fed: Feed, start: Start, tmp_path: Path
) -> None:
    """If a snapshot can't be written, the run ends with one line. The snapshot before stays, so
    that with space again nothing is lost or learned twice."""
    run = arguments(broker.bootstrap, topic, tmp_path / "s", f"{topic}-p", "--stop-at-end")
    fed.send(100)
    assert start(*run).wait() == 0
    before = saved(tmp_path / "s", topic)
    fed.send(500)
    # A file may have 2 blocks of 512 bytes or 1 KB, by shell: too few for a snapshot.
    limited = start(*run, under=("sh", "-c", 'ulimit -f 2; exec "$@"', "-"))
    assert limited.wait() == 2
    assert f"snapshots: can't keep them in {tmp_path}/s/{topic}-0: File too large" in limited.said
    assert "Traceback" not in limited.said
    assert saved(tmp_path / "s", topic).header == before.header
    assert start(*run).wait() == 0
    after = saved(tmp_path / "s", topic)
    assert after.n_events + after.n_dead_letters == 600
    assert after.learner == uninterrupted(broker.bootstrap, topic, tmp_path, start).learner


@pytest.mark.thorough
def test_folder_that_goes_away(
    broker: KafkaBroker, topic: str, fed: Feed, start: Start, tmp_path: Path
) -> None:
    """The run ends if snapshots can no longer be written."""
    fed.send(100)
    run = arguments(broker.bootstrap, topic, tmp_path / "s", f"{topic}-p")
    running = start(*run, "--snapshot-seconds=0.2")
    running.wait_for_metrics(lambda now: now["iln_events_total"] > 0)
    (tmp_path / "s").rename(tmp_path / "elsewhere")  # the run may write into it at any moment
    fed.send(100)
    assert running.wait() == 2
    assert f"can't keep them in {tmp_path}/s/{topic}-0: No such file or directory" in running.said


@pytest.mark.thorough
def test_read_only_folder(
    broker: KafkaBroker, topic: str, fed: Feed, start: Start, tmp_path: Path
) -> None:
    """A run does not start on a read-only file system, and ends with one line on one that becomes
    read-only. Nothing is lost or learned twice."""
    fed.send(300)
    run = arguments(broker.bootstrap, topic, tmp_path / "s", f"{topic}-p")
    sentence = f"snapshots: can't keep them in {tmp_path}/s/{topic}-0: Read-only file system"
    under = read_only_once(tmp_path / "s", there_is=tmp_path / "now")
    (tmp_path / "now").touch()
    refused = start(*run, under=under)
    assert refused.wait() == 2
    assert sentence in refused.said
    assert list((tmp_path / "s").iterdir()) == []
    (tmp_path / "now").unlink()

    running = start(*run, "--snapshot-seconds=0.2", under=under)
    running.wait_for_metrics(lambda now: "iln_snapshot_size_bytes" in now)
    (tmp_path / "now").touch()
    fed.send(3_000)
    assert running.wait() == 2
    assert sentence in running.said
    assert "Traceback" not in running.said
    before = saved(tmp_path / "s", topic)
    assert before.n_events + before.n_dead_letters < 3_300
    assert start(*run, "--stop-at-end").wait() == 0
    after = saved(tmp_path / "s", topic)
    assert after.n_events + after.n_dead_letters == 3_300
    assert after.learner == uninterrupted(broker.bootstrap, topic, tmp_path, start).learner


# The process


@pytest.mark.thorough
def test_reader_of_the_predictions_that_leaves(
    broker: KafkaBroker, topic: str, fed: Feed, start: Start, tmp_path: Path
) -> None:
    """With `| head` the run ends silently, without a snapshot beyond the written predictions: the
    next run resumes from the snapshot before."""
    fed.send(3_000)
    run = arguments(broker.bootstrap, topic, tmp_path / "s", f"{topic}-p", "--stop-at-end")
    often = ("--snapshot-seconds=0.05", "--predictions=-")
    head = '"$@" | head -n 700 > read; exit ${PIPESTATUS[0]}'
    piped = start(*run, *often, under=("bash", "-c", head, "-"))
    assert piped.wait() == 128 + signal.SIGPIPE, piped.said
    assert "rror" not in piped.said
    assert len((tmp_path / "read").read_text().splitlines()) == 700
    whole = uninterrupted(broker.bootstrap, topic, tmp_path, start)
    assert 0 < saved(tmp_path / "s", topic).n_events < whole.n_events
    assert start(*run).wait() == 0
    assert saved(tmp_path / "s", topic).learner == whole.learner


@pytest.mark.thorough
def test_sigterm_saves_everything(
    broker: KafkaBroker, topic: str, fed: Feed, start: Start, tmp_path: Path
) -> None:
    """A run stopped by SIGTERM ends soon, and the next run learns and publishes nothing again."""
    fed.send(20_000)
    run = arguments(broker.bootstrap, topic, tmp_path / "s", f"{topic}-p")
    first = start(*run)
    first.wait_for_metrics(lambda now: now["iln_events_total"] > 100)
    asked = time.monotonic()
    assert first.terminate() == 0, first.said
    assert time.monotonic() - asked < 10  # the grace period of most orchestrators
    half = published(broker.bootstrap, f"{topic}-p")
    assert saved(tmp_path / "s", topic).n_events == len(half) < 18_000
    second = start(*run)
    second.wait_for_metrics(lambda now: now["iln_events_total"] > len(half) + 100)
    assert second.terminate() == 0
    offsets = [offset for offset, _ in published(broker.bootstrap, f"{topic}-p")]
    assert offsets == sorted(set(offsets))


@pytest.mark.thorough
@pytest.mark.parametrize("transactional", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_a_zombie_replaces_nothing(
    broker: KafkaBroker, topic: str, fed: Feed, start: Start, tmp_path: Path, transactional: bool
) -> None:
    """A suspended process that continues after its successor started can't replace snapshots, even
    without the lock, nor publish in transactions."""
    run = arguments(broker.bootstrap, topic, tmp_path / "s", f"{topic}-p")
    run += ["--transactional"] if transactional else []
    often = ("--snapshot-seconds=0.1",)
    fed.send(500)
    zombie = start(*run, *often)
    zombie.wait_for_metrics(lambda now: now["iln_events_total"] > 300)
    zombie.signal(signal.SIGSTOP)
    (tmp_path / "s" / f"{topic}-0" / "lock").unlink()  # as on another host
    fed.send(500)
    assert start(*run, *often, "--stop-at-end").wait() == 0
    after = saved(tmp_path / "s", topic)
    zombie.signal(signal.SIGCONT)
    if transactional:
        assert zombie.wait() == 2, zombie.said
        # The broker says which of its two marks of an old process it has met.
        assert re.search(r"error: topic \S+ ?.*another (process|one) now publishes", zombie.said)
    else:
        zombie.wait_for_metrics(lambda now: now["iln_events_total"] == after.n_events)
        assert zombie.terminate() == 0, zombie.said
    assert saved(tmp_path / "s", topic).header == after.header
    found = published(broker.bootstrap, f"{topic}-p")
    assert len(set(found)) == after.n_events, "a repeat had another value"
    assert len(found) == after.n_events or not transactional


FRAGILE = """
from pathlib import Path

import numpy as np
from river import base

from iln_stream.learners import RestorableLearner, restorable


@restorable
class Fragile(RestorableLearner, base.Regressor):
    always_finite = True

    def __init__(self):
        super().__init__()
        self.sums = np.zeros(3)  # of 1, y and its square; predictions do not use the last

    def learn_one(self, x, y):
        self.sums += [1.0, y, y * y]
        if self.sums[0] == 450 and Path("poison").exists():
            self.sums[2] = np.nan

    def predict_one(self, x):
        return self.sums[1] / max(self.sums[0], 1.0)

    def state(self):
        return self._write_state(sums=self.sums.copy())

    def restore(self, state):
        (sums,) = self._read_state(state, "sums")
        self.sums = sums.copy()
"""


@pytest.mark.thorough
def test_a_poisoned_state_replaces_no_snapshot(
    broker: KafkaBroker, topic: str, fed: Feed, start: Start, tmp_path: Path
) -> None:
    """Once the learner's state has a nan that nothing heals, snapshots are refused and counted; the
    run goes on, and ends with an error. The next one resumes from the last good snapshot."""
    (tmp_path / "fragile.py").write_text(FRAGILE)
    (tmp_path / "poison").touch()

    def run_in(folder: str, *more: str) -> list[str]:
        basis = arguments(broker.bootstrap, topic, tmp_path / folder, f"{topic}-{folder}")
        return [*basis, "--learner=fragile:Fragile", "--learner-options={}", *more]

    fed.send(300)
    poisoned = start(*run_in("s", "--snapshot-seconds=0.1"))
    poisoned.wait_for_metrics(lambda now: "iln_snapshot_size_bytes" in now)
    fed.send(700)
    poisoned.wait_for_metrics(
        lambda now: handled(1_000)(now) and now["iln_snapshots_refused_total"] > 0
    )
    good = saved(tmp_path / "s", topic)
    assert 0 < good.n_labelled < 450
    assert poisoned.terminate() == 2
    assert "ERROR snapshots: the learner's state is not finite: Fragile/sums" in poisoned.said
    assert "error: snapshots: the learner's state is not finite: Fragile/sums" in poisoned.said
    assert saved(tmp_path / "s", topic).header == good.header

    (tmp_path / "poison").unlink()
    assert start(*run_in("s", "--stop-at-end")).wait() == 0
    assert start(*run_in("whole", "--stop-at-end")).wait() == 0
    resumed, whole = saved(tmp_path / "s", topic), saved(tmp_path / "whole", topic)
    assert (resumed.learner, resumed.n_events) == (whole.learner, whole.n_events)
    times = Counter(offset for offset, _ in published(broker.bootstrap, f"{topic}-s"))
    twice = [offset for offset, n in times.items() if n == 2]
    assert twice == [offset for offset in times if offset >= good.header.next_offset]


# The broker


@pytest.mark.thorough
def test_broker_absent_at_the_start(stoppable: KafkaBroker, start: Start, tmp_path: Path) -> None:
    """A learner started before its broker waits for it, and logs that."""
    topic = create_topic(stoppable.bootstrap)
    produce(stoppable.bootstrap, topic, [(None, b'{"x": {"a": 1}, "y": 2}')] * 10)
    stoppable.stop()
    run = arguments(stoppable.bootstrap, topic, tmp_path / "s", f"{topic}-p")
    early = start(*run)
    early.wait_until_it_says(f"no Kafka broker answers at {stoppable.bootstrap} yet")
    stoppable.start()
    early.wait_for_metrics(lambda now: now["iln_events_total"] == 10)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "client", ["kafka-python", pytest.param("confluent", marks=pytest.mark.thorough)]
)
def test_broker_that_goes_away_and_comes_back(
    stoppable: KafkaBroker, start: Start, tmp_path: Path, client: str
) -> None:
    """An outage is two lines in the log, whatever the Kafka clients log."""
    topic = create_topic(stoppable.bootstrap)
    feed = Feed(stoppable.bootstrap, topic)
    feed.send(500)
    run = arguments(stoppable.bootstrap, topic, tmp_path / "s", f"{topic}-p")
    running = start(*run, "--kafka-client", client)
    here = f"the broker at {stoppable.bootstrap}"
    running.wait_for_metrics(handled(500))
    stoppable.kill()
    running.wait_until_it_says(f"WARNING {here} is unreachable; waiting ")
    time.sleep(3)  # while the clients retry
    stoppable.start()
    running.wait_until_it_says(f"WARNING {here} is reachable again after ")
    feed.send(500)
    feed.close()
    running.wait_for_metrics(handled(1_000))
    assert running.terminate() == 0, running.said
    assert running.said.count(here) == 2
    assert " ERROR " not in running.said
    assert "Traceback" not in running.said


@pytest.mark.thorough
def test_slow_broker(stoppable: KafkaBroker, start: Start, tmp_path: Path) -> None:
    """A broker that hangs for longer than its clients' timeouts costs only time."""
    topic = create_topic(stoppable.bootstrap)
    feed = Feed(stoppable.bootstrap, topic)
    feed.send(2_000)
    impatient = '{"request_timeout_ms": 2000, "fetch_max_wait_ms": 200, "max_poll_records": 50}'
    run = arguments(stoppable.bootstrap, topic, tmp_path / "s", f"{topic}-p")
    slow = start(*run, "--kafka-options", impatient)
    slow.wait_for_metrics(lambda now: now["iln_events_total"] > 100)
    with stoppable.paused():
        time.sleep(5)
    feed.send(500)
    feed.close()
    slow.wait_for_metrics(handled(2_500))
    assert slow.terminate() == 0, slow.said
    offsets = [offset for offset, _ in published(stoppable.bootstrap, f"{topic}-p")]
    assert offsets == sorted(set(offsets))
    assert len(offsets) == saved(tmp_path / "s", topic).n_events


# Input


@pytest.fixture(scope="module")
def generous(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    """A broker that accepts messages of 100 MB."""
    limits = {"message.max.bytes": "120000000", "socket.request.max.bytes": "130000000"}
    folder = tmp_path_factory.mktemp("generous")
    with KafkaBroker(folder, limits, borrow=False) as running:
        yield running


@pytest.mark.thorough
def test_a_message_of_100_mb(generous: KafkaBroker, tmp_path: Path) -> None:
    """A huge message becomes a dead letter with its beginning, and the run continues."""
    topic = create_topic(generous.bootstrap)
    good = b'{"x": {"a": 1}, "y": 2}'
    producer = KafkaProducer(bootstrap_servers=generous.bootstrap, max_request_size=120_000_000)
    for payload in (good, b'{"x": {"a": 1' + b" " * 100_000_000 + b"}}", good):
        producer.send(topic, payload, partition=0).get(60)
    producer.close()
    how = {"start": "earliest", "stop_at_end": True, "learner": "pool", "metrics_port": 0}
    running = Service(Settings.load(bootstrap=generous.bootstrap, topic=topic, **how))
    running.run()
    assert running.workers[0].watched.scores.n_labelled == 2
    (letter,) = _letters(generous, topic)
    assert letter["reason"].startswith("event: 100,000,015 bytes; at most")
    assert letter["payload_bytes"] == 100_000_015
    assert letter["truncated"]


@pytest.mark.thorough
def test_a_flood_is_logged_once(broker: KafkaBroker, topic: str, start: Start) -> None:
    """Ten thousand malformed messages are ten thousand dead letters and one line in the log."""
    produce(broker.bootstrap, topic, [(None, b'{"x": {}, "y": 1}')])  # a valid event
    produce(broker.bootstrap, topic, [(None, b"garbage %d" % i) for i in range(10_000)])
    run = ("run", "--bootstrap", broker.bootstrap, "--topic", topic, "--start=earliest")
    flooded = start(*run, "--stop-at-end", "--metrics-port=0")
    assert flooded.wait() == 0, flooded.said
    assert len(_letters(broker, topic)) == 10_000
    assert flooded.said.count("dead letter at offset") == 1


def _letters(broker: KafkaBroker, topic: str) -> list[dict[str, Any]]:
    records = read_topic(broker.bootstrap, f"{topic}-dead-letters")
    return [json.loads(record.value) for record in records]
