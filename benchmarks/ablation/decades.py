"""What an ingredient buys early and late: leave one out at a time on long streams.

    python -m benchmarks.ablation.decades [--events 100000] [--stream products ...] [--without ...]

Errors are ratios by decade of events: the mean absolute error over that of the running mean. Cells
that are stored are not run again. A million events take some three minutes a cell.
"""

import argparse
import json
import math
import statistics
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.ablation.ingredients import INGREDIENTS, Lacking
from benchmarks.long_streams.streams import DESIGN

RESULTS = Path(__file__).parents[1] / "results" / "ablation_decades.json"
ENDS = (100, 1_000, 10_000, 100_000, 1_000_000)

WARM_UP = 200
"""Events that are not timed: functions are compiled meanwhile."""


def run(without: str, stream: str, n: int, seed: int = 1) -> dict[str, Any]:
    """Return errors by decade, and microseconds of processor time an event in the last one."""
    model, mean = Lacking(seed, INGREDIENTS[without]), 0.0
    errors, base = np.zeros(len(ENDS)), np.zeros(len(ENDS))
    decade, began = 0, 0.0
    for t, (x, y) in enumerate(DESIGN[stream].events(n, seed)):
        if t == ENDS[decade]:
            decade += 1
        if t in (WARM_UP, *ENDS[1:]):
            began, timed_from = process_time(), t
        errors[decade] += abs(model.predict_one(x) - y)
        model.learn_one(x, y)
        base[decade] += abs(mean - y)
        mean += (y - mean) / (t + 1)
    us = 1e6 * (process_time() - began) / (n - timed_from)
    done = slice(0, decade + 1)
    return {"errors": (errors[done] / base[done]).round(4).tolist(), "us": round(us, 1)}


def main() -> None:
    """Run, store and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation.decades")
    parser.add_argument("--events", type=int, default=100_000, choices=ENDS[1:])
    parser.add_argument("--stream", nargs="*", default=list(DESIGN), choices=DESIGN)
    parser.add_argument("--without", nargs="*", default=list(INGREDIENTS), choices=INGREDIENTS)
    given = parser.parse_args()
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for stream in given.stream:
        for without in dict.fromkeys(["nothing", *given.without]):
            key = f"{given.events} {stream} {without}"
            if key not in stored:
                stored[key] = run(without, stream, given.events)
                RESULTS.write_text(json.dumps(stored, indent=0, sort_keys=True) + "\n")
                print(key, stored[key], flush=True)
    print("\n".join(table(given.events, stored)))


def table(n: int, stored: dict[str, Any]) -> list[str]:
    """Return the change of the geometric mean over streams, by what is left out and by decade."""
    ends = [end for end in ENDS if end <= n]
    spans = [f"{a:,}-{b:,}" for a, b in zip((0, *ends), ends, strict=False)]
    lines = [f"| without | {' | '.join(spans)} | streams |", "|---" * (len(spans) + 2) + "|"]
    for without in INGREDIENTS:
        changes = [
            [math.log(a / b) for a, b in zip(cell["errors"], whole["errors"], strict=True)]
            for stream in DESIGN
            if (cell := stored.get(f"{n} {stream} {without}"))
            and (whole := stored.get(f"{n} {stream} nothing"))
        ]
        if changes and without != "nothing":
            means = (math.expm1(statistics.fmean(by)) for by in zip(*changes, strict=True))
            figures = " | ".join(f"{100 * change:+.1f} %" for change in means)
            lines.append(f"| {without} | {figures} | {len(changes)} |")
    return lines


if __name__ == "__main__":
    main()
