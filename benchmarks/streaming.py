"""Overhead of the loop per event.

Usage: python benchmarks/streaming.py [--events N]
"""

import argparse
import json
import random
import statistics
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any

from prometheus_client.registry import CollectorRegistry
from river import base

from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.loop import Listener, PrequentialLoop
from iln_stream.loop.metrics import Metrics
from iln_stream.loop.outputs import PredictionWriter
from iln_stream.records import PredictionEncoder, decode, one_hot
from iln_stream.service import pool
from iln_stream.snapshots import Checkpoint, Positions, Saver, SnapshotFolder
from iln_stream.streams import Record, StreamPartition

_TURN = 250
"""Events that each variant takes before the next one's turn: short, so that whatever else the
machine does befalls all alike."""


class Batches:
    """A source of records in memory, all in one batch, like a broker's client."""

    stream, partitions, connected, lag = "benchmark", (0,), True, 0

    def __init__(self) -> None:
        self._left: list[Record] = []
        self._next_offset = 0

    def bring(self, payloads: list[bytes]) -> None:
        origin = StreamPartition("benchmark", 0)
        self._left = [Record(i, p, origin) for i, p in enumerate(payloads, self._next_offset)]
        self._next_offset += len(payloads)

    @property
    def exhausted(self) -> bool:
        return not self._left

    def poll(self, timeout: float) -> Sequence[Record]:
        batch, self._left = self._left, []
        return batch

    def close(self) -> None:
        pass


class Nowhere:
    """A sink that discards everything."""

    def write(self, key: str | None, value: bytes, timestamp: float | None = None) -> None:
        pass

    def send_queued(self) -> None:
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


class Bare:
    """Only decoding and learning."""

    def __init__(self, learner: base.Regressor) -> None:
        self._learner = learner

    def seconds(self, events: list[bytes]) -> float:
        """CPU seconds for these events."""
        learner = self._learner
        started = process_time()
        for payload in events:
            event = decode(payload)
            x = one_hot(event.x)
            learner.predict_one(x)
            learner.learn_one(x, event.y)
        return process_time() - started


class Whole:
    """The loop with metrics and snapshots, optionally with predictions."""

    def __init__(self, learner: base.Regressor, folder: str, predictions: bool) -> None:
        self._source = Batches()
        watched = Metrics(CollectorRegistry()).watch(learner, self._source, "benchmark")

        def never(positions: Positions) -> Any:
            raise AssertionError("no snapshot falls into the measurement")

        saver = Saver(SnapshotFolder(Path(folder)))
        checkpoint = Checkpoint(saver, never, {}, 10**9, 10**9, {0: 0})
        writers: list[Listener] = [
            PredictionWriter(Nowhere(), PredictionEncoder("benchmark", "benchmark/pool", "0" * 16))
        ] * predictions
        self._loop = PrequentialLoop(
            self._source, learner, [*writers, watched], checkpoint=checkpoint
        )

    def seconds(self, events: list[bytes]) -> float:
        """CPU seconds for these events."""
        self._source.bring(events)
        started = process_time()
        self._loop.run()
        return process_time() - started


LEARNERS: dict[str, Callable[[], base.Regressor]] = {
    "a pool of 512": lambda: ShrinkingGradient(estimator="pool", step=0.6, seed=1),
    "a pool of 512 behind River's pipeline, as `run --learner pool`": lambda: pool(seed=1),
}
"""Learners of the loop. The more code a learner runs, the colder the caches."""


def loop_cost(make: Callable[[], base.Regressor], count: int) -> None:
    """Print the loop's overhead: the median difference between neighbouring short turns."""
    events = payloads(count)
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        bare = Bare(make())
        wholes = {
            "metrics and snapshots": Whole(make(), one, False),
            "predictions, too": Whole(make(), other, True),
        }
        alone: list[float] = []
        added: dict[str, list[float]] = {name: [] for name in wholes}
        for start in range(0, count, _TURN):
            turn = events[start : start + _TURN]
            alone.append(bare.seconds(turn))
            for name, whole in wholes.items():
                added[name].append(whole.seconds(turn) - alone[-1])
        each = 1e6 / _TURN
        print(
            f"decode and learn alone: {each * statistics.median(alone):.1f} microseconds an event"
        )
        for name, found in added.items():
            low, middle, high = (each * value for value in statistics.quantiles(found, n=4))
            print(
                f"the loop adds, with {name}: {middle:.2f} microseconds ({low:.2f} to {high:.2f})"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, make in LEARNERS.items():
        print(f"{name}:")
        loop_cost(make, given.events)


if __name__ == "__main__":
    main()
