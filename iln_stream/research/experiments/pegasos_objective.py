"""Pegasos' objective against iterations, by batch size and by the order of the examples."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator

from iln_stream.research.experiments.curves import draw_curve
from iln_stream.research.experiments.data import Split, as_events, load_adult
from iln_stream.research.experiments.methods.linear_svm import hinge_objective, linear_svm
from iln_stream.research.experiments.result import Progress, Result, mean_and_error
from iln_stream.research.related import Pegasos

LAM = 1e-3
PASSES = 5
SIZES = {False: 2000, True: 32_561}
"""Training examples."""


def with_replacement(n: int, rng: Generator) -> Iterator[int]:
    """Draw each example anew from all."""
    while True:
        yield int(rng.integers(n))


def one_order(n: int, rng: Generator) -> Iterator[int]:
    """Repeat one random order in every pass."""
    order = rng.permutation(n).tolist()
    while True:
        yield from order


def new_orders(n: int, rng: Generator) -> Iterator[int]:
    """Take another random order in every pass."""
    while True:
        yield from rng.permutation(n).tolist()


Order = Callable[[int, Generator], Iterator[int]]

WAYS: dict[str, tuple[Order, int]] = {
    "with replacement": (with_replacement, 1),
    "one order": (one_order, 1),
    "a new order each pass": (new_orders, 1),
    "the same, batches of 10": (new_orders, 10),
    "the same, batches of 100": (new_orders, 100),
    "the same, batches of 1,000": (new_orders, 1000),
}
"""Orders of the examples and k, the examples of one step."""


def run(full: bool, seeds: int, progress: Progress, folder: str | None = None) -> Result:
    """Measure how far the objective is above its least value, on its way through five passes.

    A full run trains on all of adult, a quick one on 2,000 examples; see `load_adult` for the
    folder. A seed is an order.
    """
    data = load_adult(folder).first(SIZES[full], 1)
    n = len(data.X)
    points = sorted({n * 2**k // 64 for k in range(7)} | {n * k for k in range(1, PASSES + 1)})
    progress("the optimum")
    optimum = linear_svm(data.X, data.y, LAM, epochs=200, gap=1e-5)
    least = hinge_objective(optimum, data.X, data.y, LAM)
    found: dict[str, list[list[float]]] = {}
    for seed in range(seeds):
        progress(f"seed {seed}")
        for name, (order, batch) in WAYS.items():
            found.setdefault(name, []).append(_excess(data, order, batch, points, seed, least))
    figures = {
        "data": data.source,
        "least": least,
        "events": points,
        "excess": {
            name: [mean_and_error(at) for at in zip(*rows, strict=True)]
            for name, rows in found.items()
        },
    }
    settings = {"full": full, "seeds": seeds, "lam": LAM, "data": data.source}
    return Result("pegasos_objective", settings, figures, _notes(figures), _draw)


def _excess(
    data: Split, order: Order, batch: int, points: list[int], seed: int, least: float
) -> list[float]:
    events, labels, d = as_events(data.X), (data.y > 0).tolist(), data.X.shape[1]
    model, examples = Pegasos(LAM, batch=batch), order(len(events), np.random.default_rng(seed))
    found, done = [], 0
    for point in points:
        for _ in range(point - done):
            i = next(examples)
            model.learn_one(events[i], labels[i])
        done = point
        weights = model.weights
        w = np.array([weights.get(j, 0.0) for j in range(d)])
        found.append(hinge_objective(w, data.X, data.y, LAM) - least)
    return found


def _notes(figures: Mapping[str, Any]) -> list[str]:
    notes = [f"Data: {figures['data']}. The objective's least value is {figures['least']:.4f}."]
    for name, points in figures["excess"].items():
        said = ", ".join(
            f"{points[at]['mean']:.2g}"
            + f" ± {points[at]['standard_error'] or 0.0:.1g} after {figures['events'][at]:,}"
            for at in (0, -PASSES, -1)
        )
        notes.append(f"{name}: the objective is above its least value by {said} examples.")
    return notes


def _draw(axes: Any, figures: Mapping[str, Any]) -> None:
    for k, (name, points) in enumerate(figures["excess"].items()):
        style = {"color": f"C{k}", "linestyle": "-" if "batches" in name else "--", "capsize": 2}
        draw_curve(axes, figures["events"], points, label=name, **style)
    axes.set(xscale="log", yscale="log", xlabel="examples, k T", ylabel="objective, excess")
    axes.legend(fontsize="x-small")
