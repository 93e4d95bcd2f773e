"""What waiting for late labels costs: memory, checkpoints, and processor time of each event.

Usage: python -m benchmarks.late_store [memory | time] [--events N] [--token K] [--chunks C]
"""

import argparse
import gc
import json
import os
import platform
import random
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

import numpy as np
from river import base

from iln_stream.loop import Details, LateLabels, LatePolicy, PrequentialLoop, Regression
from iln_stream.records import EnvelopeDecoder, Example
from iln_stream.snapshots import Checkpoint, Header, Saver, SnapshotFolder
from iln_stream.streams import Record, StreamPartition

D = 10
"""Inputs of an event."""

CHUNK = 4096
"""Events between two looks at the clock: two blocks of the store."""

_PAYLOADS = 10_000

ORIGIN = StreamPartition("benchmark", 0)


class Constant(base.Regressor):
    """Learns nothing, so that the time is that of everything else."""

    def predict_one(self, x: dict[str, float]) -> float:
        return 0.5

    def learn_one(self, x: dict[str, float], y: float) -> None:
        pass


class ConstantLate(Constant):
    """The same with tokens."""

    def __init__(self, n_token: int) -> None:
        self.n_token = n_token
        self._token = np.zeros(n_token)

    def predict_token(self, x: dict[str, float]) -> tuple[float, Any]:
        return 0.5, self._token.copy()

    def learn_token(self, x: dict[str, float], token: Any, y: float) -> None:
        pass


class Feed:
    """A loop with records that are given to it; its source is never asked."""

    stream = "benchmark"
    partitions = (0,)
    connected = exhausted = True
    lag = None

    def __init__(self, late: LateLabels | None = None, n_token: int = 0) -> None:
        self.late = late
        learner = ConstantLate(n_token) if n_token else Constant()
        self._loop = PrequentialLoop(self, learner, late=late, decoder=decoded, details=interval)
        self._n = 0

    def poll(self, timeout: float) -> Sequence[Record]:
        return ()

    def close(self) -> None:
        """Nothing is open."""

    def run(self, examples: Iterable[Example]) -> float:
        """Process these; return the processor time in seconds."""
        records = [Record(n, each, ORIGIN) for n, each in enumerate(examples, self._n)]  # type: ignore[arg-type]
        self._n += len(records)
        # A source hands out few records at a time; the many of this one must not slow the
        # collector of garbage.
        gc.freeze()
        began = process_time()
        self._loop._process(records)
        return process_time() - began

    def fill(self, n: int) -> None:
        """Let the events 0 to n wait."""
        for first in range(0, n, CHUNK):
            self.run(event(i) for i in range(first, min(n, first + CHUNK)))


def decoded(payload: Any, written: float | None) -> Example:
    """Return the payload: the source's records are decoded already."""
    return payload  # type: ignore[no-any-return]


def event(n: int, y: float | None = None) -> Example:
    """Return an event with random inputs, of one a second."""
    x = {f"input-{j}": random.random() for j in range(D)}
    return Example(x, y, f"event-{n:09}", 1e9 + n)


def label(n: int, now: int) -> Example:
    return Example(None, 0.25, f"event-{n:09}", 1e9 + now)


def interval(x: dict[str, float]) -> Details:
    return Details(((0.0, 1.0),))


def late_labels(n: int) -> LateLabels:
    return LateLabels(LatePolicy(n, seconds=1e9), Regression(), [ORIGIN.stream])


def resident() -> float:
    """Return this process's memory in MB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory(n: int, n_token: int) -> None:
    """Print the memory of waiting events, and what checkpoints of them cost."""
    Feed(late_labels(n), n_token).fill(CHUNK)  # imports, and first uses
    late = late_labels(2 * n)
    feed = Feed(late, n_token)
    before = resident()
    feed.fill(n)
    print(
        f"{len(late):,} events wait: {resident() - before:,.0f} MB "
        f"(iln_pending_bytes: {late._store.n_bytes / 1e6:,.0f} MB)"
    )
    with tempfile.TemporaryDirectory(prefix="iln-late-", dir=".") as name:
        folder = SnapshotFolder(Path(name))
        checkpoint = Checkpoint(
            Saver(folder),
            lambda positions: Header("benchmark", positions, None, 1, 1, {}, 1, "2026-01-01"),
            {"pending": late.state},
            10**9,
            1e9,
            {ORIGIN: 0},
        )
        arrived = n
        for number in range(1, 6):
            began, cpu = perf_counter(), thread_time()
            snapshot = checkpoint.capture()
            pause, cpu = perf_counter() - began, thread_time() - cpu
            began = perf_counter()
            written = folder.write(snapshot)
            print(
                f"checkpoint {number}: the loop's thread takes {1e3 * pause:.1f} ms "
                f"({1e3 * cpu:.1f} ms of processor time); {written / 1e6:,.2f} MB written "
                f"in {perf_counter() - began:.2f} s in the background"
            )
            feed.run(shuffled(late, arrived, CHUNK))
            arrived += CHUNK
            checkpoint.passed(ORIGIN, arrived, 0.0)
        began = perf_counter()
        found = folder.newest()
        assert found is not None
        restored = late_labels(2 * n)
        restored.restore(found.state["pending"])
        print(f"a restart reads {len(restored):,} events in {perf_counter() - began:.1f} s")


def shuffled(late: LateLabels, first: int, count: int) -> Iterator[Example]:
    """Yield events, and labels of random ones that wait, each of another event."""
    draw = random.Random(first)
    drawn: set[int] = set()
    for i in range(first, first + count):
        yield event(i)
        while (n := draw.randrange(first)) in drawn or f"event-{n:09}" not in late:
            pass
        drawn.add(n)
        yield label(n, i)


def in_order(waiting: int, first: int, count: int) -> Iterator[Example]:
    """Yield events, and labels in the order of their events."""
    for i in range(first, first + count):
        yield event(i)
        yield label(i - waiting, i)


def at_once(first: int, count: int) -> Iterator[Example]:
    """Yield as many records: events without label, and events with one."""
    for i in range(first, first + count):
        yield event(2 * i)
        yield event(2 * i + 1, 0.25)


def time_of_events(waiting: int, n_token: int, chunks: int) -> None:
    """Print the processor time of an event and its label beyond that of the loop."""
    alone = Feed()
    feeds = {
        name: Feed(late_labels(10 * waiting), n_token)
        for name in ("labels in the order of the events", "labels in random order")
    }
    for feed in feeds.values():
        feed.fill(waiting)
    seconds: dict[str, list[float]] = {"the loop alone": []} | {name: [] for name in feeds}
    first = waiting
    for _ in range(chunks):
        for name, found in seconds.items():
            feed = feeds.get(name, alone)
            if feed.late is None:
                examples = list(at_once(first, CHUNK))
            elif "random" in name:
                examples = list(shuffled(feed.late, first, CHUNK))
            else:
                examples = list(in_order(waiting, first, CHUNK))
            found.append(1e6 * feed.run(examples) / CHUNK)
        first += CHUNK
    print(
        f"{waiting:,} events wait; microseconds of processor time for an event and its label: "
        f"median and least of {chunks} times {CHUNK:,}, and both beyond the loop"
    )
    base = seconds["the loop alone"]
    for name, found in seconds.items():
        more = statistics.median(a - b for a, b in zip(found, base, strict=True))
        print(
            f"{name}: {statistics.median(found):.2f} and {min(found):.2f}; "
            f"{more:+.2f} and {min(found) - min(base):+.2f}"
        )
    decode = EnvelopeDecoder()
    for name, example in (("an event", event(1)), ("a label", label(1, 2))):
        fields = {"x": example.x, "y": example.y, "id": example.id, "timestamp": example.time}
        payload = json.dumps({k: v for k, v in fields.items() if v is not None}).encode()
        began = process_time()
        for _ in range(_PAYLOADS):
            decode(payload, None)
        print(f"decoding of {name}: {1e6 * (process_time() - began) / _PAYLOADS:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=("memory", "time"))
    parser.add_argument("--events", type=int, help="that wait: a million, and 100,000 for `time`")
    parser.add_argument("--token", type=int, default=0, help="numbers of a token")
    parser.add_argument("--chunks", type=int, default=60, help="of events, for `time`")
    given = parser.parse_args()
    if given.events is not None and given.events < 2 * CHUNK:
        parser.error(f"--events: at least {2 * CHUNK:,}, of which labels can be drawn")
    print(f"Python {platform.python_version()}, numpy {version('numpy')}, {D} inputs, "
          f"an interval, tokens of {given.token} numbers")  # fmt: skip
    if given.part in (None, "memory"):
        memory(given.events or 1_000_000, given.token)
    if given.part in (None, "time"):
        time_of_events(given.events or 100_000, given.token, given.chunks)


if __name__ == "__main__":
    main()
