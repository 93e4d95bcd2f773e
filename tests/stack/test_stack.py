"""The stack, running: from the producer's events to metrics, predictions and dead letters.

The tests share one stack and run in this order; the last ones stop parts of it.
"""

import json
import math
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import pytest
from kafka import KafkaConsumer, TopicPartition
from prometheus_client.parser import text_string_to_metric_families
from stack.compose import Compose, ComposeError, eventually
from support.kafka_topics import produce

# The first test waits for the image to be built and the stack to come up.
pytestmark = pytest.mark.timeout(1200)

FIRST_USE = """
import gc
from iln_stream import InfiniteLayerRegressor
from iln_stream.kernels.jit import InliningDispatcher
model = InfiniteLayerRegressor()
for t in range(70):
    model.predict_one({"a": t % 7, "b": t % 3})
    model.learn_one({"a": t % 7, "b": t % 3}, t % 5)
found = [each.stats for each in gc.get_objects() if isinstance(each, InliningDispatcher)]
for counts in ("cache_hits", "cache_misses"):
    print(sum(sum(getattr(each, counts).values()) for each in found))
"""

LEARNING = ("iln_running_loss", "iln_shrink_frequency", "iln_alpha_l1")


def test_producers_events_are_learned(stack: Compose) -> None:
    """Protects the main path: the producer's events are learned, and the metrics count them."""
    before = eventually(lambda: metrics(stack), lambda now: now["iln_events_total"] > 0)
    after = eventually(
        lambda: metrics(stack),
        lambda now: now["iln_events_total"] >= before["iln_events_total"] + 100,
    )

    assert after["iln_labelled_events_total"] == after["iln_events_total"]
    assert after["iln_dead_letters_total"] == 0
    assert all(math.isfinite(after[name]) for name in LEARNING)
    assert after["iln_alpha_l1"] > 0


def test_prometheus_sees_learner_and_api(stack: Compose) -> None:
    """Protects dashboard and alerts: the targets are up and their metrics are stored."""
    targets = eventually(
        lambda: prometheus(stack, "targets")["activeTargets"],
        lambda found: [target["health"] for target in found] == ["up", "up"],
    )
    assert {target["labels"]["job"] for target in targets} == {"iln-api", "iln-learner"}

    for name in LEARNING:
        found = eventually(lambda name=name: query(stack, name), bool)  # type: ignore[misc]
        assert found[0]["metric"]["model"] == "iln-events/infinite-layer"


def test_every_event_has_its_prediction(stack: Compose) -> None:
    """Protects the service's product: one prediction for each event, in the topic's order."""
    predictions = eventually(
        lambda: read_topic(stack, "iln-predictions"), lambda found: len(found) >= 100
    )

    assert [prediction["offset"] for prediction in predictions] == list(range(len(predictions)))
    assert {prediction["stream"] for prediction in predictions} == {"iln-events"}
    assert all(math.isfinite(prediction["y_pred"]) for prediction in predictions)


def test_malformed_message_becomes_a_dead_letter(stack: Compose) -> None:
    """Protects the stream from a poison message, and the message from being lost."""
    (offset,) = produce(bootstrap(stack), "iln-events", [(None, b'{"x": {"a": 1}, "y": "two"}')])

    (letter,) = eventually(lambda: read_topic(stack, "iln-events-dead-letters"), bool)
    assert letter["offset"] == offset
    assert letter["payload"] == '{"x": {"a": 1}, "y": "two"}'
    assert letter["reason"].startswith("y: ")
    learned = metrics(stack)["iln_events_total"]
    eventually(lambda: metrics(stack)["iln_events_total"], lambda now: now > learned)


def test_learner_is_confined(stack: Compose) -> None:
    """Protects the machine from whatever a message might make the learner do."""
    show = "print(open('/proc/1/status').read())"
    status = stack("exec", "-T", "learner", "python", "-c", show)

    assert re.search(r"^Uid:\s+10001\s", status, re.MULTILINE)
    assert re.search(r"^Cap(Eff|Bnd):\s+0+$", status, re.MULTILINE)
    assert re.search(r"^NoNewPrivs:\s+1$", status, re.MULTILINE)
    with pytest.raises(ComposeError, match="Read-only file system"):
        stack("exec", "-T", "learner", "touch", "/opt/iln_stream/new")


def test_image_compiles_nothing(stack: Compose) -> None:
    """Protects a container's first second: the loops were compiled when the image was built."""
    hits, misses = map(int, stack("exec", "-T", "learner", "python", "-c", FIRST_USE).split())

    assert (hits > 10, misses) == (True, 0)
    assert "compil" not in stack("logs", "learner")


def test_stopping_the_producer_loses_nothing(stack: Compose) -> None:
    """Protects the producer's events: all that it has reported as sent reach the learner."""
    stack("stop", "producer")

    assert stack.exit_code("producer") == 0
    sent = n_sent(stack)
    eventually(lambda: metrics(stack)["iln_events_total"], lambda now: now == sent)


def test_learner_stops_cleanly_and_goes_on(stack: Compose) -> None:
    """Protects a deployment: SIGTERM ends the learner in time, and a new start resumes from its
    snapshot without learning or publishing anything again."""
    before = metrics(stack)
    began = time.monotonic()
    stack("stop", "learner")

    assert time.monotonic() - began < 30  # its stop_grace_period, after which it would be killed
    assert stack.exit_code("learner") == 0
    assert len(read_topic(stack, "iln-predictions")) == n_sent(stack)

    stack("start", "learner")  # without the producer, it could only learn repeats
    after = eventually(lambda: metrics(stack), lambda now: now.get("iln_consumer_lag_records") == 0)
    counted = ("iln_events_total", "iln_labelled_events_total", "iln_dead_letters_total")
    assert {name: after[name] for name in counted} == {name: before[name] for name in counted}
    assert after["iln_alpha_l1"] == before["iln_alpha_l1"]
    assert len(read_topic(stack, "iln-predictions")) == n_sent(stack)


def test_killed_learner_goes_on_in_a_new_container(stack: Compose) -> None:
    """Protects the learner's state from SIGKILL and from the loss of the container: the volume
    keeps it, and each event is learned exactly once."""
    before = metrics(stack)["iln_events_total"]
    saved = read_topic(stack, "iln-predictions")[-1]["offset"]  # when it was stopped
    stack("start", "producer")
    eventually(lambda: metrics(stack)["iln_events_total"], lambda now: now > before + 100)
    stack("kill", "learner")
    stack("rm", "--force", "learner")
    stack("up", "--detach", "--no-deps", "--no-build", "--pull", "never", "learner")

    after = eventually(lambda: metrics(stack), lambda now: "iln_events_total" in now)
    assert after["iln_events_total"] >= before
    stack("stop", "producer")
    assert stack.exit_code("producer") == 0
    sent = n_sent(stack)
    eventually(lambda: metrics(stack)["iln_events_total"], lambda now: now == sent)
    values: dict[int, list[float]] = {}
    for prediction in read_topic(stack, "iln-predictions"):
        values.setdefault(prediction["offset"], []).append(prediction["y_pred"])
    assert len(values) == sent
    assert {len(set(each)) for each in values.values()} == {1}  # repeats say the same
    assert {len(each) for offset, each in values.items() if offset <= saved} == {1}


def test_rebuild_in_a_container(stack: Compose) -> None:
    """Protects the way out of a refused state that the README names."""
    stack("stop", "learner")
    before = len(read_topic(stack, "iln-predictions"))

    rebuild = ("run", "--rm", "learner", "rebuild", "--config", "/services/learner.toml")
    stack(*rebuild, timeout=300)
    stack("start", "learner")
    after = eventually(lambda: metrics(stack), lambda now: now.get("iln_consumer_lag_records") == 0)
    assert after["iln_events_total"] == n_sent(stack)
    assert len(read_topic(stack, "iln-predictions")) == before


def test_an_event_sent_to_the_api_is_learned(stack: Compose) -> None:
    """Protects users without a Kafka client: an event sent by HTTP is in the topic where the answer
    says, and is learned; sent again under its id, it is not learned again. Without the token
    nothing is answered."""
    with pytest.raises(urllib.error.HTTPError, match="401"):
        get(f"http://127.0.0.1:{stack.api_port}/model")
    before = metrics(stack)["iln_events_total"]
    event = {"x": {"0": 0.5, "1": 0.25}, "y": 12.5, "id": "from-the-api"}
    (first,), (again,) = (api(stack, "/events", event)["appended"] for _ in range(2))

    assert again["offset"] > first["offset"]
    found = eventually(
        lambda: [p for p in read_topic(stack, "iln-predictions") if p["offset"] >= first["offset"]],
        bool,
    )
    assert [(each["offset"], each["id"]) for each in found] == [(first["offset"], "from-the-api")]
    eventually(lambda: metrics(stack)["iln_consumer_lag_records"], lambda lag: lag == 0)
    assert metrics(stack)["iln_events_total"] == before + 1


def test_the_api_predicts_the_same_after_a_restart(stack: Compose) -> None:
    """Protects a web application: the API predicts with a version that is current, and with the
    same result after learner and API were stopped and started."""
    learned = metrics(stack)["iln_events_total"]
    x = {"x": {"0": 0.5, "1": 0.25}}
    before = eventually(
        lambda: api(stack, "/predict", x), lambda now: now["model"]["n_learned"] >= learned
    )
    assert before["predictions"][0]["interval"]["lower"] <= before["predictions"][0]["y_pred"]

    stack("stop", "api", "learner")
    assert (stack.exit_code("api"), stack.exit_code("learner")) == (0, 0)
    stack("start", "learner", "api")
    eventually(lambda: metrics(stack), lambda now: now.get("iln_consumer_lag_records") == 0)
    after = eventually(lambda: api(stack, "/predict", x), lambda now: "predictions" in now)
    assert after["predictions"] == before["predictions"]


def api(stack: Compose, path: str, body: dict[str, Any]) -> Any:
    """Return the API's answer to a request with the stack's token."""
    token = stack("exec", "-T", "api", "cat", "/var/lib/iln-api/token").strip()
    request = urllib.request.Request(
        f"http://127.0.0.1:{stack.api_port}{path}",
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    return json.loads(get(request))


def metrics(stack: Compose) -> dict[str, float]:
    """Return the learner's /metrics, histograms left out."""
    text = get(f"http://127.0.0.1:{stack.learner_port}/metrics").decode()
    samples = [
        sample
        for family in text_string_to_metric_families(text)
        if family.type != "histogram"
        for sample in family.samples
    ]
    return {sample.name: sample.value for sample in samples}


def prometheus(stack: Compose, path: str) -> Any:
    """Return the data of an answer of Prometheus's HTTP API."""
    return json.loads(get(f"http://127.0.0.1:{stack.prometheus_port}/api/v1/{path}"))["data"]


def query(stack: Compose, expression: str) -> Any:
    """Return the series of an instant query."""
    return prometheus(stack, "query?" + urllib.parse.urlencode({"query": expression}))["result"]


def get(address: str | urllib.request.Request) -> bytes:
    """Return the answer of a URL, bypassing any proxy."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(address, timeout=5) as answer:
        body: bytes = answer.read()
    return body


def bootstrap(stack: Compose) -> str:
    """Return the broker's address for this machine."""
    return f"127.0.0.1:{stack.kafka_port}"


def read_topic(stack: Compose, topic: str) -> list[dict[str, Any]]:
    """Return all messages of a topic."""
    partition = TopicPartition(topic, 0)
    found: list[dict[str, Any]] = []
    with KafkaConsumer(bootstrap_servers=bootstrap(stack), group_id=None) as consumer:
        consumer.assign([partition])
        consumer.seek_to_beginning(partition)
        end = consumer.end_offsets([partition])[partition]
        while consumer.position(partition) < end:
            batch = consumer.poll(timeout_ms=1000).get(partition, ())
            found += [json.loads(message.value) for message in batch]
    return found


def n_sent(stack: Compose) -> int:
    """Return the total number of events that the producer reported as sent, over all its runs."""
    return sum(map(int, re.findall(r"(\d+) records sent", stack("logs", "producer"))))
