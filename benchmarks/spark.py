"""Spark: the learner by key beside the simplest stateful function, and as the state grows.

Usage: PYTHONPATH=tests:. python -m benchmarks.spark [--events 300000] [--rounds 2] [--json FILE]

A real broker, Spark on two cores of this machine, 1,000 keys, micro-batches of 100,000 events whose
result is thrown away. The simplest function is written row by row, as Spark's guide writes one: it
gets an event's key, partition, offset and value, decodes nothing, adds one to its key's count, and
returns a row with key, partition, offset and count. Beside it stands the same count of rows that
were gathered by key, as the learner gets them.

Queries take turns in one Spark session. The first round is left out, as the JVM compiles what it
runs; so is a query's first micro-batch, which starts workers and compiled code. Beside events a
second of the clock stands the processor time of Spark and its workers for an event: other programs
on the machine change it less.

Then every micro-batch brings other keys, so that the state grows while the work stays the same.
"""

import argparse
import json
import os
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyspark.sql.functions as f
from kafka import KafkaProducer
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor
from support.kafka_broker import KafkaBroker
from support.kafka_topics import create_topic
from support.spark_jars import spark_jars

from iln_stream.learners import RandomFeatureRidge
from iln_stream.learners.keyed import KeyedRegressor
from iln_stream.spark.job import learned, session, topic_rows
from iln_stream.spark.plan import KeyedPlan, prior_of
from iln_stream.spark.records import GATHERED, HEAD, gather

KEYS = 1_000
TRACKING = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows"
GATHERED_COUNT = "count, gathered by key"
TRACKED_COUNT = "count, with trackTotalNumberOfRows"

Event = tuple[int, dict[str, Any]]


class Counting(StatefulProcessor):
    """Counts a key's events."""

    def init(self, handle: Any) -> None:
        self._n = handle.getValueState("n", "n BIGINT")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802
        output = Row("key", "partition", "offset", "n")
        found = self._n.get()
        n = 0 if found is None else found[0]
        for row in rows:
            n += 1
            yield output(key[0], row.partition, row.offset, n)
        self._n.update((n,))

    def close(self) -> None:
        pass


class CountingGathered(Counting):
    """Counts a key's events that were gathered in few rows."""

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802
        output = Row("key", "partitions", "offsets", "ns")
        found = self._n.get()
        n = 0 if found is None else found[0]
        for row in rows:
            heads = np.frombuffer(row.heads, HEAD)
            ns = np.arange(n + 1, n + 1 + len(heads))
            n += len(heads)
            yield output(key[0], heads["partition"], heads["offset"], ns)
        self._n.update((n,))


def event(k: int, rng: random.Random) -> dict[str, Any]:
    x = {f"x{i}": round(rng.gauss(0, 1), 4) for i in range(5)}
    y = round(k % 7 + (1 + k % 3) * x["x0"] - x["x1"] + 0.1 * rng.gauss(0, 1), 4)
    return {"x": x, "y": y}


def small_prior() -> bytes:
    """Return what all keys share, learned from 5,000 events of 300 other keys."""
    rng, model = random.Random(7), KeyedRegressor("key")
    for _ in range(5000):
        k = rng.randrange(300)
        one = event(k, rng)
        model.learn_one({**one["x"], "key": str(k)}, one["y"])
    return prior_of(model)


def filled(bootstrap: str, n: int, key: Callable[[int, random.Random], int]) -> str:
    """Return a topic with events; both of its partitions have all keys' turns in order."""
    topic, rng = create_topic(bootstrap, partitions=2), random.Random(1)
    producer = KafkaProducer(bootstrap_servers=bootstrap, linger_ms=50, batch_size=1 << 18)
    for i in range(n):
        k = key(i, rng)
        payload = json.dumps(event(k, rng)).encode()
        producer.send(topic, payload, key=f"k{k}".encode(), partition=k % 2)
    producer.flush()
    producer.close()
    return topic


def counted(rows: Any) -> Any:
    columns = (f.col("key").alias("group"), "partition", "offset", "value")
    output = "key BINARY, partition INT, offset BIGINT, n BIGINT"
    grouped = rows.select(*columns).groupBy("group")
    return grouped.transformWithState(Counting(), output, "Append", "None")


def counted_gathered(rows: Any) -> Any:
    time = f.unix_millis("timestamp").alias("time")
    columns = (f.col("key").alias("group"), "partition", "offset", time, "value")
    output = "key BINARY, partitions ARRAY<INT>, offsets ARRAY<BIGINT>, ns ARRAY<BIGINT>"
    grouped = rows.select(*columns).mapInArrow(gather, GATHERED).groupBy("group")
    out = grouped.transformWithState(CountingGathered(), output, "Append", "None")
    each = f.explode(f.arrays_zip("partitions", "offsets", "ns")).alias("each")
    return out.select("key", each).select("key", "each.partitions", "each.offsets", "each.ns")


def processor_seconds() -> float:
    """Return the processor time of this process and all below it."""
    parents, ticks = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            pid = int(folder.name)
            parents[pid], ticks[pid] = int(stat[1]), sum(map(int, stat[11:15]))
    found, total = {os.getpid()}, 0
    while found:
        total += sum(ticks[pid] for pid in found)
        found = {pid for pid, parent in parents.items() if parent in found}
    return total / os.sysconf("SC_CLK_TCK")


def batches(frame: Any, folder: str) -> list[tuple[int, float, float]]:
    """Run a query over what is there; return each micro-batch's events, seconds, processor time."""
    marks = [processor_seconds()]

    def discard(batch: Any, number: int) -> None:
        batch.write.format("noop").mode("overwrite").save()
        marks.append(processor_seconds())

    writer = frame.writeStream.option("checkpointLocation", folder).foreachBatch(discard)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    progress = [each for each in query.recentProgress if each["numInputRows"]]
    used = [after - before for before, after in pairwise(marks)]
    return [
        (each["numInputRows"], each["durationMs"]["triggerExecution"] / 1000, seconds)
        for each, seconds in zip(progress, used, strict=True)
    ]


def measured(found: list[tuple[int, float, float]]) -> dict[str, float]:
    return {
        "events_a_second": round(statistics.median(n / s for n, s, _ in found)),
        "processor_us_an_event": round(statistics.median(c / n * 1e6 for n, _, c in found), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, KafkaBroker(Path(name) / "kafka") as broker:
        results = run(Path(name), broker.bootstrap, arguments.events, arguments.rounds)
    text = json.dumps(results, indent=1)
    print(text)
    if arguments.json is not None:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(f"{text}\n", encoding="utf-8")


def run(folder: Path, bootstrap: str, n: int, rounds: int) -> dict[str, Any]:
    spark = session(
        "benchmark",
        state_partitions=2,
        jars=spark_jars(),
        configuration={"spark.master": "local[2]", "spark.ui.enabled": "false"},
    )
    spark.sparkContext.setLogLevel("ERROR")
    small = small_prior()
    ridge = prior_of(RandomFeatureRidge(16, sampling="prior", seed=1))
    topic = filled(bootstrap, n, lambda _, rng: rng.randrange(KEYS))
    functions: Mapping[str, Callable[[Any], Any]] = {
        "count": counted,
        "small model": lambda rows: learned(rows, KeyedPlan(topic, small)),
        "RandomFeatureRidge(16)": lambda rows: learned(rows, KeyedPlan(topic, ridge)),
        GATHERED_COUNT: counted_gathered,
        TRACKED_COUNT: counted,
    }
    found: dict[str, list[tuple[int, float, float]]] = {name: [] for name in functions}
    for turn in range(rounds + 1):
        for name, function in functions.items():
            spark.conf.set(TRACKING, str(name == TRACKED_COUNT).lower())
            rows = topic_rows(spark, topic, bootstrap, most_records=n // 3)
            seen = batches(function(rows), f"{folder}/{turn}-{name}")
            if turn == 0:
                continue  # the JVM's own compiler took more time than all else
            found[name] += [each for each in seen[1:] if each[0] > n // 10]
            print(name, measured(found[name]), f"load {os.getloadavg()[0]:.1f}", flush=True)
    results: dict[str, Any] = {name: measured(each) for name, each in found.items()}
    for name in ("small model", "RandomFeatureRidge(16)"):
        results[name]["of_count"] = {
            "events_a_second": _ratio(results, name, "count", "events_a_second"),
            "processor_time": _ratio(results, "count", name, "processor_us_an_event"),
        }
    spark.conf.set(TRACKING, "false")
    results["as the state grows"] = growth(spark, folder, bootstrap, small, n)
    results["load"] = round(os.getloadavg()[0], 1)
    results["cores"] = os.cpu_count()
    spark.stop()
    return results


def growth(spark: Any, folder: Path, bootstrap: str, prior: bytes, n: int) -> dict[str, Any]:
    """Micro-batches of other keys each: the state grows, the work does not."""
    size = n // 12
    new = size // 10
    topic = filled(bootstrap, n, lambda i, rng: i // size * new + rng.randrange(new))
    rows = topic_rows(spark, topic, bootstrap, most_records=size)
    seen = batches(learned(rows, KeyedPlan(topic, prior, live_learners=new)), f"{folder}/growth")
    seen = [each for each in seen if each[0] > size // 2][1:]
    third = len(seen) // 3
    return {
        "keys at the end": 12 * new,
        "first third": measured(seen[:third]),
        "last third": measured(seen[-third:]),
    }


def _ratio(results: Mapping[str, Any], name: str, other: str, what: str) -> float:
    return round(results[name][what] / results[other][what], 2)


if __name__ == "__main__":
    main()
