"""Runs the cells that are not stored, and prints tables.

    python -m benchmarks.long_streams [--events 100000] [--stream bumps ...] [--learner fast ...]

A cell is one learner on one stream with one seed. Errors are ratios: the mean absolute error over
that of the running mean, by segments of the stream.
"""

import argparse
import json
import platform
import statistics
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numba
import numpy as np
from river import linear_model, preprocessing, tree

from benchmarks.ablation.ingredients import INGREDIENTS, Lacking
from benchmarks.long_streams.plot import draw
from benchmarks.long_streams.streams import DESIGN, HELD_BACK, STREAMS
from iln_stream import InfiniteLayerRegressor, __version__

RESULTS = Path(__file__).parents[1] / "results" / "long_streams.json"
ENDS = (100, 1_000, 2_000, 10_000, 50_000, 100_000, 500_000, 1_000_000)

WARM_UP = 200
"""Events that are not timed: functions are compiled meanwhile."""

LEARNERS: dict[str, Callable[[int], Any]] = {
    "accurate": lambda seed: InfiniteLayerRegressor(seed=seed),
    "no-networks": lambda seed: Lacking(seed, INGREDIENTS["networks"]),
    "fast": lambda seed: InfiniteLayerRegressor("fast", seed=seed),
    "river-linear": lambda _: preprocessing.StandardScaler() | linear_model.LinearRegression(),
    "river-hatr": lambda seed: (
        preprocessing.StandardScaler() | tree.HoeffdingAdaptiveTreeRegressor(seed=seed)
    ),
}


def run(learner: str, stream: str, seed: int, n: int) -> dict[str, Any]:
    """Return a cell: errors by segment, and microseconds of processor time an event."""
    model, mean = LEARNERS[learner](seed), 0.0
    errors, base = np.zeros(len(ENDS)), np.zeros(len(ENDS))
    segment, used = 0, 0.0
    for t, (x, y) in enumerate(STREAMS[stream].events(n, seed)):
        if t == ENDS[segment]:
            segment += 1
        began = process_time()
        y_pred = model.predict_one(x)
        model.learn_one(x, y)
        if t >= WARM_UP:
            used += process_time() - began
        errors[segment] += abs(y_pred - y)
        base[segment] += abs(mean - y)
        mean += (y - mean) / (t + 1)
    done = slice(0, segment + 1)
    return {
        "errors": np.round(errors[done] / base[done], 4).tolist(),
        "us": round(1e6 * used / (n - WARM_UP), 1),
        "version": __version__,
        "numba": numba.__version__,
        "python": platform.python_version(),
    }


def main() -> None:
    """Run, store and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.long_streams")
    parser.add_argument("--events", type=int, default=100_000, choices=ENDS[1:])
    parser.add_argument("--stream", nargs="*", default=list(STREAMS), choices=STREAMS)
    parser.add_argument("--learner", nargs="*", default=list(LEARNERS), choices=LEARNERS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--again", action="store_true", help="run cells that are stored, too")
    parser.add_argument("--plot", type=Path, help="file of a picture of the stored curves")
    given = parser.parse_args()
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for seed in range(1, given.seeds + 1):
        for stream in given.stream:
            for learner in given.learner:
                key = f"{given.events} {stream} {learner} {seed}"
                if given.again or key not in stored:
                    stored[key] = run(learner, stream, seed, given.events)
                    RESULTS.write_text(json.dumps(stored, indent=0, sort_keys=True) + "\n")
                    print(key, stored[key]["errors"], stored[key]["us"], flush=True)
    if given.plot is not None:
        draw(stored, given.events, ENDS, given.plot)
    for title, group in (("design", DESIGN), ("held back", HELD_BACK)):
        print("\n".join(table(title, group, given.events, stored)))


def table(title: str, group: Any, n: int, stored: dict[str, Any]) -> list[str]:
    """Return a table of the medians over seeds, by stream and learner."""
    ends = [end for end in ENDS if end <= n]
    spans = [f"{a:,}-{b:,}" for a, b in zip((0, *ends), ends, strict=False)]
    lines = [f"| {title} | learner | {' | '.join(spans)} | us |", "|---" * (len(spans) + 3) + "|"]
    for learner in LEARNERS:
        rows = []
        for stream in group:
            cells = [c for k, c in stored.items() if k.startswith(f"{n} {stream} {learner} ")]
            if not cells:
                continue
            errors = [statistics.median(e) for e in zip(*(c["errors"] for c in cells), strict=True)]
            rows.append(errors)
            us = statistics.median(cell["us"] for cell in cells)
            lines.append(_line(stream, learner, errors, f"{us:.0f}"))
        if len(rows) == len(group):
            lines.append(_line("gm", learner, np.exp(np.log(rows).mean(axis=0)).tolist(), ""))
    return lines


def _line(stream: str, learner: str, errors: list[float], us: str) -> str:
    figures = " | ".join(f"{error:.3f}".removeprefix("0") for error in errors)
    return f"| {stream} | {learner} | {figures} | {us} |"


if __name__ == "__main__":
    main()
