"""`iln-stream replay`: publishing a source to a topic."""

import json
import os
import signal
from threading import Timer

import pytest
from support.kafka_topics import read_topic, unique_topic

from iln_stream.streams.kafka.producer import KafkaSink

LINES = b'{"x": {"a": 1.50}, "y": 2}\nno event\n{"caf\xe9": 1}\n'


@pytest.fixture
def lines(tmp_path):
    """A file with one event and two malformed lines."""
    (tmp_path / "events.jsonl").write_bytes(LINES)


def test_lines_as_they_are(broker, command, lines):
    """Each line is published unchanged to a new topic, and counted."""
    topic = unique_topic()
    done = command("replay", "events.jsonl", "--topic", topic, "--bootstrap", broker.bootstrap).ok()
    assert f"3 records sent to topic {topic}" in done.err
    assert [r.value for r in read_topic(broker.bootstrap, topic)] == LINES.splitlines()


def test_rows_with_classes(broker, command, tmp_path):
    """Rows of a CSV file become events with numbers, categories and the label, which is a class for
    a learner of classes."""
    (tmp_path / "e.csv").write_text("a,town,kind\n1.5,Graz,ox\n,Linz,true\n3,Linz,4\n")
    topic = unique_topic()
    arguments = ("--target=kind", "--learner=infinite-layer-classifier", "--topic", topic)
    command("replay", "e.csv", *arguments, "--bootstrap", broker.bootstrap).ok()
    found = [json.loads(r.value) for r in read_topic(broker.bootstrap, topic)]
    assert [each["y"] for each in found] == ["ox", True, 4.0]
    assert [each["x"] for each in found[:2]] == [{"a": 1.5, "town": "Graz"}, {"town": "Linz"}]


def test_variables_and_file(broker, command, lines, monkeypatch, tmp_path):
    """Variables and the TOML file apply, but the source is always the argument."""
    topic = unique_topic()
    (tmp_path / "replay.toml").write_text(f'source = "kafka"\ntopic = "{topic}"\nlimit = 1\n')
    monkeypatch.setenv("ILN_BOOTSTRAP", broker.bootstrap)
    command("replay", "events.jsonl", "--config", "replay.toml").ok()
    assert [r.value for r in read_topic(broker.bootstrap, topic)] == LINES.splitlines()[:1]


def test_a_synthetic_stream_at_a_rate(broker, command):
    """Events arrive evenly, at the given rate; the seed determines them."""
    found = []
    for seed in ("5", "5", "6"):
        topic = unique_topic()
        stream = ("synthetic:Friedman", "--limit=60", "--rate=60", "--seed", seed)
        command("replay", *stream, "--topic", topic, "--bootstrap", broker.bootstrap).ok()
        found.append(read_topic(broker.bootstrap, topic))
    first, again, other = ([record.value for record in records] for records in found)
    assert first == again
    assert first != other
    for number, record in enumerate(found[0]):
        elapsed = (record.timestamp - found[0][0].timestamp) / 1000
        assert elapsed == pytest.approx(number / 60, abs=0.25)


def test_a_stopped_replay_counts_what_it_sent(broker, command, monkeypatch):
    """A signal that comes between sending and counting leaves no record uncounted."""
    write, sent = KafkaSink.write, []

    def stopped_after_three(sink, key, value):
        write(sink, key, value)
        sent.append(value)
        if len(sent) == 3:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(KafkaSink, "write", stopped_after_three)
    topic = unique_topic()
    done = command(
        "replay", "synthetic:Friedman", "--topic", topic, "--bootstrap", broker.bootstrap
    ).ok()
    assert f"3 records sent to topic {topic}" in done.err
    assert [record.value for record in read_topic(broker.bootstrap, topic)] == sent


def test_a_replay_stops_wherever_the_signal_comes(broker, command, monkeypatch):
    """No moment of a signal leaves the replay waiting for itself, be it between two records or
    while it waits for the next one's time."""
    write = KafkaSink.write

    def stopped_soon(sink, key, value):
        if sink not in stopped:
            stopped.append(sink)
            Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
        write(sink, key, value)

    monkeypatch.setattr(KafkaSink, "write", stopped_soon)
    for rate in ("20000",) * 4 + ("0.01",):
        stopped, topic = [], unique_topic()
        stream = ("synthetic:Friedman", "--rate", rate, "--topic", topic)
        done = command("replay", *stream, "--bootstrap", broker.bootstrap).ok()
        sent = len(read_topic(broker.bootstrap, topic))
        assert f"{sent} records sent to topic {topic}" in done.err
