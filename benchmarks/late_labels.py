"""Labels that come late: errors and coverage by delay, beside peers under the same delay.

    python -m benchmarks.late_labels run [--streams A,B] [--delays 10,100]   # stores missing cells
    python -m benchmarks.late_labels table                                   # Markdown
    python -m benchmarks.late_labels peers              # ours beside the best of River's and VW's
    python -m benchmarks.late_labels run --streams deep@100000 --delays 100  # more events

The label of an event comes when so many further events have been predicted. The error is the mean
absolute one of the predictions as they were published; coverage is that of 90 % intervals, from the
hundredth known label on. Ours learn with the token of the prediction (`learn_token`), and, for
comparison, without (`learn_one`).
"""

import argparse
import json
import math
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.long_streams.streams import DESIGN
from benchmarks.quality.learners import CONTENDERS
from benchmarks.quality.learners.scaled import scaled
from benchmarks.quality.learners.vowpal_wabbit_peers import VowpalWabbitRegressor
from benchmarks.quality.streams import STREAMS
from benchmarks.quality.streams.ten import TEN
from benchmarks.quality.unavailable import UnavailableError
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor

RESULTS = Path(__file__).parent / "results" / "late_labels.json"
DELAYS = 0, 10, 100, 1_000
SHORT, LONG = 3_000, 5_000
"""The most events of a stream of the quality suite, and the events of a long one."""

KNOWN = 100
"""Labels that are known when coverage begins to count."""

MACKEY_GLASS = "mackey-glass"

LEARNERS: dict[str, tuple[Callable[[], Any], bool]] = {
    "accurate": (lambda: InfiniteLayerRegressor(seed=1), True),
    "accurate, learn_one": (lambda: InfiniteLayerRegressor(seed=1), False),
    "fast": (lambda: InfiniteLayerRegressor("fast", seed=1), True),
    "fast, learn_one": (lambda: InfiniteLayerRegressor("fast", seed=1), False),
    "River linear": (lambda: CONTENDERS["river-linear"].make(1), False),
    "River KNN": (lambda: CONTENDERS["river-knn"].make(1), False),
    "VW cubic": (lambda: CONTENDERS["vw-cubic-nn"].make(1), False),
    "VW linear": (lambda: scaled(lambda seed: VowpalWabbitRegressor("", seed))(1), False),
}
"""A factory each, and whether it learns with tokens."""

Events = list[tuple[dict[str, float], float]]


def streams() -> list[str]:
    """Return the streams' ids."""
    return [*(stream.id for stream in TEN), MACKEY_GLASS, *DESIGN]


def events_of(stream: str) -> Events:
    """Return the events of a stream that are used; `deep@100000` are so many of a long one."""
    name, _, n = stream.partition("@")
    if name in DESIGN:
        return list(DESIGN[name].events(int(n or LONG), 1))
    return STREAMS[stream].events()[:SHORT]


def run(learner: Any, events: Events, delay: int, *, tokens: bool) -> dict[str, float | None]:
    """Return the mean absolute error, and the coverage if the learner has intervals."""
    waiting: deque[tuple[dict[str, float], Any, float]] = deque()
    has_intervals = hasattr(learner, "predict_interval")
    lost, inside, counted = 0.0, 0, 0
    for n, (x, y) in enumerate(events):
        prediction, token = learner.predict_token(x) if tokens else (learner.predict_one(x), None)
        lost += abs(y - (prediction or 0.0))  # River's KNN knows nothing at first
        if has_intervals and n >= delay + KNOWN:
            low, high = learner.predict_interval(x, 0.9)
            inside += low <= y <= high
            counted += 1
        waiting.append((x, token, y))
        if len(waiting) > delay:
            x, token, y = waiting.popleft()
            if tokens:
                learner.learn_token(x, token, y)
            else:
                learner.learn_one(x, y)
    coverage = round(inside / counted, 4) if counted else None
    return {"mae": float(f"{lost / len(events):.5g}"), "coverage": coverage}


def load() -> dict[str, dict[str, Any]]:
    """Return the stored cells by "STREAM DELAY LEARNER"."""
    return json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}


def store(key: str, cell: dict[str, Any]) -> None:
    """Store a cell beside those that the file has by now."""
    text = json.dumps(load() | {key: cell}, indent=0, sort_keys=True)
    beside = RESULTS.with_suffix(f".{key.replace(' ', '-')}.tmp")
    beside.write_text(text + "\n", "utf-8")
    beside.replace(RESULTS)


def run_missing(names: list[str], delays: list[int], learners: list[str]) -> None:
    """Run and store the cells that are not stored yet; a stream must outlast the delay twice."""
    for delay in delays:
        for stream in names:
            events = events_of(stream)
            for name in learners:
                make, tokens = LEARNERS[name]
                key = f"{stream} {delay} {name}"
                without = delay == 0 and name.endswith("learn_one")
                if key in load() or len(events) < 2 * delay or without:
                    continue
                try:
                    cell = run(make(), events, delay, tokens=tokens)
                except UnavailableError as error:
                    print(f"{name}: {error}")
                    continue
                store(key, cell)
                print(key, cell, flush=True)


def table(delay: int, names: list[str]) -> str:
    """Return the errors, and ours' coverage in percent, at a delay."""
    cells = load()
    shown = [name for name in LEARNERS if any(f"{s} {delay} {name}" in cells for s in names)]
    lines = [f"| delay {delay:,} | {' | '.join(shown)} |", "|---" * (len(shown) + 1) + "|"]
    for stream in names:
        found = [cells.get(f"{stream} {delay} {name}") for name in shown]
        if not any(found):
            continue
        least = min((cell["mae"] for cell in found if cell), default=math.nan)
        lines.append(f"| {stream} | {' | '.join(_shown(cell, least) for cell in found)} |")
    return "\n".join(lines)


def beside_peers(delays: list[int], names: list[str]) -> str:
    """Return the errors of ours, and the least of River's and of Vowpal Wabbit's, at each delay."""
    cells = load()
    shown = [f"{each} {delay:,}" for delay in delays for each in ("accurate", "River", "VW")]
    lines = [f"| | {' | '.join(shown)} |", "|---" * (len(shown) + 1) + "|"]
    for stream in names:
        row = []
        for delay in delays:
            errors = [_least(cells, f"{stream} {delay} {each}") for each in ("acc", "River", "VW")]
            row += [f"**{e:.3g}**" if e == min(errors) < math.inf else f"{e:.3g}" for e in errors]
        lines.append(f"| {stream} | {' | '.join(row).replace('inf', '-')} |")
    return "\n".join(lines)


def _least(cells: dict[str, dict[str, Any]], key: str) -> float:
    """Return the least error of learners whose key begins so, with tokens if they make them."""
    found = (k for k in cells if k.startswith(key) and not k.endswith("learn_one"))
    return min((cells[k]["mae"] for k in found), default=math.inf)


def _shown(cell: dict[str, Any] | None, least: float) -> str:
    if cell is None:
        return "-"
    error = f"{cell['mae']:.3g}"
    error = f"**{error}**" if cell["mae"] == least else error
    return error if cell["coverage"] is None else f"{error} ({100 * cell['coverage']:.0f} %)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("run", "table", "peers"))
    parser.add_argument("--streams", default=",".join(streams()))
    parser.add_argument("--delays", default=",".join(map(str, DELAYS)))
    parser.add_argument("--learners", default=";".join(LEARNERS), help="separated by semicolons")
    options = parser.parse_args()
    delays = [int(delay) for delay in options.delays.split(",")]
    names = options.streams.split(",")
    if options.action == "run":
        run_missing(names, delays, options.learners.split(";"))
    elif options.action == "peers":
        print(beside_peers(delays, names))
    else:
        print("\n\n".join(table(delay, names) for delay in delays))


if __name__ == "__main__":
    main()
