"""The embedded log: appends, group commits, learning from it, and how fast a reader follows.

Usage: python -m benchmarks.embedded_log [appends | learning | following] [--events N] [--rounds R]
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import threading
import uuid
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic, perf_counter, process_time, sleep, thread_time

from iln_stream.service import Service, Settings
from iln_stream.streams import NewRecord
from iln_stream.streams.sqlite import SqliteAppender, SqliteLog

_SINGLES = 50
"""Durable appends in one round, of each kind."""


def payloads(count: int, d: int = 10) -> list[bytes]:
    """Return events with d numeric inputs and a label."""
    draw = random.Random(1)
    made = []
    for _ in range(count):
        x = {f"x{j}": draw.uniform(-1, 1) for j in range(d)}
        made.append(json.dumps({"x": x, "y": x["x0"] * x["x1"]}).encode())
    return made


def rate(count: int, act: Callable[[], object]) -> float:
    """Return how many of `count` things an action does in a second."""
    began = perf_counter()
    act()
    return count / (perf_counter() - began)


def appends(folder: Path, count: int, rounds: int) -> None:
    """Print the rates of batches, and of durable appends beside plain writes with fdatasync."""
    events = payloads(count)
    for ids, size in ((False, 1_000), (False, 10_000), (True, 1_000), (True, 10_000)):
        path = folder / f"batches-{ids}-{size}.db"
        records = [NewRecord(event, id=uuid.uuid4().hex if ids else None) for event in events]
        with closing(SqliteAppender(path, "events", "log")) as appender:
            batches = [records[i : i + size] for i in range(0, count, size)]
            cpu = process_time()
            found = rate(count, lambda a=appender, b=batches: [a.append(each) for each in b])  # type: ignore[misc]
            cpu = (process_time() - cpu) / count
        print(
            f"batches of {size:,}{', with random ids' if ids else ''}: {found:,.0f} events/s; "
            f"{1e6 * cpu:.1f} microseconds of CPU each"
        )
    _durable(folder, events, rounds)


def _durable(folder: Path, events: list[bytes], rounds: int) -> None:
    descriptor = os.open(folder / "plain", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    rates: dict[str, list[float]] = {}
    with closing(SqliteAppender(folder / "singles.db", "events", "log")) as appender:
        # Until the write-ahead log is as long as it gets, so that its growth is not measured.
        appender.append([NewRecord(bytes(1_000))] * 20_000)

        def plain() -> None:
            for event in events[:_SINGLES]:
                os.write(descriptor, event + b"\n")
                os.fdatasync(descriptor)

        def grouped(size: int) -> None:
            for _ in range(_SINGLES):
                appender.append([NewRecord(event) for event in events[:size]])

        for _ in range(rounds):
            rates.setdefault("write + fdatasync", []).append(rate(_SINGLES, plain))
            for size in (1, 10, 100):
                found = rate(size * _SINGLES, lambda n=size: grouped(n))  # type: ignore[misc]
                rates.setdefault(f"commits of {size}", []).append(found)
    os.close(descriptor)
    paired = rates["write + fdatasync"]
    for name, found in rates.items():
        ratio = statistics.median(a / b for a, b in zip(found, paired, strict=True))
        print(f"{name}: {statistics.median(found):,.0f} events/s, {ratio:.2f} of the paired rate")


def learning(folder: Path, count: int, rounds: int) -> None:
    """Print the rate of `iln-stream run` with profile fast, alone and with predictions."""
    path = folder / "learn.db"
    events = payloads(count)
    with closing(SqliteAppender(path, "events", "log")) as appender:
        for first in range(0, count, 10_000):
            appender.append([NewRecord(event) for event in events[first : first + 10_000]])
    cpu = process_time()
    with closing(SqliteLog(path, "events", "log", stop_at_end=True)) as log:
        found = rate(count, lambda: [log.poll(0.0) for _ in iter(lambda: log.exhausted, True)])
    cpu = (process_time() - cpu) / count
    print(f"reading: {found:,.0f} events/s; {1e6 * cpu:.1f} microseconds of CPU each")
    source = f"sqlite:{path}"
    kinds: dict[str, dict[str, str]] = {
        "learning alone": {},
        "with snapshots": {"snapshots": "state"},
        "with predictions and snapshots": {"snapshots": "state", "predictions": f"{source}#p"},
    }
    for number in range(rounds):
        for name, more in kinds.items():
            own = {key: f"{value}-{number}" for key, value in more.items()}
            if "snapshots" in own:
                own["snapshots"] = str(folder / f"{own['snapshots']}-{len(own)}")
            service = Service(
                Settings.load(
                    source=source,
                    stop_at_end=True,
                    learner_options={"profile": "fast"},
                    metrics_port=None,
                    **own,
                )
            )
            service._warming.run()
            cpu = process_time()
            found = rate(count, service.run)
            cpu = process_time() - cpu
            assert service.workers[0].watched.scores.n_events == count
            print(f"{name}: {found:,.0f} events/s; {count / cpu:,.0f} per second of CPU")


def following(folder: Path, count: int) -> None:
    """Print the time from the end of an append to the end of the reader's poll."""
    path = folder / "follow.db"
    waits: list[float] = []
    with closing(SqliteAppender(path, "events", "log")) as appender:
        appender.append([NewRecord(b"0")])
        ends: list[float] = []

        def append() -> None:
            draw = random.Random(1)
            for _ in range(count):
                sleep(draw.uniform(0, 0.05))
                appender.append([NewRecord(b"x")])
                ends.append(monotonic())

        with closing(SqliteLog(path, "events", "log")) as log:
            log.poll(0.0)
            writer = threading.Thread(target=append, daemon=True)
            writer.start()
            while len(waits) < count:
                found = log.poll(1.0)
                now = monotonic()
                while found and len(ends) < found[-1].offset:
                    sleep(0.001)  # the writer notes its time, perhaps later than we read
                waits += [now - ends[record.offset - 1] for record in found]
            writer.join()
            cpu = thread_time()
            log.poll(2.0)
            cpu = (thread_time() - cpu) / 2
    middle, late = statistics.median(waits), statistics.quantiles(waits, n=100)[98]
    print(
        f"a reader has a record {1e3 * middle:.1f} ms after it is stored (median), "
        f"{1e3 * late:.1f} ms (99 of 100); waiting takes {100 * cpu:.1f} % of a core"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=("appends", "learning", "following"))
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=30, help="of single appends")
    parser.add_argument("--repeats", type=int, default=3, help="of the learning runs")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="iln-log-", dir=".") as name:
        folder = Path(name)
        if given.part in (None, "appends"):
            appends(folder, given.events, given.rounds)
        if given.part in (None, "learning"):
            learning(folder, given.events, given.repeats)
        if given.part in (None, "following"):
            following(folder, 200)


if __name__ == "__main__":
    main()
