"""Floods of malformed payloads, and their effect on a run."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from kafka import KafkaProducer
from support.kafka_topics import create_topic, read_topic, unique_topic

from iln_stream.service import Service, Settings

Payload = bytes | None


def payloads(count: int, seed: int) -> Iterator[Payload]:
    """Return events, half of them malformed in various ways."""
    draw = random.Random(seed)
    for _ in range(count):
        payload: Payload = _good(draw)
        while payload is not None and draw.random() < 0.4:
            payload = draw.choice(_SPOILERS)(payload, draw)
        yield payload


def _good(draw: random.Random) -> bytes:
    x = {draw.choice("abcdefgh"): draw.choice(_VALUES)(draw) for _ in range(draw.randrange(6))}
    event = {"x": x, "y": draw.uniform(-3, 3)}
    if draw.random() < 0.3:
        del event["y"]
    if draw.random() < 0.3:
        event["id"] = str(draw.randrange(1000))
    if draw.random() < 0.2:
        event["timestamp"] = draw.choice(_TIMES)
    return json.dumps(event).encode()


_VALUES: list[Callable[[random.Random], object]] = [
    lambda draw: draw.uniform(-1, 1),
    lambda draw: draw.randrange(-(10**6), 10**6),
    lambda draw: draw.uniform(-1, 1) * 10.0 ** draw.randrange(-320, 300),
    lambda draw: draw.random() < 0.5,
    lambda draw: draw.choice(["grey", "=", "a=b", "", "ünï\u2028", "\x00", ":" * 9]),
    lambda draw: None,
]

_TIMES = (
    "2026-01-31T12:00:00Z",
    "0001-01-01T00:00:00+00:00",
    "9999-12-31T23:59:59-12:00",
    -1e12,
    0,
    1e300,
    "yesterday",
    "2026-01-31T12:00:00",
)

_INSERTS = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"9" * 5_000, b"\xff\xfe", b"\xed\xa0\x80",
    b"\\ud800", b"[" * 2_000, b'{"x":' * 2_000, b"null", b'"x":{},', b'"y":1,', b"\x00", b" " * 99,
    b"true", b'"', b"{", b"}", b",", b":",
)  # fmt: skip

_SPOILERS: list[Callable[[bytes, random.Random], Payload]] = [
    lambda payload, draw: payload[: draw.randrange(len(payload) + 1)],
    lambda payload, draw: payload * draw.randrange(3),
    lambda payload, draw: _put(payload, bytes([draw.randrange(256)]), draw, 1),
    lambda payload, draw: _put(payload, draw.choice(_INSERTS), draw, 0),
    lambda payload, draw: _put(payload, draw.choice(_INSERTS), draw, 1),
    lambda payload, draw: payload.replace(b": ", b": " + draw.choice(_INSERTS) + b", ", 1),
    lambda payload, draw: payload.replace(b'"x": {', b'"x": {"a": 1, "a": 2, ', 1),
    lambda payload, draw: draw.randbytes(draw.randrange(200)),
    lambda payload, draw: b"[%s]" % payload,
    lambda payload, draw: None,
]


def _put(payload: bytes, new: bytes, draw: random.Random, instead_of: int) -> bytes:
    place = draw.randrange(len(payload) + 1)
    return payload[:place] + new + payload[place + instead_of :]


class Coped(NamedTuple):
    """Results of a flood."""

    n_sent: int
    n_learned: int
    n_predicted_only: int
    n_dead_letters: int
    n_letters_stored: int
    n_blamed_on_the_learner: int

    def faults(self) -> list[str]:
        """Return each broken guarantee; empty if all hold."""
        found = []
        if self.n_learned + self.n_predicted_only + self.n_dead_letters != self.n_sent:
            found.append("payloads were lost")
        if self.n_letters_stored != self.n_dead_letters:
            found.append("letters were lost")
        if self.n_blamed_on_the_learner:
            found.append(f"{self.n_blamed_on_the_learner} letters blame the learner")
        return found

    def summary(self) -> str:
        """Return what happened."""
        return (
            f"{self.n_sent} payloads: {self.n_learned} learned, {self.n_predicted_only} predicted "
            f"only, {self.n_dead_letters} dead letters"
        )


def flood(bootstrap: str, folder: Path, count: int, seed: int) -> Coped:
    """Send `count` payloads with times that jump back and forth, and run a learner on them."""
    # Since Kafka 4, times an hour ahead are refused by default.
    any_time = {"message.timestamp.after.max.ms": str(2**63 - 1)}
    topic = create_topic(bootstrap, name=unique_topic("flood"), configs=any_time)
    draw = random.Random(seed + 1)
    producer = KafkaProducer(bootstrap_servers=bootstrap, linger_ms=20, batch_size=1 << 18)
    for payload in payloads(count, seed):
        at = draw.choice([1, 10**12, 1_700_000_000_000, 2 * 10**12])
        producer.send(topic, payload, key=b"k", partition=0, timestamp_ms=at)
    producer.flush()
    producer.close()
    service = Service(
        Settings.load(
            bootstrap=bootstrap,
            topic=topic,
            start="earliest",
            stop_at_end=True,
            snapshots=str(folder / "snapshots"),
            learner="pool",
            learner_options={"size": 32},
            metrics_port=0,
        )
    )
    service.run()
    watched = service.workers[0].watched
    scores = watched.scores
    letters = read_topic(bootstrap, f"{topic}-dead-letters")
    return Coped(
        count,
        scores.n_labelled,
        scores.n_events - scores.n_labelled,
        watched.n_dead_letters,
        len(letters),
        sum(b"the learner failed" in (letter.value or b"") for letter in letters),
    )
