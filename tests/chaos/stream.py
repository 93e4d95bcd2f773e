"""The stream of the chaos tests."""

import json
import random
from collections.abc import Iterator

KeyedRecord = tuple[bytes | None, bytes | None]


def event(number: int) -> KeyedRecord:
    """Return an event that depends on its number; 1 in 10 has no label, 1 in 50 is malformed."""
    draw = random.Random(number)
    if number % 50 == 49:
        return None, b'{"x": {"a": "%d"' % number
    x = {name: draw.uniform(-1, 1) for name in "abcd"}
    y = None if number % 10 == 5 else x["a"] * x["b"] + draw.gauss(0, 0.1)
    return None, json.dumps({"x": x, "y": y, "id": f"e{number}"}).encode()


def chunks(numbers: range, size: int) -> Iterator[range]:
    for first in range(0, len(numbers), size):
        yield numbers[first : first + size]
