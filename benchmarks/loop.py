"""The whole loop: events per second and accuracy on three streams.

Usage: python benchmarks/loop.py [--repeats 3] [--json FILE]
"""

import argparse
import json
import platform
import statistics
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from prometheus_client.registry import CollectorRegistry
from rich.console import Console
from rich.table import Table
from river import base, datasets, dummy, linear_model, preprocessing, stats

from iln_stream.errors import IlnWarning
from iln_stream.loop import PrequentialLoop
from iln_stream.loop.metrics import Metrics
from iln_stream.service import pool, shrinking_gradient
from iln_stream.streams.river import RiverDatasetSource

PACKAGES = ("iln-stream", "river", "numpy", "pydantic")


def streams() -> dict[str, tuple[Any, int]]:
    drift = datasets.synth.FriedmanDrift(drift_type="gra", position=(1000, 2000), seed=1)
    return {
        "TrumpApproval": (datasets.TrumpApproval(), 1001),
        "ChickWeights": (datasets.ChickWeights(), 578),
        "FriedmanDrift": (drift, 3000),
    }


def learners() -> dict[str, Callable[[], base.Regressor]]:
    return {
        "ShrinkingGradient, `run` default": lambda: shrinking_gradient(seed=1),
        "ShrinkingGradient, pool of 512": lambda: pool(seed=1),
        "River LinearRegression": lambda: (
            preprocessing.StandardScaler()
            | preprocessing.TargetStandardScaler(linear_model.LinearRegression())
        ),
        "running mean": lambda: dummy.StatisticRegressor(stats.Mean()),
    }


def run(make: Callable[[], base.Regressor], dataset: Any, n: int) -> tuple[float, float]:
    """Return the MAE and the events per second of the whole loop: decoding, learner, metrics."""
    make().learn_one({"warming": 1.0, "up": 1.0}, 1.0)  # compiles before the clock runs
    learner, source = make(), RiverDatasetSource(list(dataset.take(n)), "benchmark")
    watched = Metrics(CollectorRegistry()).watch(learner, source, "benchmark")
    started = perf_counter()
    PrequentialLoop(source, learner, [watched]).run()
    return watched.scores.running_error, n / (perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()

    warnings.simplefilter("ignore", IlnWarning)
    versions = {name: version(name) for name in PACKAGES} | {"python": platform.python_version()}
    results: dict[str, dict[str, dict[str, float]]] = {}
    for stream, (dataset, n) in streams().items():
        results[stream] = {}
        for name, make in learners().items():
            runs = [run(make, dataset, n) for _ in range(arguments.repeats)]
            rates = [rate for _, rate in runs]
            results[stream][name] = {"mae": runs[0][0], "events/s": statistics.median(rates)}

    table = Table(title="; ".join(f"{name} {number}" for name, number in versions.items()))
    table.add_column("learner")
    for stream in results:
        table.add_column(f"{stream}\nMAE", justify="right")
        table.add_column("\nevents/s", justify="right")
    for name in learners():
        cells = []
        for stream in results:
            figures = results[stream][name]
            cells += [f"{figures['mae']:.4g}", f"{figures['events/s']:,.0f}"]
        table.add_row(name, *cells)
    Console(width=120).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps({"versions": versions, "results": results}, indent=1))


if __name__ == "__main__":
    main()
