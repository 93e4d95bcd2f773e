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
from chaos.learner_kills import send, values_of
from chaos.logs import KafkaLog
from chaos.stream import event
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
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_partitions_added_while_running(
    broker: KafkaBroker, log: KafkaLog, start: Start, tmp_path: Path, client: str
) -> None:
    """Records of new partitions are not lost silently: a metric counts the partitions, the log
    says what to do, and the next start learns them from their beginning."""
    record = (None, b'{"x": {"a": 1}, "y": 2}')
    often = ("--kafka-options", '{"metadata_max_age_ms": 500}', "--kafka-client", client)
    run = (*log.arguments(tmp_path / "s", "p"), *often)
    running = start(*run)
    log.send([record] * 10)
    running.wait_for_metrics(lambda now: now["iln_events_total"] == 10)
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        admin.create_partitions({log.name: 3})
    running.wait_for_metrics(lambda now: now["iln_new_partitions"] == 2)
    running.wait_until_it_says("has 3 partitions and had 1")
    running.wait_until_it_says("start it again")
    produce(broker.bootstrap, log.name, [record] * 5, partition=2)  # a new client: it sees them
    assert running.terminate() == 0
    again = start(*run)
    again.wait_for_metrics(lambda now: now["iln_events_total"] == 15)
    assert again.terminate() == 0


@pytest.fixture
def log(make_log: Callable[..., KafkaLog]) -> KafkaLog:
    """An empty topic."""
    return make_log("kafka")


def uninterrupted(log: KafkaLog, folder: Path, start: Start) -> Saved:
    """Return the snapshot of an uninterrupted run."""
    assert start(*log.arguments(folder / "whole", "whole", "--stop-at-end")).wait() == 0
    return saved(folder / "whole", log.name)


# The disk


def test_full_disk(log: KafkaLog, start: Start, tmp_path: Path) -> None:
    """If a snapshot can't be written, the run ends with one line. The snapshot before stays, so
    that with space again nothing is lost or learned twice."""
    run = log.arguments(tmp_path / "s", "p", "--stop-at-end")
    send(log, event, range(100))
    assert start(*run).wait() == 0
    before = saved(tmp_path / "s", log.name)
    send(log, event, range(100, 600))
    # A file may have 2 blocks of 512 bytes or 1 KB, by shell: too few for a snapshot.
    limited = start(*run, under=("sh", "-c", 'ulimit -f 2; exec "$@"', "-"))
    assert limited.wait() == 2
    assert f"can't keep them in {tmp_path}/s/{log.name}-0: File too large" in limited.said
    assert "Traceback" not in limited.said
    assert saved(tmp_path / "s", log.name).header == before.header
    assert start(*run).wait() == 0
    after = saved(tmp_path / "s", log.name)
    assert after.n_events + after.n_dead_letters == 600
    assert after.learner == uninterrupted(log, tmp_path, start).learner


@pytest.mark.thorough
def test_folder_that_goes_away(log: KafkaLog, start: Start, tmp_path: Path) -> None:
    """The run ends if snapshots can no longer be written."""
    send(log, event, range(100))
    run = log.arguments(tmp_path / "s", "p")
    running = start(*run, "--snapshot-seconds=0.2")
    running.wait_for_metrics(lambda now: now["iln_events_total"] > 0)
    (tmp_path / "s").rename(tmp_path / "elsewhere")  # the run may write into it at any moment
    send(log, event, range(100, 200))
    assert running.wait() == 2
    said = running.said.splitlines()[-1]  # names the folder, or the file that was being renamed
    assert f"can't keep them in {tmp_path}/s/{log.name}-0" in said
    assert ": No such file or directory; mend that" in said


@pytest.mark.thorough
def test_read_only_folder(log: KafkaLog, start: Start, tmp_path: Path) -> None:
    """A run does not start on a read-only file system, and ends with one line on one that becomes
    read-only. Nothing is lost or learned twice."""
    send(log, event, range(300))
    run = log.arguments(tmp_path / "s", "p")
    sentence = f"snapshots: can't keep them in {tmp_path}/s/{log.name}-0: Read-only file system"
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
    send(log, event, range(300, 3_300))
    assert running.wait() == 2
    assert sentence in running.said
    assert "Traceback" not in running.said
    before = saved(tmp_path / "s", log.name)
    assert before.n_events + before.n_dead_letters < 3_300
    assert start(*run, "--stop-at-end").wait() == 0
    after = saved(tmp_path / "s", log.name)
    assert after.n_events + after.n_dead_letters == 3_300
    assert after.learner == uninterrupted(log, tmp_path, start).learner


# The process


@pytest.mark.thorough
def test_reader_of_the_predictions_that_leaves(log: KafkaLog, start: Start, tmp_path: Path) -> None:
    """With `| head` the run ends silently, without a snapshot beyond the written predictions: the
    next run resumes from the snapshot before."""
    send(log, event, range(3_000))
    run = log.arguments(tmp_path / "s", "p", "--stop-at-end")
    often = ("--snapshot-seconds=0.05", "--predictions=-")
    head = '"$@" | head -n 700 > read; exit ${PIPESTATUS[0]}'
    piped = start(*run, *often, under=("bash", "-c", head, "-"))
    assert piped.wait() == 128 + signal.SIGPIPE, piped.said
    assert "rror" not in piped.said
    assert len((tmp_path / "read").read_text().splitlines()) == 700
    whole = uninterrupted(log, tmp_path, start)
    assert 0 < saved(tmp_path / "s", log.name).n_events < whole.n_events
    assert start(*run).wait() == 0
    assert saved(tmp_path / "s", log.name).learner == whole.learner


@pytest.mark.thorough
def test_sigterm_saves_everything(log: KafkaLog, start: Start, tmp_path: Path) -> None:
    """A run stopped by SIGTERM ends soon, and the next run learns and publishes nothing again."""
    send(log, event, range(20_000))
    run = log.arguments(tmp_path / "s", "p")
    first = start(*run)
    first.wait_for_metrics(lambda now: now["iln_events_total"] > 100)
    asked = time.monotonic()
    assert first.terminate() == 0, first.said
    assert time.monotonic() - asked < 10  # the grace period of most orchestrators
    half = values_of(log.published("p"))
    assert saved(tmp_path / "s", log.name).n_events == len(half) < 18_000
    second = start(*run)
    second.wait_for_metrics(lambda now: now["iln_events_total"] > len(half) + 100)
    assert second.terminate() == 0
    offsets = [offset for offset, _ in values_of(log.published("p"))]
    assert offsets == sorted(set(offsets))


@pytest.mark.thorough
@pytest.mark.parametrize("transactional", [False, True])
def test_a_zombie_replaces_nothing(
    log: KafkaLog, start: Start, tmp_path: Path, transactional: bool
) -> None:
    """A suspended process that continues after its successor started can't replace snapshots, even
    without the lock, nor publish in transactions."""
    run = log.arguments(tmp_path / "s", "p")
    run += ["--transactional"] if transactional else []
    often = ("--snapshot-seconds=0.1",)
    send(log, event, range(500))
    zombie = start(*run, *often)
    zombie.wait_for_metrics(lambda now: now["iln_events_total"] > 300)
    zombie.signal(signal.SIGSTOP)
    (tmp_path / "s" / f"{log.name}-0" / "lock").unlink()  # as on another host
    send(log, event, range(500, 1_000))
    assert start(*run, *often, "--stop-at-end").wait() == 0
    after = saved(tmp_path / "s", log.name)
    zombie.signal(signal.SIGCONT)
    if transactional:
        assert zombie.wait() == 2, zombie.said
        # The broker says which of its two marks of an old process it has met.
        assert re.search(r"error: topic \S+ ?.*another (process|one) now publishes", zombie.said)
    else:
        zombie.wait_for_metrics(lambda now: now["iln_events_total"] == after.n_events)
        assert zombie.terminate() == 0, zombie.said
    assert saved(tmp_path / "s", log.name).header == after.header
    found = values_of(log.published("p"))
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
def test_a_poisoned_state_replaces_no_snapshot(log: KafkaLog, start: Start, tmp_path: Path) -> None:
    """Once the learner's state has a nan that nothing heals, snapshots are refused and counted; the
    run goes on, and ends with an error. The next one resumes from the last good snapshot."""
    (tmp_path / "fragile.py").write_text(FRAGILE)
    (tmp_path / "poison").touch()

    def run_in(folder: str, *more: str) -> list[str]:
        basis = log.arguments(tmp_path / folder, folder)
        return [*basis, "--learner=fragile:Fragile", "--learner-options={}", *more]

    send(log, event, range(300))
    poisoned = start(*run_in("s", "--snapshot-seconds=0.1"))
    poisoned.wait_for_metrics(lambda now: "iln_snapshot_size_bytes" in now)
    send(log, event, range(300, 1_000))
    poisoned.wait_for_metrics(
        lambda now: handled(1_000)(now) and now["iln_snapshots_refused_total"] > 0
    )
    good = saved(tmp_path / "s", log.name)
    assert 0 < good.n_labelled < 450
    assert poisoned.terminate() == 2
    assert "ERROR snapshots: the learner's state is not finite: Fragile/sums" in poisoned.said
    assert "error: snapshots: the learner's state is not finite: Fragile/sums" in poisoned.said
    assert saved(tmp_path / "s", log.name).header == good.header

    (tmp_path / "poison").unlink()
    assert start(*run_in("s", "--stop-at-end")).wait() == 0
    assert start(*run_in("whole", "--stop-at-end")).wait() == 0
    resumed, whole = saved(tmp_path / "s", log.name), saved(tmp_path / "whole", log.name)
    assert (resumed.learner, resumed.n_events) == (whole.learner, whole.n_events)
    times = Counter(offset for offset, _ in values_of(log.published("s")))
    twice = [offset for offset, n in times.items() if n == 2]
    assert twice == [offset for offset in times if offset >= good.header.next_offset]


# The broker


@pytest.mark.thorough
def test_broker_absent_at_the_start(stoppable: KafkaBroker, start: Start, tmp_path: Path) -> None:
    """A learner started before its broker waits for it, and logs that."""
    log = KafkaLog(stoppable.bootstrap, "absent")
    log.send([(None, b'{"x": {"a": 1}, "y": 2}')] * 10)
    log.close()
    stoppable.stop()
    run = log.arguments(tmp_path / "s", "p")
    early = start(*run)
    early.wait_until_it_says(f"no Kafka broker answers at {stoppable.bootstrap} yet")
    stoppable.start()
    early.wait_for_metrics(lambda now: now["iln_events_total"] == 10)


@pytest.mark.thorough
@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_broker_that_goes_away_and_comes_back(
    stoppable: KafkaBroker, start: Start, tmp_path: Path, client: str
) -> None:
    """An outage is two lines in the log, whatever the Kafka clients log."""
    log = KafkaLog(stoppable.bootstrap, "outage")
    send(log, event, range(500))
    run = log.arguments(tmp_path / "s", "p")
    running = start(*run, "--kafka-client", client)
    here = f"the broker at {stoppable.bootstrap}"
    running.wait_for_metrics(handled(500))
    stoppable.kill()
    running.wait_until_it_says(f"WARNING {here} is unreachable; waiting ")
    time.sleep(3)  # while the clients retry
    stoppable.start()
    running.wait_until_it_says(f"WARNING {here} is reachable again after ")
    send(log, event, range(500, 1_000))
    log.close()
    running.wait_for_metrics(handled(1_000))
    assert running.terminate() == 0, running.said
    assert running.said.count(here) == 2
    assert " ERROR " not in running.said
    assert "Traceback" not in running.said


@pytest.mark.thorough
def test_slow_broker(stoppable: KafkaBroker, start: Start, tmp_path: Path) -> None:
    """A broker that hangs for longer than its clients' timeouts costs only time."""
    log = KafkaLog(stoppable.bootstrap, "outage")
    send(log, event, range(2_000))
    impatient = '{"request_timeout_ms": 2000, "fetch_max_wait_ms": 200, "max_poll_records": 50}'
    run = log.arguments(tmp_path / "s", "p")
    slow = start(*run, "--kafka-options", impatient)
    slow.wait_for_metrics(lambda now: now["iln_events_total"] > 100)
    with stoppable.paused():
        time.sleep(5)
    send(log, event, range(2_000, 2_500))
    log.close()
    slow.wait_for_metrics(handled(2_500))
    assert slow.terminate() == 0, slow.said
    offsets = [offset for offset, _ in values_of(log.published("p"))]
    assert offsets == sorted(set(offsets))
    assert len(offsets) == saved(tmp_path / "s", log.name).n_events


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
