"""`iln-stream replay`: publishing a source to a topic."""

import json

import pytest
from support.kafka_topics import read_topic, unique_topic

LINES = b'{"x": {"a": 1}, "y": 2}\nnonsense\n'


@pytest.fixture
def lines(tmp_path):
    """A file with one event and one malformed line."""
    (tmp_path / "events.jsonl").write_bytes(LINES)


def test_lines_as_they_are(broker, command, lines):
    """Each line is published unchanged to a new topic, and counted."""
    topic = unique_topic()
    done = command("replay", "events.jsonl", "--topic", topic, "--bootstrap", broker.bootstrap)
    assert done.code == 0, done.err
    assert f"2 records sent to topic {topic}" in done.err
    assert [r.value for r in read_topic(broker.bootstrap, topic)] == LINES.splitlines()


def test_rows_with_classes(broker, command, tmp_path):
    """Rows of a CSV file whose label is a class are published for a learner of classes."""
    (tmp_path / "e.csv").write_text("a,kind\n1,ox\n2,true\n3,4\n")
    topic = unique_topic()
    arguments = ("--target=kind", "--learner=infinite-layer-classifier", "--topic", topic)
    done = command("replay", "e.csv", *arguments, "--bootstrap", broker.bootstrap)
    assert done.code == 0, done.err
    found = [json.loads(r.value)["y"] for r in read_topic(broker.bootstrap, topic)]
    assert found == ["ox", True, 4.0]


def test_variables_and_file(broker, command, lines, monkeypatch, tmp_path):
    """Variables and the TOML file apply, but the source is always the argument."""
    topic = unique_topic()
    (tmp_path / "replay.toml").write_text(f'source = "kafka"\ntopic = "{topic}"\nlimit = 1\n')
    monkeypatch.setenv("ILN_BOOTSTRAP", broker.bootstrap)
    done = command("replay", "events.jsonl", "--config", "replay.toml")
    assert done.code == 0, done.err
    assert [r.value for r in read_topic(broker.bootstrap, topic)] == LINES.splitlines()[:1]


def test_kafka_options(broker, command, lines):
    """`kafka_options` reach the producer: a record above their size limit is an error."""
    options = json.dumps({"max_request_size": 90})
    done = command(
        *("replay", "events.jsonl", "--topic", unique_topic(), "--bootstrap", broker.bootstrap),
        *("--kafka-options", options),
    )
    assert done.code == 2
    assert "larger than" in done.err
