"""How learning scales with worker processes: rounds of one worker and of several, in turn.

Usage: python -m benchmarks.workers [--workers 2] [--partitions 2] [--rounds 3] [--json FILE]
       [--bootstrap HOST:PORT]

Each run is `iln-stream run --learner-per partition` on a log of its own kind (an embedded one, or
with `--bootstrap` a Kafka topic, which is created), with snapshots and metrics. Rates are over the
same events of each run: from 20 % to 80 % of the log, so that starting is not measured. Beside the
rates, which other programs on the machine change, stands the CPU time an event: what a run on idle
cores would take.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import urllib.request
import uuid
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from benchmarks.embedded_log import payloads
from iln_stream.streams import NewRecord, StreamOptions, stream_at

EVENTS = {"fast": 900_000, "accurate": 40_000}
"""Events of all partitions."""

_COMMAND = (sys.executable, "-c", "from iln_stream.cli import main; main()")
_TICKS = os.sysconf("SC_CLK_TCK")


class Reading(NamedTuple):
    """A moment of a run: events so far, wall time, and CPU time of all its processes."""

    n: float
    at: float
    cpu: float


def fill(address: str, options: StreamOptions, count: int, partitions: int) -> None:
    """Create a log and append events, as many to each partition as to the others."""
    stream = stream_at(address, options)
    stream.create(partitions)
    with closing(stream.appender()) as appender:
        events = payloads(count)
        for first in range(0, count, 10_000):
            batch = events[first : first + 10_000]
            appender.append([NewRecord(e, key=str(first + i)) for i, e in enumerate(batch)])


def measure(arguments: Sequence[str], folder: Path, count: int) -> Reading:
    """Run to the end of the log; return events, seconds and CPU seconds of its middle."""
    said = folder / "said"
    with said.open("wb") as stderr:
        process = subprocess.Popen([*_COMMAND, "run", *arguments], stderr=stderr, cwd=folder)
    try:
        readings: list[Reading] = []
        while process.poll() is None and (not readings or readings[-1].n < 0.8 * count):
            sleep(0.1)
            if (found := read(process.pid, said.read_text())) is not None:
                readings.append(found)
        first, last = at(readings, 0.2 * count), at(readings, 0.8 * count)
    except Exception:
        print(said.read_text(), file=sys.stderr)
        raise
    finally:
        process.terminate()
        process.wait()
    return Reading(last.n - first.n, last.at - first.at, last.cpu - first.cpu)


def read(pid: int, said: str) -> Reading | None:
    """Return the present moment of a run; None while nothing was learned."""
    address = re.search(r"http://\S+/metrics", said)
    if address is None:
        return None
    cpu = sum(map(cpu_seconds, [pid, *children(pid)]))
    now = perf_counter()
    with urllib.request.urlopen(address[0], timeout=10) as response:
        families = text_string_to_metric_families(response.read().decode())
        n = sum(
            sample.value
            for family in families
            for sample in family.samples
            if sample.name == "iln_events_total"
        )
    return Reading(n, now, cpu) if n else None


def at(readings: Sequence[Reading], n: float) -> Reading:
    """Return the moment at which a run had learned n events, between two readings."""
    after = next(i for i, each in enumerate(readings) if each.n >= n)
    if after == 0:
        raise SystemExit("the first reading came too late: measure more events")
    one, other = readings[after - 1], readings[after]
    share = (n - one.n) / (other.n - one.n)
    return Reading(*(a + share * (b - a) for a, b in zip(one, other, strict=True)))


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process; 0 if it has just ended, as a helper of the start does."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def compare(
    profile: str, folder: Path, bootstrap: str | None, workers: int, partitions: int, rounds: int
) -> dict[str, Any]:
    """Return rates and CPU times of one worker and of several."""
    count = EVENTS[profile]
    options = StreamOptions(bootstrap=bootstrap or "")
    name = f"workers-{profile}-{uuid.uuid4().hex[:8]}"
    address = f"kafka:{name}" if bootstrap else f"sqlite:{folder / name}.db"
    fill(address, options, count, partitions)
    found: dict[int, list[Reading]] = {1: [], workers: []}
    for number in range(rounds):
        for n in found:
            own = folder / f"{profile}-{number}-{n}"
            own.mkdir()
            arguments = [
                *("--source", address, "--learner-per", "partition", "--workers", str(n)),
                *("--learner-options", json.dumps({"profile": profile}), "--start", "earliest"),
                *("--snapshots", "state", "--metrics-port", "0"),
                *(("--bootstrap", bootstrap) if bootstrap else ()),
            ]
            found[n].append(measure(arguments, own, count))
            print(f"{profile}, {n} workers: {found[n][-1].n / found[n][-1].at:,.0f} events/s")
    rates = {n: [each.n / each.at for each in own] for n, own in found.items()}
    cpu = {n: statistics.median(1e6 * r.cpu / r.n for r in own) for n, own in found.items()}
    cores = {n: statistics.median(r.cpu / r.at for r in own) for n, own in found.items()}
    ratios = [b / a for a, b in zip(rates[1], rates[workers], strict=True)]
    return {
        "events": count,
        "events per second, 1 worker": [round(each) for each in rates[1]],
        f"events per second, {workers} workers": [round(each) for each in rates[workers]],
        "ratio of each round": [round(each, 2) for each in ratios],
        "ratio, median": round(statistics.median(ratios), 2),
        "us of CPU an event, 1 worker": round(cpu[1], 1),
        f"us of CPU an event, {workers} workers": round(cpu[workers], 1),
        "cores in use, 1 worker": round(cores[1], 2),
        f"cores in use, {workers} workers": round(cores[workers], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--partitions", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profiles", nargs="+", default=list(EVENTS), choices=list(EVENTS))
    parser.add_argument("--bootstrap", help="of a Kafka broker; default: an embedded log")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    results: dict[str, Any] = {
        "cores": os.cpu_count(),
        "load at the start": round(os.getloadavg()[0], 1),
        "log": "kafka" if given.bootstrap else "embedded",
        "partitions": given.partitions,
    }
    with tempfile.TemporaryDirectory(prefix="iln-workers-") as name:
        for profile in given.profiles:
            results[profile] = compare(
                profile, Path(name), given.bootstrap, given.workers, given.partitions, given.rounds
            )
    results["load at the end"] = round(os.getloadavg()[0], 1)
    text = json.dumps(results, indent=1)
    print(text)
    if given.json:
        given.json.write_text(f"{text}\n")


if __name__ == "__main__":
    main()
