"""What /live costs: the listener for each event, and a request for the loop.

Usage: python -m benchmarks.live [--repeats 3] [--json FILE]

Microseconds an event of the listener that counts, alone, with a listener that does nothing, and
with /live; then CPU time and size of an answer, of which the page's process asks for one a second;
and those of the part that /live adds to a snapshot. All are times of the thread, so that other
programs on the machine matter little.
"""

import argparse
import json
import statistics
import warnings
from collections.abc import Sequence
from pathlib import Path
from time import thread_time
from typing import Any

from prometheus_client.registry import CollectorRegistry
from river import datasets

from iln_stream.errors import IlnWarning
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.loop import Listener, PrequentialLoop, Regression, Step
from iln_stream.loop.live import About, LiveModel, live_route
from iln_stream.loop.metrics import Metrics
from iln_stream.state import pack
from iln_stream.streams import StreamPartition
from iln_stream.streams.river import RiverDatasetSource

ABOUT = About("regression", "river:Friedman", "infinite-layer", "benchmark")
LEARNED = 3000


def made(profile: str) -> tuple[Any, Any, LiveModel]:
    """Return a learner, what counts its steps, and what /live shows of it."""
    learner = InfiniteLayerRegressor(profile=profile, seed=1)
    metrics = Metrics(CollectorRegistry())
    watched = metrics.watch(learner, RiverDatasetSource([], "none"), "benchmark", Regression())
    live = LiveModel(watched, lambda: metrics.of(watched.labels))
    live.about = ABOUT
    return learner, watched, live


def steps(n: int) -> Sequence[Step]:
    x, origin = {"a": 1.0}, StreamPartition("benchmark", 0)
    return [Step(origin, i, None, None, x, 1.0, 0.5, 0.1, ended=1.0) for i in range(n)]


def seconds_of(listeners: Sequence[Listener], given: Sequence[Step]) -> float:
    """Return the time to report these steps to listeners, as the loop does."""
    on_steps = [listener.on_step for listener in listeners]
    began = thread_time()  # other programs may keep this one waiting
    for step in given:
        for on_step in on_steps:
            on_step(step)
    return thread_time() - began


def of_events(profile: str, n: int, repeats: int) -> dict[str, float]:
    """Return the microseconds an event of the listener, on a learner that has learned."""
    given = steps(n)
    found: dict[str, list[float]] = {"counts": [], "and a listener": [], "and live": []}
    for _ in range(repeats):
        for name in found:
            learner, watched, live = made(profile)
            for x, y in datasets.synth.Friedman(seed=1).take(600):
                learner.learn_one(x, y)
            also: list[Listener] = []
            if name == "and a listener":
                also = [Listener()]
            elif name == "and live":
                also = [live]
            found[name].append(seconds_of([watched, *also], given) / n * 1e6)
    return {name: statistics.median(values) for name, values in found.items()}


def of_requests(profile: str, repeats: int) -> dict[str, float]:
    """Return CPU time and size of an answer; the loop's thread can't run meanwhile."""
    learner, watched, live = made(profile)
    source = RiverDatasetSource(list(datasets.synth.Friedman(seed=2).take(LEARNED)), "benchmark")
    PrequentialLoop(source, learner, [watched, live]).run()
    application = live_route(lambda: [live], list)

    def ask(after: int) -> tuple[float, int]:
        began = thread_time()
        body = b"".join(application({"QUERY_STRING": f"after={after}"}, _start))
        return thread_time() - began, len(body)

    found: dict[str, float] = {}
    for name, after in {
        "all": 0,
        "256 new steps": LEARNED - 256,
        "10 new steps": LEARNED - 10,
    }.items():
        answers = [ask(after) for _ in range(10 * repeats)]
        found[f"{name}, ms"] = 1e3 * statistics.median(seconds for seconds, _ in answers)
        found[f"{name}, bytes"] = answers[0][1]
    return found


def of_snapshots(profile: str, repeats: int) -> dict[str, float]:
    """Return time and size of the part of /live in a snapshot; the loop waits for the copy."""
    _, _, live = made(profile)
    seconds_of([live], steps(5000))
    times = []
    for _ in range(10 * repeats):
        began = thread_time()
        state = live.state()
        times.append(thread_time() - began)
    arrays, text = pack(state)
    n_bytes = sum(array.nbytes for array in arrays.values()) + len(text)
    return {"ms": 1e3 * statistics.median(times), "bytes": n_bytes}


def _start(status: str, headers: list[tuple[str, str]]) -> None:
    assert status == "200 OK", status


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", IlnWarning)
    results: dict[str, Any] = {}
    for profile in ("fast", "accurate"):
        for n in (10_000, 100_000, 1_000_000):
            repeats = arguments.repeats if n < 1_000_000 else 1
            results[f"{profile}: us an event, {n:,} events"] = of_events(profile, n, repeats)
        results[f"{profile}: a request"] = of_requests(profile, arguments.repeats)
        results[f"{profile}: a snapshot"] = of_snapshots(profile, arguments.repeats)
    text = json.dumps(results, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(f"{text}\n")


if __name__ == "__main__":
    main()
