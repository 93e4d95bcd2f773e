"""What the loop adds to each event, and events a second from a real broker, by both clients.

Usage: PYTHONPATH=tests python benchmarks/streaming.py [--events 200000] [--repeats 3]
"""

import argparse
import json
import random
import statistics
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from prometheus_client.registry import CollectorRegistry
from support.kafka_broker import KafkaBroker
from support.kafka_topics import create_topic, produce

from iln_stream.events import decode, one_hot
from iln_stream.listeners import Metrics, PredictionWriter, Snapshotter
from iln_stream.prequential import Listener, PrequentialLoop
from iln_stream.service import Service, Settings, pool
from iln_stream.snapshots import Saver, SnapshotFolder
from iln_stream.sources import Record


class Batches:
    """Records in memory, handed out as a broker's client does."""

    stream, partition, connected, lag = "benchmark", 0, True, 0

    def __init__(self, payloads: list[bytes]) -> None:
        self._left = [Record(i, payload, 1.7e9) for i, payload in enumerate(payloads)]

    @property
    def exhausted(self) -> bool:
        return not self._left

    def poll(self, timeout: float) -> Sequence[Record]:
        batch, self._left = self._left[:5_000], self._left[5_000:]
        return batch

    def close(self) -> None:
        pass


class Nowhere:
    """A sink that takes everything."""

    def write(self, key: str | None, value: bytes) -> None:
        pass

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def payloads(count: int, d: int = 10) -> list[bytes]:
    draw = random.Random(1)
    made = []
    for _ in range(count):
        x = {f"x{j}": draw.uniform(-1, 1) for j in range(d)}
        made.append(json.dumps({"x": x, "y": x["x0"] * x["x1"]}).encode())
    return made


def bare(events: list[bytes]) -> float:
    """CPU seconds for decoding and learning alone."""
    learner = pool(seed=1)
    started = process_time()
    for payload in events:
        event = decode(payload)
        x = one_hot(event.x)
        learner.predict_one(x)
        learner.learn_one(x, event.y)
    return process_time() - started


def whole(events: list[bytes], folder: Path, predictions: bool) -> float:
    """CPU seconds for the loop with its metrics and snapshots, perhaps with predictions, too."""
    learner, source = pool(seed=1), Batches(events)
    watched = Metrics(CollectorRegistry()).watch(learner, source, "benchmark")

    def never(next_offset: int) -> Any:
        raise AssertionError("no snapshot falls into the measurement")

    snapshotter = Snapshotter(never, Saver(SnapshotFolder(folder)), 10**9, 10**9, 0)
    writers: list[Listener] = [PredictionWriter(Nowhere(), "benchmark", 0)] if predictions else []
    loop = PrequentialLoop(source, learner, [*writers, watched, snapshotter])
    started = process_time()
    loop.run()
    return process_time() - started


def loop_cost(count: int, repeats: int) -> None:
    events = payloads(count)
    bare(events[:2_000])  # compiles before the clock runs
    with tempfile.TemporaryDirectory() as folder:
        costs: dict[str, list[float]] = {"metrics and snapshots": [], "predictions, too": []}
        for _ in range(repeats):
            alone = bare(events)
            for found, predictions in zip(costs.values(), (False, True), strict=True):
                cost = 1e6 * (whole(events, Path(folder), predictions) - alone) / count
                found.append(cost)
            print(f"decode and learn alone: {1e6 * alone / count:.1f} microseconds an event")
        for name, found in costs.items():
            print(f"the loop adds, with {name}: {statistics.median(found):.2f} microseconds")


def end_to_end(count: int, repeats: int) -> None:
    with tempfile.TemporaryDirectory() as folder, KafkaBroker(Path(folder) / "kafka") as broker:
        topic = create_topic(broker.bootstrap)
        produce(broker.bootstrap, topic, [(None, payload) for payload in payloads(count)])
        for client in ("kafka-python", "confluent") * repeats:
            service = Service(
                Settings.load(
                    bootstrap=broker.bootstrap,
                    topic=topic,
                    start="earliest",
                    stop_at_end=True,
                    kafka_client=client,
                    learner="pool",
                    snapshots=f"{folder}/{client}-{random.random()}",
                    metrics_port=0,
                )
            )
            started = perf_counter()
            service.run()
            print(f"{client}: {count / (perf_counter() - started):,.0f} events a second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=3, help="of the end-to-end runs")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    loop_cost(given.events // 10, 2 * given.repeats + 1)
    end_to_end(given.events, given.repeats)


if __name__ == "__main__":
    main()
