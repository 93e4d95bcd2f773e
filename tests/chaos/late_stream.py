"""A stream of events, and of labels that come in records of their own, in another order."""

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from chaos.stream import KeyedRecord

_BEGIN = 1_700_000_000.0
_PAUSE = 86_400.0
_WRONG = (datetime(2099, 1, 1, tzinfo=UTC).timestamp(), 0.0)

Known = Callable[[dict[str, Any], random.Random], object]
"""Returns the label of an event's inputs."""


def number(x: dict[str, Any], draw: random.Random) -> float:
    return float(x["a"] * x["b"] + draw.gauss(0, 0.1))


def kind(x: dict[str, Any], draw: random.Random) -> bool:
    return bool(x["a"] * x["b"] + draw.gauss(0, 0.1) > 0)


def late_records(count: int, seed: int, known: Known, longest: int = 4_000) -> list[KeyedRecord]:
    """Return `count` records; the longest delay of a label is about `2 * longest` records.

    Labels come from 20 events before theirs to `longest` events after it, in any order, or never.
    Some come twice, or are corrected; some events come again, after a short or a long time, or with
    their label. Some records are malformed, or have a weight, which not every learner takes, or a
    wrong time or none. A record comes each second; twice the stream pauses for a day.
    """
    draw = random.Random(seed)
    planned: list[tuple[float, int, dict[str, Any]]] = []

    def plan(place: float, **message: Any) -> None:
        if draw.random() < 0.03:
            message["weight"] = draw.choice([0.5, 1.0, 2.0])
        planned.append((place, len(planned), message))

    for n in range(count):
        x = _inputs(draw)
        y = known(x, draw)
        plan(n, id=f"e{n}", x=x)
        if draw.random() < 0.04:
            plan(n + draw.choice([3, 60, longest]) * draw.random(), id=f"e{n}", x=x)
        if draw.random() < 0.02:
            plan(n + 500 * draw.random(), id=f"e{n}", x=x, y=y)
        if (delay := _delay(draw, longest)) is None:
            continue
        plan(n + delay, id=f"e{n}", y=y)
        if draw.random() < 0.05:
            again = known(_inputs(draw), draw) if draw.random() < 0.5 else y
            spread = draw.choice([-30, 30, longest])
            plan(n + delay + spread * draw.random(), id=f"e{n}", y=again)
    planned.sort(key=lambda each: each[:2])
    return _written([message for *_, message in planned[:count]], draw)


def _inputs(draw: random.Random) -> dict[str, Any]:
    x: dict[str, Any] = {name: draw.uniform(-1, 1) for name in "abcd"}
    x |= {"n": draw.randrange(5), "up": draw.random() < 0.5, "sky": draw.choice(["grey", "blue"])}
    if draw.random() < 0.1:
        del x[draw.choice(["c", "d", "n", "sky"])]
    return x


def _delay(draw: random.Random, longest: int) -> float | None:
    """Return after how many events a label comes; None: never."""
    u = draw.random()
    if u < 0.04:
        return -20 * draw.random()
    if u < 0.45:
        return 60 * draw.random()
    if u < 0.9:
        return longest * draw.random() ** 2
    return None


def _written(messages: list[dict[str, Any]], draw: random.Random) -> list[KeyedRecord]:
    """Give the messages times, and return their records."""
    now = _BEGIN
    records: list[KeyedRecord] = []
    pauses = {len(messages) // 3, 2 * len(messages) // 3}
    for place, message in enumerate(messages):
        now += _PAUSE if place in pauses else 1.0
        if (u := draw.random()) > 0.02:
            message["timestamp"] = draw.choice(_WRONG) if u > 0.98 else now + draw.uniform(-5, 5)
        value = json.dumps(message).encode()
        records.append((None, value[:-9] if draw.random() < 0.02 else value))
    return records
