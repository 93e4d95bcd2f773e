"""`iln-stream dead-letters` on a real broker, and on a file."""

import pytest
from support.kafka_topics import create_topic, produce, read_topic

GOOD = b'{"x": {"a": 1}, "y": 2}'
LONG = b'{"x": ' + b"[" * 100_000


@pytest.fixture
def topic_with_letters(broker, command):
    """A topic of two partitions on whose records a learner has left four letters."""
    topic = create_topic(broker.bootstrap, partitions=2)
    produce(broker.bootstrap, topic, [(b"k", v) for v in (GOOD, b'{"x": {"a": "[b]"', LONG, None)])
    produce(broker.bootstrap, topic, [(None, b"\xff\xfe"), (None, GOOD)], partition=1)
    arguments = ["--bootstrap", broker.bootstrap, "--topic", topic]
    done = command(
        *("run", *arguments, "--start=earliest", "--stop-at-end"),
        *("--partitions=all", "--metrics-port=0"),
    )
    assert done.code == 0, done.err
    return topic, arguments


def test_list(topic_with_letters, command):
    """Each letter is shown with its place, its reason and the beginning of what came."""
    topic, arguments = topic_with_letters
    done = command("dead-letters", "list", *arguments)
    assert done.code == 0, done.err
    for shown in (
        f"{topic}/0/1",
        f"{topic}/0/2",
        f"{topic}/0/3",
        f"{topic}/1/0",
        '"[b]"',
        "100,006",
    ):
        assert shown in done.out.replace("\n", "")
    done = command("dead-letters", "list", *arguments, "--reason", "no value")
    assert f"{topic}/0/3" in done.out
    assert f"{topic}/0/1" not in done.out


def test_replay(topic_with_letters, command, broker):
    """The records come again to their partitions, byte by byte, also those that a letter holds
    only the beginning of, or that are no text."""
    topic, arguments = topic_with_letters
    done = command("dead-letters", "replay", *arguments)
    assert done.code == 0, done.err
    assert f"4 records sent to kafka:{topic} again" in done.err
    again = [record.value for record in read_topic(broker.bootstrap, topic)][4:]
    assert again == [b'{"x": {"a": "[b]"', LONG, b""]


def test_file(command, tmp_path):
    """Letters in a file are listed, too; a file of something else is told."""
    (tmp_path / "events.jsonl").write_bytes(GOOD + b"\nnonsense\n")
    assert command("run", "--source", "events.jsonl", "--metrics-port", "0").code == 0
    arguments = ("dead-letters", "list", "--source", "events.jsonl")
    assert "nonsense" in command(*arguments).out
    done = command(*arguments, "--dead-letters", "events.jsonl")
    assert done.code == 2
    assert "events.jsonl: 0 is no dead letter" in done.err
