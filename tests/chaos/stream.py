"""The stream of the chaos tests."""

import json
import random
from collections.abc import Iterator

from support.kafka_topics import TransactionalWriter

KeyedRecord = tuple[bytes | None, bytes | None]

_TRANSACTION = 250


def event(number: int) -> KeyedRecord:
    """Return an event that depends on its number; 1 in 10 has no label, 1 in 50 is malformed."""
    draw = random.Random(number)
    if number % 50 == 49:
        return None, b'{"x": {"a": "%d"' % number
    x = {name: draw.uniform(-1, 1) for name in "abcd"}
    y = None if number % 10 == 5 else x["a"] * x["b"] + draw.gauss(0, 0.1)
    return None, json.dumps({"x": x, "y": y, "id": f"e{number}"}).encode()


class Feed:
    """Appends events to a topic, in transactions with aborted ones between them."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._writer = TransactionalWriter(bootstrap)
        self._topic = topic
        self._n_sent = 0

    def send(self, count: int) -> None:
        """Append `count` more events."""
        for numbers in chunks(range(self._n_sent, self._n_sent + count), _TRANSACTION):
            self._writer.commit(self._topic, map(event, numbers))
            self._writer.abort(self._topic, map(event, numbers[:7]))
        self._n_sent += count

    def close(self) -> None:
        """Close the producer."""
        self._writer.close()


def chunks(numbers: range, size: int) -> Iterator[range]:
    for first in range(0, len(numbers), size):
        yield numbers[first : first + size]
