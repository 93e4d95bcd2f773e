"""Events per second with profile fast: decoding, and runs from a file and from Kafka.

Usage: PYTHONPATH=tests:. python -m benchmarks.end_to_end [PART ...] [--events N] [--repeats R]

Rates are given per second of processor time of the whole process (all threads; the broker is
another process) and of wall time. The variants take turns, on one core. Before and after each run,
JSON is decoded and learned without one: what a run takes is also a multiple of that.
"""

import argparse
import gc
import json
import os
import random
import statistics
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any, NamedTuple

import pyarrow
import pyarrow.csv
import pyarrow.parquet
from support.kafka_broker import KafkaBroker
from support.kafka_topics import create_topic, produce, unique_topic

from benchmarks.records import versions_of
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.records import EnvelopeDecoder, Example
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_json
from iln_stream.service import Service, Settings

PACKAGES = ("iln-stream", "confluent-kafka", "kafka-python", "pydantic_core", "numpy", "numba")
PARTS = ("decode", "file", "kafka", "predictions")
CLIENTS = ("kafka-python", "confluent")
_D = 10
_TURN = 500
"""Events that one decoder, or the learner, takes before the next one's turn."""
_SAMPLE = 20_000
"""Events that are decoded and learned before and after each run."""
_ROW = 125
"""Events that are learned in a row, a few less than the loop's most."""


class Cost(NamedTuple):
    """Seconds of one run: of the process's processor time, of the loop's thread, of wall time."""

    processor: float
    loop: float
    wall: float


def flat(count: int) -> list[bytes]:
    """Return flat JSON objects with ten numbers and a label."""
    draw = random.Random(1)
    made = []
    for _ in range(count):
        x = {f"x{j}": draw.uniform(-1, 1) for j in range(_D)}
        made.append(json.dumps({**x, "y": x["x0"] * x["x1"]}).encode())
    return made


def enveloped(payloads: list[bytes]) -> list[bytes]:
    """Return the same events in the envelope."""
    made = []
    for payload in payloads:
        x = json.loads(payload)
        y = x.pop("y")
        made.append(json.dumps({"x": x, "y": y}).encode())
    return made


def decode(payloads: list[bytes]) -> None:
    """Print the processor time for one event of each decoder, and of the learner without a run."""
    learner, decoder = InfiniteLayerRegressor("fast"), EnvelopeDecoder()
    examples = [decoder(payload, 60.0) for payload in enveloped(payloads)]

    def learn(example: Example, _: float, learner: InfiniteLayerRegressor = learner) -> None:
        assert example.x is not None
        learner.predict_one(example.x)
        learner.learn_one(example.x, float(example.y or 0.0))

    learn(examples[0], 0.0)  # loads compiled code
    kinds: dict[str, tuple[Callable[[Any, float], Any], Sequence[Any]]] = {
        "decode flat JSON": (MappedDecoder(FieldMapping(target="y"), parse_json), payloads),
        "decode an envelope": (decoder, enveloped(payloads)),
        "predict and learn": (learn, examples),
    }
    rows = InfiniteLayerRegressor("fast")
    learn(examples[0], 0.0, rows)
    found: dict[str, list[float]] = {name: [] for name in (*kinds, "learn in a row")}
    for start in range(0, len(payloads), _TURN):
        began = thread_time()
        for k in range(start, start + _TURN, _ROW):
            some = examples[k : k + _ROW]
            xs, y = [each.x or {} for each in some], [float(each.y or 0.0) for each in some]
            rows.learn_in_a_row(xs, y)
        found["learn in a row"].append((thread_time() - began) / _TURN)
        for name, (act, events) in kinds.items():
            began = thread_time()
            for event in events[start : start + _TURN]:
                act(event, 60.0)
            found[name].append((thread_time() - began) / _TURN)
    for name, seconds in found.items():
        low, middle, high = (1e6 * value for value in statistics.quantiles(seconds, n=4))
        print(f"{name}: {middle:.2f} microseconds ({low:.2f} to {high:.2f})")


def files(payloads: list[bytes], folder: Path) -> Iterator[tuple[str, Path]]:
    """Write the events in each format; yield its name and the file."""
    path = folder / "events.jsonl"
    path.write_bytes(b"\n".join(payloads))
    yield "JSON lines", path
    table = pyarrow.Table.from_pylist([json.loads(payload) for payload in payloads])
    pyarrow.csv.write_csv(table, folder / "events.csv")
    yield "CSV", folder / "events.csv"
    pyarrow.parquet.write_table(table, folder / "events.parquet")
    yield "Parquet", folder / "events.parquet"


def needed(payloads: Sequence[bytes]) -> float:
    """Return the seconds of processor time for an event without a run: decoded, then learned."""
    decoder = MappedDecoder(FieldMapping(target="y"), parse_json)
    learner = InfiniteLayerRegressor("fast")
    learner.learn_one({"x0": 0.0}, 0.0)  # loads compiled code
    gc.collect()  # what other runs left: it would be a third of these seconds, now and then
    began = thread_time()
    for start in range(0, len(payloads), _TURN):
        for x, y, *_ in [decoder(payload, 60.0) for payload in payloads[start : start + _TURN]]:
            learner.predict_one(x)
            learner.learn_one(x, y)
    return (thread_time() - began) / len(payloads)


def run(given: dict[str, Any], count: int) -> Cost:
    """Return what a run takes from its first to its last event."""
    common = {"stop_at_end": True, "learner_options": {"profile": "fast"}, "target": "y"}
    service = Service(Settings.load(**{"metrics_port": None, **common, **given}))
    service._warming.run()
    began = process_time(), thread_time(), perf_counter()
    service.run()
    ended = process_time(), thread_time(), perf_counter()
    assert service.workers[0].watched.scores.n_labelled == count
    return Cost(*(after - before for before, after in zip(began, ended, strict=True)))


def variants(
    parts: list[str],
    clients: list[str],
    folder: Path,
    payloads: list[bytes],
    opened: ExitStack,
) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Yield each kind of run, and what makes its settings anew for each turn."""
    snapshots = (folder / f"snapshots-{n}" for n in range(1_000_000))
    if "file" in parts:
        for kind, path in files(payloads, folder):
            yield (
                f"file, {kind}",
                lambda p=path: {"source": str(p), "dead_letters": str(folder / "letters.jsonl")},
            )
    if not {"kafka", "predictions"} & set(parts):
        return
    broker = opened.enter_context(KafkaBroker(folder / "kafka"))
    topic = create_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, [(None, payload) for payload in payloads])
    for client in clients:
        read = {
            "bootstrap": broker.bootstrap,
            "topic": topic,
            "start": "earliest",
            "kafka_client": client,
        }
        if "kafka" in parts:
            yield f"Kafka, {client}", lambda r=read: {**r, "snapshots": str(next(snapshots))}
        if "predictions" not in parts:
            continue
        for transactional in (False, True):
            how = "in transactions" if transactional else "plain"
            yield (
                f"Kafka, {client}, predictions {how}",
                lambda r=read, t=transactional: {
                    **r,
                    "snapshots": str(next(snapshots)),
                    "predictions": f"kafka:{unique_topic('predictions')}",
                    "transactional": t,
                },
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="only these")
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--client", choices=CLIENTS, help="only this one")
    given = parser.parse_args()
    clients = [given.client] if given.client else list(CLIENTS)
    parts = given.parts or list(PARTS)
    warnings.simplefilter("ignore")
    payloads = flat(given.events)
    print(versions_of(PACKAGES))
    if "decode" in parts:
        decode(payloads)
    with tempfile.TemporaryDirectory() as name, ExitStack() as opened:
        kinds = dict(variants(parts, clients, Path(name), payloads, opened))
        # After the start of the broker, which may use all cores.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        found: dict[str, list[Cost]] = {kind: [] for kind in kinds}
        ratios: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(given.repeats):
            for kind, settings in kinds.items():
                before = needed(payloads[:_SAMPLE])
                cost = run(settings(), given.events)
                least = (before + needed(payloads[:_SAMPLE])) / 2
                found[kind].append(cost)
                ratios[kind].append(cost.processor / given.events / least)
        for kind, costs in found.items():
            processor, loop, wall = map(statistics.median, zip(*costs, strict=True))
            print(
                f"{kind}: {given.events / processor:,.0f} events/s of processor time "
                f"({1e6 * processor / given.events:.1f} microseconds each, "
                f"{1e6 * loop / given.events:.1f} in the loop's thread); "
                f"{given.events / wall:,.0f} of wall time; {statistics.median(ratios[kind]):.2f} "
                "times decoding and learning"
            )


if __name__ == "__main__":
    main()
