"""`iln-stream log import` and `export`, with a real broker."""

import random
import signal
import time

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from support.command_line import iln
from support.embedded_log import append, read
from support.kafka_topics import create_topic, unique_topic
from support.running_command import Command

from iln_stream.errors import NoStreamError
from iln_stream.streams.sqlite import topics

NOW = round(1000 * time.time())
"""Milliseconds; the broker deletes records that are older than a week."""


def send(bootstrap, topic, records):
    """Send records: partition, key, value, time in ms."""
    producer = KafkaProducer(bootstrap_servers=bootstrap, linger_ms=20)
    for partition, key, value, when in records:
        producer.send(topic, value, key, partition=partition, timestamp_ms=when)
    producer.flush(60)
    producer.close(30)


def stored(bootstrap, topic):
    """What each partition of a topic has: key, value and time."""
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, isolation_level="read_committed")
    partitions = [TopicPartition(topic, p) for p in sorted(consumer.partitions_for_topic(topic))]
    consumer.assign(partitions)
    consumer.seek_to_beginning(*partitions)
    ends = consumer.end_offsets(partitions)
    found = {each.partition: [] for each in partitions}
    while any(consumer.position(each) < ends[each] for each in partitions):
        for each, records in consumer.poll(timeout_ms=500).items():
            found[each.partition] += [(r.key, r.value, r.timestamp) for r in records]
    consumer.close()
    return found


def mixed(n, seed=1):
    """Records of three partitions, with keys of all kinds or without, whose times jump."""
    draw = random.Random(seed)
    keys = [None, b"", b"a", "ü".encode(), b"\xff\xfe", b"user-17"]
    return [
        (
            draw.randrange(3),
            key := draw.choice(keys),
            None if key is not None and draw.random() < 0.05 else b'{"x": {"n": %d}}' % i,
            NOW - draw.randrange(10_000_000),
        )
        for i in range(n)
    ]


@pytest.mark.thorough
def test_a_kafka_topic_there_and_back(broker, command, tmp_path):
    """Each partition comes back as it was: its order, keys, values and times to the millisecond,
    records without a value included. A topic with other partitions is refused."""
    topic, back = create_topic(broker.bootstrap, partitions=3), unique_topic("back")
    at = ("--bootstrap", broker.bootstrap)
    send(broker.bootstrap, topic, mixed(1_000))
    done = command("log", "import", f"kafka:{topic}", "sqlite:log.db", *at).ok()
    assert f"1,000 records imported from kafka:{topic} to sqlite:log.db" in done.err
    (state,) = topics(tmp_path / "log.db")
    other = create_topic(broker.bootstrap, partitions=2)
    done = command("log", "export", "sqlite:log.db", f"kafka:{other}", *at).refused()
    assert f"sqlite:log.db has 3 partitions and kafka:{other} has 2" in done.err
    command("log", "export", "sqlite:log.db", f"kafka:{back}", *at).ok()
    assert stored(broker.bootstrap, back) == stored(broker.bootstrap, topic)

    send(broker.bootstrap, topic, mixed(500, seed=2))
    assert (
        "500 records imported"
        in command("log", "import", f"kafka:{topic}", "sqlite:log.db", *at).err
    )
    ends = ",".join(f"{each.number}:{each.next_offset}" for each in state.partitions)
    done = command("log", "export", "sqlite:log.db", f"kafka:{back}", "--from", ends, *at)
    assert "500 records exported" in done.err
    assert stored(broker.bootstrap, back) == stored(broker.bootstrap, topic)


@pytest.mark.thorough
def test_an_import_that_was_killed_continues(broker, tmp_path):
    """After kill -9 in the middle of an import, the same command imports the others: nothing is
    missing or twice."""
    topic = create_topic(broker.bootstrap, partitions=2)
    n = 30_000
    send(broker.bootstrap, topic, [(i % 2, None, b"%d" % i + b" " * 300, None) for i in range(n)])
    words = ("log", "import", f"kafka:{topic}", "sqlite:log.db")
    few = ("--kafka-options", '{"max_poll_records": 100}', "--bootstrap", broker.bootstrap)
    for _ in range(2):
        n_before = imported(tmp_path)
        with Command(tmp_path, *words, *few) as running:
            while imported(tmp_path) <= n_before:
                assert running.runs, running.said
                time.sleep(0.01)
            running.kill()
        assert imported(tmp_path) < n
    done = iln(*words, *few, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    for partition in range(2):
        found = [int(r.payload) for r in read(tmp_path / "log.db", "events", partition)]
        assert found == list(range(partition, n, 2))


def imported(folder):
    """The number of records imported so far."""
    try:
        states = topics(folder / "log.db")
    except NoStreamError:  # not yet
        return 0
    return sum(each.next_offset for state in states for each in state.partitions)


@pytest.mark.thorough
def test_ctrl_c(tmp_path):
    """An import that is interrupted says how far it was and how to go on."""
    words = ("log", "import", "synthetic:Friedman", "sqlite:log.db", "--seed=3")
    with Command(tmp_path, *words, "--limit=100000000") as running:
        while imported(tmp_path) < 100:
            assert running.runs, running.said
            time.sleep(0.01)
        running.signal(signal.SIGINT)
        assert running.wait() == 130
    n = imported(tmp_path)
    assert f"{n:,} records imported from synthetic:Friedman" in running.said
    assert "interrupted; the same command and --continue imports the others" in running.said
    again = iln(*words, f"--limit={n + 50}", cwd=tmp_path, timeout=120)
    assert again.returncode == 2
    assert f"{n:,} records of" in again.stderr
    assert "were imported before: give --continue" in again.stderr
    rest = iln(*words, f"--limit={n + 50}", "--continue", cwd=tmp_path, timeout=120)
    assert "50 records imported" in rest.stderr, rest.stderr
    whole = ("log", "import", "synthetic:Friedman", "sqlite:log.db#whole", "--seed=3")
    assert iln(*whole, f"--limit={n + 50}", cwd=tmp_path, timeout=120).returncode == 0
    found, expected = (read(tmp_path / "log.db", topic) for topic in ("events", "whole"))
    assert [r.payload for r in found] == [r.payload for r in expected]


def test_standard_input_and_output(tmp_path):
    """`-` imports lines from a pipe, and exports to one."""
    done = iln("log", "import", "-", "sqlite:log.db", cwd=tmp_path, stdin='{"x": {}}\nno event\n')
    assert done.returncode == 0, done.stderr
    assert [r.payload for r in read(tmp_path / "log.db")] == [b'{"x": {}}', b"no event"]
    assert (
        iln("log", "export", "sqlite:log.db", "-", cwd=tmp_path).stdout == '{"x": {}}\nno event\n'
    )


def test_records_without_a_value_are_reported(command, tmp_path, broker, caplog):
    """A file can't have them, so a warning says how many were left out."""
    topic = create_topic(broker.bootstrap)
    send(broker.bootstrap, topic, [(0, b"k", b"1", None), (0, b"k", None, None)])
    at = ("--bootstrap", broker.bootstrap)
    assert command("log", "import", f"kafka:{topic}", "sqlite:log.db", *at).code == 0
    assert command("log", "export", "sqlite:log.db", "out.jsonl").code == 0
    assert "1 records without a value (tombstones) were left out" in caplog.text
    assert (tmp_path / "out.jsonl").read_text() == "1\n"


def test_progress_without_a_terminal(command, caplog, monkeypatch):
    """Every few seconds a line in the log says how far a copy is."""
    monkeypatch.setattr("iln_stream.cli.log._LINE_SECONDS", 0.0)
    words = ("log", "import", "synthetic:Friedman", "sqlite:log.db", "--limit=7")
    assert command(*words).code == 0
    assert "synthetic:Friedman → sqlite:log.db: 7 of 7 records" in caplog.text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("import", "sqlite:log.db", "sqlite:./log.db#events"), "can't be imported into itself"),
        (("export", "sqlite:log.db", "sqlite:log.db"), "can't be exported to itself"),
        (("import", "e.jsonl", "sqlite:log.db", "--continue", "--again"), "give one of them"),
        (("import", "absent.jsonl", "sqlite:log.db"), "can't read absent.jsonl"),
        (("export", "sqlite:log.db#absent", "out.jsonl"), "has no topic 'absent'"),
        (("export", "sqlite:log.db", "out.jsonl", "--from=9"), "has offsets 0 to 1"),
        (("import", "kafka:a b", "sqlite:log.db"), "'a b' is not a topic's name"),
    ],
)
def test_refused(command, tmp_path, words, message):
    """What can't be copied is an error with a remedy, and nothing is written."""
    append(tmp_path / "log.db", [b"1"])
    assert message in command("log", *words).refused().err
    assert len(read(tmp_path / "log.db")) == 1
    assert not (tmp_path / "out.jsonl").exists()
