"""What publishing costs: pauses of learning, its rate, bytes, and the time to load a version.

Usage: python -m benchmarks.publishing [--events 10000] [--seconds 20] [--cells fast-10 ...]

Each cell is a learner and a number of inputs; of 100 inputs, 20 are categories of five values each
as one-hot columns, 180 columns in all. It learns some events, and then in rounds, with one version
in every other one. Rates are compared within a pair of rounds, as the machine may have other work:
by time, and by CPU time of learning and writing. Pauses, too, are given as time and as CPU time.
"""

import argparse
import statistics
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep, thread_time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.snapshots.follower import Follower
from iln_stream.snapshots.published_file import VersionFile
from iln_stream.snapshots.publisher import Capture, Publisher

LEARNERS: dict[str, Callable[[], Any]] = {
    "accurate": lambda: InfiniteLayerRegressor(seed=1),
    "fast": lambda: InfiniteLayerRegressor(profile="fast", seed=1),
    "classes": lambda: InfiniteLayerClassifier(seed=1),
}
INPUTS = (10, 100)
ROUND = 0.5
"""CPU seconds of a round, and so about the time from one version to the next."""


def events(d: int, classes: bool, n: int = 4096) -> list[tuple[dict[str, float], Any]]:
    """Return n events of d inputs, a fifth of which are categories if there are 100."""
    rng = np.random.default_rng(1)
    n_categories = d // 5 if d >= 100 else 0
    weights = rng.standard_normal(d - n_categories)
    found = []
    for _ in range(n):
        values = rng.standard_normal(d - n_categories)
        x = {f"v{j}": value for j, value in enumerate(values.tolist())}
        for j in range(n_categories):
            x[f"c{j}={rng.integers(5)}"] = 1.0
        y = float(np.tanh(weights @ values) + values[0] * values[1])
        found.append((x, y > 0.0 if classes else y))
    return found


class Stalls:
    """Longest times for which a busy thread did not run."""

    def __init__(self) -> None:
        self._stopping = False
        self._longest = 0.0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Stalls":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopping = True
        self._thread.join()

    def take(self) -> float:
        """Return the longest stall since the last call, in seconds."""
        longest, self._longest = self._longest, 0.0
        return longest

    def _run(self) -> None:
        before = perf_counter()
        while not self._stopping:
            now = perf_counter()
            self._longest = max(self._longest, now - before)
            before = now


class Timed(Publisher):
    """Notes how long each copy takes: time, and the thread's CPU time."""

    def __init__(self, path: Path, learner: Any) -> None:
        super().__init__(path, learner, seconds=3600.0)
        self.pauses: list[float] = []
        self.cpu: list[float] = []

    def _publish(self) -> None:
        began, used = perf_counter(), thread_time()
        super()._publish()
        self.cpu.append(thread_time() - used)
        self.pauses.append(perf_counter() - began)


def rounds(learner: Any, stream: Iterator[Any], path: Path, seconds: float) -> dict[str, Any]:
    """Learn in rounds, every other one with a publisher; return rates and pauses."""
    wall: dict[bool, list[float]] = {False: [], True: []}
    cpu: dict[bool, list[float]] = {False: [], True: []}
    publisher = Timed(path, learner)
    publisher.finish()
    publisher.pauses.clear()
    publisher.cpu.clear()
    n, began = 0, process_time()
    while process_time() - began < ROUND:
        learner.learn_one(*next(stream))
        n += 1
    for k in range(2 * max(1, round(seconds / 2 / ROUND))):
        publishing = (k + k // 2) % 2 == 1  # in the order 0 1 1 0 0 1 ...
        learned = publisher.learned
        publisher._due = 0.0  # a version in each round
        began, used = perf_counter(), process_time()
        for _ in range(n):
            learner.learn_one(*next(stream))
            if publishing:
                learned()
        wall[publishing].append(n / (perf_counter() - began))
        publisher._writer.wait()
        cpu[publishing].append(n / (process_time() - used))
    publisher.close()
    return {
        "rate": statistics.median(wall[False]),
        "wall": statistics.median(a / b for a, b in zip(wall[True], wall[False], strict=True)),
        "cpu": statistics.median(a / b for a, b in zip(cpu[True], cpu[False], strict=True)),
        "pauses": publisher.pauses,
        "cpu_pauses": publisher.cpu,
    }


def writes(learner: Any, path: Path, repeats: int = 15) -> float:
    """Return the CPU seconds of a version's writing."""
    capture, file = Capture(learner, allow_pickle=False), VersionFile(path)
    header = file.read_header()
    found = []
    for _ in range(repeats):
        copy, used = capture.take(), thread_time()
        file.write(header, copy)
        found.append(thread_time() - used)
    return statistics.median(found)


def loads(path: Path, repeats: int = 15) -> dict[str, float]:
    """Load a version several times; return seconds, CPU seconds, and a busy thread's stalls."""
    wall, cpu, stalls = [], [], []
    for _ in range(repeats):
        follower, began, used = Follower(path), perf_counter(), thread_time()
        assert follower.refresh(), follower.problem
        wall.append(perf_counter() - began)
        cpu.append(thread_time() - used)
    with Stalls() as busy:
        for _ in range(repeats):
            follower = Follower(path)
            sleep(0.02)
            busy.take()
            assert follower.refresh()
            stalls.append(busy.take())
    return {
        "wall": statistics.median(wall),
        "cpu": statistics.median(cpu),
        "stall": statistics.median(stalls),
        "longest_stall": max(stalls),
    }


def main() -> None:
    """Measure the cells and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    cells = [f"{name}-{d}" for name in LEARNERS for d in INPUTS]
    parser.add_argument("--events", type=int, default=10_000, help="learned before the rounds")
    parser.add_argument("--seconds", type=float, default=20.0, help="of the rounds of a cell")
    parser.add_argument("--cells", nargs="+", choices=cells, default=cells)
    arguments = parser.parse_args()
    table = Table(title=f"Publishing every 0.5 s, after {arguments.events} events; times in ms")
    for head in (
        *("cell", "events/s", "ratio with publishing: time", "CPU", "pause: median", "longest"),
        *("CPU: median", "longest", "MB", "write: CPU", "load: time", "CPU", "stall", "longest"),
    ):
        table.add_column(head, justify="right")
    for cell in arguments.cells:
        name, d = cell.rsplit("-", 1)
        known = events(int(d), name == "classes")
        learner = LEARNERS[name]()
        stream = (known[i % len(known)] for i in iter(range(10**12)))
        for _ in range(arguments.events):
            learner.learn_one(*next(stream))
        with TemporaryDirectory() as folder:
            path = Path(folder) / "benchmark.model"
            found = rounds(learner, stream, path, arguments.seconds)
            loaded = loads(path)
            n_bytes, holding = path.stat().st_size, writes(learner, path)
        pauses, cpu = found["pauses"], found["cpu_pauses"]
        times = (
            *(statistics.median(pauses), max(pauses), statistics.median(cpu), max(cpu)),
            *(holding, *loaded.values()),
        )
        numbers = [f"{1e3 * each:.2f}" for each in times]
        numbers.insert(4, f"{n_bytes / 1e6:.2f}")
        rates = f"{found['rate']:.0f}", f"{found['wall']:.3f}", f"{found['cpu']:.3f}"
        table.add_row(cell, *rates, *numbers)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
