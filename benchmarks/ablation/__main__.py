"""Leave out one ingredient at a time: `python -m benchmarks.ablation [--seeds 1 2 3]`.

Prequential MAE over that of the running mean: geometric means over the streams to choose on, of
the median of the seeds, with the standard error of the change, over seeds. Some ten minutes.
"""

import argparse
import json
import math
import statistics
import sys
import warnings
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from .ingredients import INGREDIENTS, Lacking
from .streams import STREAMS, Stream


def ratio(model: Lacking, stream: Stream) -> float:
    """Return the prequential MAE over that of the running mean; the first event is only learned."""
    mean = error = bar = 0.0
    for n, (x, y) in enumerate(stream):
        if n:
            error += abs(model.predict_one(x) - y)
            bar += abs(mean - y)
        model.learn_one(x, y)
        mean += (y - mean) / (n + 1)
    return error / bar


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.ablation", description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    streams = {name: make() for name, make in STREAMS.items()}
    found: dict[str, dict[str, list[float]]] = {}
    for name, spoil in track(INGREDIENTS.items(), disable=not sys.stdout.isatty()):
        found[name] = {
            stream: [ratio(Lacking(seed, spoil), events) for seed in given.seeds]
            for stream, events in streams.items()
        }
        print(name, flush=True, file=sys.stderr)
        if given.json:
            given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    Console().print(table(found))


def table(found: dict[str, dict[str, list[float]]]) -> Table:
    """Return the worth of each ingredient: the means, and the streams where it matters most."""
    whole = found["nothing"]
    drawn = Table("without", "geometric mean", "change", "±", "worst without", "best without")
    for name, by_stream in found.items():
        logs = {
            stream: [math.log(a / b) for a, b in zip(ratios, whole[stream], strict=True)]
            for stream, ratios in by_stream.items()
        }
        by_seed = [statistics.fmean(column) for column in zip(*logs.values(), strict=True)]
        error = statistics.stdev(by_seed) / math.sqrt(len(by_seed)) if len(by_seed) > 1 else 0.0
        medians = {stream: statistics.median(values) for stream, values in logs.items()}
        worst, best = max(medians, key=medians.__getitem__), min(medians, key=medians.__getitem__)
        mean = statistics.geometric_mean(statistics.median(v) for v in by_stream.values())
        drawn.add_row(
            name, f"{mean:.4f}", f"{math.expm1(statistics.fmean(by_seed)):+.1%}", f"{error:.1%}",
            f"{worst} {math.expm1(medians[worst]):+.0%}",
            f"{best} {math.expm1(medians[best]):+.0%}",
        )  # fmt: skip
    return drawn


if __name__ == "__main__":
    main()
