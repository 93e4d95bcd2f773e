"""`iln-stream` processes on a real broker, from end to end."""

import hashlib
import json
import re
from typing import Any

import pytest
from kafka.consumer.fetcher import ConsumerRecord
from river import datasets, evaluate, metrics
from support.kafka_broker import KafkaBroker
from support.kafka_topics import create_topic, produce, read_topic, unique_topic
from support.running_command import Command, Start

from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor

N_TRUMP = 1001
A_FEW_AT_A_TIME = '{"max_poll_records": 50, "max_partition_fetch_bytes": 20000}'
SMALL_AND_QUICK = '{"profile": "fast"}'


def finished(command: Command) -> str:
    """Wait for exit code 0, and return the output."""
    assert command.wait() == 0, command.said
    return command.said


def run_of(bootstrap: str, topic: str, *more: str) -> list[str]:
    """Return the arguments of a run from a topic to `<topic>-predictions`, with /metrics."""
    predictions = f"--predictions=kafka:{topic}-predictions"
    from_kafka = [f"--bootstrap={bootstrap}", f"--topic={topic}", "--start=earliest"]
    return ["run", *from_kafka, predictions, "--metrics-port=0", *more]


def as_json(records: list[ConsumerRecord]) -> list[dict[str, Any]]:
    return [json.loads(record.value) for record in records]


def predictions(bootstrap: str, topic: str) -> list[dict[str, Any]]:
    return as_json(read_topic(bootstrap, f"{topic}-predictions"))


def learned_offline(events: Any) -> list[float]:
    """Return the predictions of the same learner in River's own loop."""
    steps = evaluate.iter_progressive_val_score(
        events, InfiniteLayerRegressor(seed=1), metrics.MAE(), yield_predictions=True
    )
    return [step["Prediction"] for step in steps]


def event(x: float, y: float | None = None, **more: Any) -> bytes:
    label = {} if y is None else {"y": y}
    return json.dumps({"x": {"a": x, "b": -x * x}, **label, **more}).encode()


# From replay to predictions


def test_a_stream_through_kafka_is_learned_as_offline(broker: KafkaBroker, start: Start) -> None:
    """One prediction per event, in order, equal to those of River's loop to the last bit."""
    topic = unique_topic("trump")
    sent = finished(
        start("replay", "river:TrumpApproval", "--topic", topic, "--bootstrap", broker.bootstrap)
    )
    assert f"{N_TRUMP} records sent to topic {topic}" in sent
    said = finished(start(*run_of(broker.bootstrap, topic, "--stop-at-end")))
    assert f"{N_TRUMP:,} events, 0 dead letters" in said
    found = predictions(broker.bootstrap, topic)
    assert [each["offset"] for each in found] == list(range(N_TRUMP))
    assert [each["y"] for each in found] == [y for _, y in datasets.TrumpApproval()]
    assert {(each["stream"], each["partition"]) for each in found} == {(topic, 0)}
    assert [each["y_pred"] for each in found] == learned_offline(datasets.TrumpApproval())


@pytest.mark.thorough
def test_classes_through_kafka(broker: KafkaBroker, start: Start) -> None:
    """A stream of classes is replayed, learned, and predicted with the probabilities of River's own
    loop, by a run that stops in between and resumes from its snapshot."""
    topic = unique_topic("phishing")
    finished(start("replay", "river:Phishing", "--topic", topic, "--bootstrap", broker.bootstrap))
    arguments = run_of(
        broker.bootstrap, topic, "--learner=infinite-layer-classifier", "--snapshots=state"
    )
    running = start(*arguments)
    running.wait_for_metrics(lambda now: now["iln_events_total"] > 100)
    assert running.terminate() == 0
    said = finished(start(*arguments, "--stop-at-end"))
    assert re.search(
        r"1,250 events, 0 dead letters; log loss 0\.\d+, .*; accuracy 0\.9\d+", said
    ), said
    found = predictions(broker.bootstrap, topic)
    assert [each["offset"] for each in found] == list(range(1250))
    learner = InfiniteLayerClassifier(seed=1)
    for (x, y), each in zip(datasets.Phishing(), found, strict=True):
        expected = learner.predict_proba_one(x)
        assert {of["class"]: of["p"] for of in each["probabilities"]} == expected
        label = 1 if y else -1  # a River dataset's booleans are replayed as -1 and 1
        assert each["y"] == label
        learner.learn_one(x, label)


@pytest.mark.parametrize(
    ("client", "transactional"),
    [("kafka-python", False), pytest.param("confluent", True, marks=pytest.mark.thorough)],
)
def test_predictions_stay_with_their_key(
    broker: KafkaBroker, start: Start, client: str, transactional: bool
) -> None:
    """A prediction has the key of its event and lies in the partition of the same number, so that
    a consumer of both topics finds them together."""
    topic = create_topic(broker.bootstrap, partitions=3)
    keys = [b"a", b"caf\xe9", None]
    for partition, key in enumerate(keys):
        records = [(key, event(i % 5, i % 2, id=str(i))) for i in range(20)]
        produce(broker.bootstrap, topic, records, partition=partition)
    more = ["--kafka-client", client, "--learner=pool", *["--transactional"] * transactional]
    finished(start(*run_of(broker.bootstrap, topic, "--stop-at-end", *more)))
    for partition, key in enumerate(keys):
        records_of = read_topic(broker.bootstrap, f"{topic}-predictions", partition)
        found = as_json(records_of)
        assert [each["offset"] for each in found] == list(range(20))
        assert {each["partition"] for each in found} == {partition}
        readable = None if key is None else key.decode(errors="backslashreplace")
        assert {each["key"] for each in found} == {readable}
        sent = [str(i).encode() for i in range(20)] if key is None else [key] * 20
        assert [record.key for record in records_of] == sent
        assert all(each["time"] is not None for each in found)


MALFORMED = {
    "bad JSON": (b'{"x": {"a": 1', "JSON"),
    "NaN": (b'{"x": {"a": NaN}, "y": 1}', "finite"),
    "label as text": (b'{"x": {"a": 1}, "y": "1"}', "y"),
    "tombstone": (None, "no value"),
    "not UTF-8": (b'{"x": {"caf\xe9": 1}}', "event"),
    "200 kB": (b"[" * 200_000, "JSON"),
}


def test_what_is_no_event_is_kept_apart(broker: KafkaBroker, topic: str, start: Start) -> None:
    """Each record becomes a prediction, or a dead letter with reason and payload, and the learner
    does not learn from dead letters."""
    good = [(float(i % 7), float(i % 3)) for i in range(10 * len(MALFORMED))]
    values: list[bytes | None] = []
    for number, (payload, _) in enumerate(MALFORMED.values()):
        values += [event(x, y) for x, y in good[10 * number : 10 * number + 10]]
        values += [payload, event(0.5, id=f"unlabelled-{number}")]
    produce(broker.bootstrap, topic, [(b"key", value) for value in values])
    said = finished(start(*run_of(broker.bootstrap, topic, "--stop-at-end")))
    assert f"{len(good) + len(MALFORMED)} events, {len(MALFORMED)} dead letters" in said

    letters = as_json(read_topic(broker.bootstrap, f"{topic}-dead-letters"))
    assert len(letters) == len(MALFORMED)
    for number, (letter, (payload, reason)) in enumerate(
        zip(letters, MALFORMED.values(), strict=True)
    ):
        payload = payload or b""
        assert (letter["stream"], letter["partition"]) == (topic, 0)
        assert letter["offset"] == 12 * number + 10
        assert reason in letter["reason"]
        shown = payload[: 64 * 1024].decode(errors="backslashreplace")
        assert letter["payload"] == shown
        assert letter["payload_bytes"] == len(payload)
        assert letter["payload_sha256"] == hashlib.sha256(payload).hexdigest()
        assert letter["truncated"] is (len(payload) > 64 * 1024)

    found = predictions(broker.bootstrap, topic)
    dead = {letter["offset"] for letter in letters}
    assert [each["offset"] for each in found] == [i for i in range(len(values)) if i not in dead]
    scored = [each["y_pred"] for each in found if each["y"] is not None]
    assert scored == learned_offline([({"a": x, "b": -x * x}, y) for x, y in good])
    assert [each["id"] for each in found if each["y"] is None] == [
        f"unlabelled-{number}" for number in range(len(MALFORMED))
    ]


# A live process


@pytest.mark.thorough
def test_a_run_outlives_its_broker(stoppable: KafkaBroker, start: Start) -> None:
    """The run waits during an outage, then learns the other events, each once."""
    topic = unique_topic("outage")
    bootstrap = stoppable.bootstrap
    finished(
        start("replay", "synthetic:Friedman", "--limit=4000", f"--topic={topic}",
              f"--bootstrap={bootstrap}")
    )  # fmt: skip
    running = start(
        *run_of(bootstrap, topic),
        *("--learner-options", SMALL_AND_QUICK),
        *("--kafka-options", A_FEW_AT_A_TIME),
    )
    running.wait_for_metrics(lambda now: now["iln_events_total"] > 100)
    stoppable.stop()
    seen = running.wait_for_metrics(lambda now: now["iln_events_total"] > 100)
    assert seen["iln_consumer_lag_records"] > 0, "everything had been read before the outage"
    stoppable.start()
    assert running.runs, running.said
    produce(bootstrap, topic, [(None, event(1.0, 1.0))] * 1_000)
    running.wait_for_metrics(
        lambda now: now["iln_events_total"] == 5_000 and now["iln_consumer_lag_records"] == 0
    )
    assert running.terminate() == 0, running.said
    assert [each["offset"] for each in predictions(bootstrap, topic)] == list(range(5_000))
    assert "5,000 events, 0 dead letters" in running.said


@pytest.mark.thorough
def test_an_outage_too_long_ends_the_run(stoppable: KafkaBroker, start: Start) -> None:
    """The run ends with an error if predictions can't be stored in time."""
    topic = create_topic(stoppable.bootstrap)
    produce(stoppable.bootstrap, topic, [(None, event(1.0, 1.0))] * 20_000)
    soon = '{"request_timeout_ms": 1000, "fetch_max_wait_ms": 100, "delivery_timeout_ms": 2000}'
    running = start(*run_of(stoppable.bootstrap, topic, "--kafka-options", soon))
    running.wait_for_metrics(lambda now: now["iln_events_total"] > 100)
    stoppable.stop()
    assert running.wait() == 2, running.said
    assert f"error: topic {topic}-predictions did not take a message" in running.said
    assert "Traceback" not in running.said
