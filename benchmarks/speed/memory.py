"""Memory over a long run: `python -m benchmarks.speed.memory [--events N] [--learner NAME]`.

One of the service's learners takes N events of a drifting, noisy stream, each predicted and then
learned, while the process's resident memory is read now and then. Leaves a JSON and a picture.
"""

import argparse
import json
import math
import os
import warnings
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from time import perf_counter
from typing import TypeAlias

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from river import base

from iln_stream.errors import IlnWarning
from iln_stream.service.learners import NAMED

from .report import machine, versions

WIDTH = 10
READINGS = 500
SETTLED = 0.1
"""Part of a run after which memory should not grow: buffers are full, code is compiled."""

Reading: TypeAlias = tuple[int, float]
"""Events learned, and resident memory in MiB."""


def resident_mib() -> float:
    """The process's resident memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def drifting(seed: int = 1, block: int = 10_000) -> Iterator[tuple[dict[str, float], float]]:
    """Yield endless events: a target that rotates slowly, noise, and rare outliers."""
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(WIDTH)]
    for k in cycle(range(1000)):
        angle = 2.0 * math.pi * k / 1000.0
        X = rng.standard_normal((block, WIDTH))
        y = math.cos(angle) * np.sin(2.0 * X[:, 0]) + math.sin(angle) * X[:, 1] * X[:, 2]
        y += 0.5 * rng.standard_normal(block) + 100.0 * (rng.random(block) < 1e-4)
        for row, target in zip(X.tolist(), y.tolist(), strict=True):
            yield dict(zip(names, row, strict=True)), target


def run(model: base.Regressor, events: int, progress: Progress) -> tuple[list[Reading], float]:
    """Return memory over events, and the mean absolute error over all."""
    stream, every = drifting(), max(1, events // READINGS)
    task = progress.add_task("events", total=events)
    error, readings = 0.0, [(0, resident_mib())]
    for done in range(0, events, every):
        for x, y in islice(stream, min(every, events - done)):
            error += abs(model.predict_one(x) - y)
            model.learn_one(x, y)
        learned = min(done + every, events)
        readings.append((learned, resident_mib()))
        progress.update(task, completed=learned)
    return readings, error / events


def growth(readings: list[Reading]) -> dict[str, float]:
    """Return the range of memory in the second part of the run, and its slope."""
    settled = [reading for reading in readings if reading[0] >= SETTLED * readings[-1][0]]
    learned, mib = np.array(settled).T
    slope = np.polyfit(learned / 1e6, mib, 1)[0] if len(settled) > 1 else 0.0
    return {
        "settled, MiB": float(mib[0]),
        "largest, MiB": float(mib.max()),
        "last, MiB": float(mib[-1]),
        "MiB a million events": float(slope),
    }


def draw(readings: list[Reading], title: str, file: Path) -> None:
    """Write the curve as a picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.add_subplot()
    learned, mib = zip(*readings, strict=True)
    axes.plot([n / 1e6 for n in learned], mib)
    axes.set(xlabel="million events", ylabel="resident memory, MiB", title=title)
    axes.set_ylim(0, 1.25 * max(mib))
    axes.grid(alpha=0.3)
    figure.savefig(file, dpi=120)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    regressors = NAMED.keys() - {"infinite-layer-classifier"}
    parser.add_argument("--learner", choices=sorted(regressors), default="pool")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for JSON and picture")
    arguments = parser.parse_args(argv)
    if arguments.events < 1:
        parser.error(f"--events {arguments.events} must be at least 1")

    console = Console()
    warnings.simplefilter("ignore", IlnWarning)
    columns = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    started = perf_counter()
    with Progress(*columns, console=console) as progress:
        readings, mae = run(NAMED[arguments.learner](seed=1), arguments.events, progress)
    seconds = perf_counter() - started
    found = {
        "versions": versions(),
        "machine": machine(),
        "learner": arguments.learner,
        "events": arguments.events,
        "events/s": arguments.events / seconds,
        "MAE": mae,
        **growth(readings),
        "readings": readings,
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / f"memory_{arguments.learner}.json"
    file.write_text(json.dumps(found, allow_nan=False) + "\n", encoding="utf-8")
    title = f"{arguments.learner}, {arguments.events:,} events"
    draw(readings, title, file.with_suffix(".png"))
    console.print({name: value for name, value in found.items() if name != "readings"})
    console.print(f"{file} and {file.with_suffix('.png').name}")


if __name__ == "__main__":
    main()
