"""Events by key, the plain loop over them, and a key's state in memory."""

import json
import random
from collections.abc import Iterable
from typing import Any, Self

from iln_stream.learners import model_of
from iln_stream.spark.stored import Meta
from iln_stream.state import from_bytes
from iln_stream.streams import Record
from support.list_source import LIST


class KeyInMemory:
    """A key's variables, as the state store has them; `calls` counts the writes by name."""

    def __init__(self) -> None:
        self.stored: Meta | None = None
        self.data = b""
        self.list: list[tuple[str, bytes]] = []
        self.appended_bytes = 0
        self.n_replaced = 0

    def meta(self) -> Meta | None:
        return self.stored

    def learner(self) -> bytes:
        return self.data

    def blocks(self) -> Iterable[tuple[str, bytes]]:
        return list(self.list)

    def write_meta(self, meta: Meta) -> None:
        self.stored = meta

    def write_learner(self, data: bytes) -> None:
        self.data = data

    def append_blocks(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        new = list(blocks)
        self.appended_bytes += sum(len(content) for _, content in new)
        self.list += new

    def replace_blocks(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        self.n_replaced += 1
        self.list = list(blocks)

    def copy(self) -> Self:
        other = type(self)()
        other.stored, other.data, other.list = self.stored, self.data, list(self.list)
        return other


def keyed_events(n: int, n_keys: int, seed: int = 1) -> list[tuple[str, dict[str, Any]]]:
    """Return events with their keys; each key has a level and a slope of its own."""
    rng = random.Random(seed)
    events = []
    for _ in range(n):
        k = rng.randrange(n_keys)
        x = {f"x{i}": round(rng.gauss(0, 1), 4) for i in range(4)}
        y = round(k % 7 + (1 + k % 3) * x["x0"] - x["x1"] + 0.1 * rng.gauss(0, 1), 4)
        events.append((f"k{k}", {"x": x, "y": y}))
    return events


def records_of(events: Iterable[dict[str, Any]], key: str, first: int = 0) -> list[Record]:
    """Return events of one key as records of partition 0."""
    return [
        Record(first + i, json.dumps(event).encode(), LIST, 1.5, key)
        for i, event in enumerate(events)
    ]


def plain_loop(prior: bytes, events: Iterable[dict[str, Any]]) -> tuple[Any, list[float]]:
    """Return the learner that `predict_one`, `learn_one` leaves, and its predictions."""
    learner: Any = model_of(from_bytes(prior))
    predictions = []
    for event in events:
        predictions.append(float(learner.predict_one(event["x"])))
        learner.learn_one(event["x"], event["y"])
    return learner, predictions


def stored_learners(spark: Any, checkpoint: Any) -> dict[str, Any]:
    """Return each key's small part in a checkpoint's state store."""
    spark.streams.active  # noqa: B018 - starts what reading a state store needs
    store = spark.read.format("statestore").option("stateVarName", "meta")
    rows = store.load(str(checkpoint)).select("key.*", "value.*").collect()
    return {bytes(row["group"]).decode(): row for row in rows}
