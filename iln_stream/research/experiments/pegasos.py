"""Test error against time on adult: Pegasos, its budgeted forms and machines of its toolbox."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from iln_stream.research.experiments.data import Array, Split, as_events, load_adult
from iln_stream.research.experiments.methods.amm_batch import AdaptiveMultiHyperplaneBatch
from iln_stream.research.experiments.methods.linear_svm import (
    LowRankLinearisedSVM,
    linear_svm,
    parallel_sgd,
)
from iln_stream.research.experiments.methods.ridges import ridge
from iln_stream.research.experiments.result import Budget, Progress, Result, mean_and_error
from iln_stream.research.feature_maps import RandomBinning
from iln_stream.research.related import (
    AdaptiveMultiHyperplane,
    BudgetedKernelSGD,
    KernelPegasos,
    NormaClassifier,
    Pegasos,
)

SOURCES = {
    "Pegasos": (0.1504, 0.0007),
    "kernel Pegasos": (0.155, 0.0),
    "AMM batch": (0.1503, 0.0011),
    "AMM online": (0.1644, 0.0023),
    "random binning, 30 grids": (0.153, 0.0),
}
"""Test errors on adult in the tables of Minhas' slides, and what they print after ±."""

_DISCERNED = 0.01
"""A verdict whose two standard errors are above this says nothing."""

GAMMA = 0.05
LAM = {"linear": 3e-3, "kernel": 1e-4, "landmarks": 3e-5, "averaged": 3e-4, "optimum": 3e-4}
"""Set by hand, as gamma; the trials were not recorded, so other values may do better.

Only the step of NORMA, below, has a record: of 0.1, 0.3 and 1 it has the least error on a fifth of
adult's training data after 8,000 events of the others.
"""

BINNING_GAMMA = 0.1
"""Of 0.02, 0.05, 0.1 and 0.2 it has the least error on a fifth of adult's training data."""

ONLINE: dict[str, Callable[[], Any]] = {
    "Pegasos": lambda: Pegasos(LAM["linear"]),
    "Pegasos, batches of 10": lambda: Pegasos(LAM["linear"], batch=10),
    "Pegasos, projected": lambda: Pegasos(LAM["linear"], project=True),
    "kernel Pegasos": lambda: KernelPegasos(LAM["kernel"], GAMMA),
    "budget 100, projection": lambda: BudgetedKernelSGD(LAM["kernel"], GAMMA, 100, "projection"),
    "budget 200, merging": lambda: BudgetedKernelSGD(LAM["kernel"], GAMMA, 200, "merging"),
    "NORMA, last 2,000": lambda: NormaClassifier(
        step=0.3, lam=LAM["kernel"], gamma=GAMMA, window=2000
    ),
    "AMM online": lambda: AdaptiveMultiHyperplane(LAM["linear"]),
}
"""Learners of events."""

PASSES = 5
ONE_PASS = {"kernel Pegasos", "budget 100, projection"}
"""Those whose memory or time forbids the `PASSES` passes of the others in the full run."""


def _parallel(split: Split, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    w = parallel_sgd(split.X, split.y, LAM["averaged"], eta=0.1, machines=8, rng=rng)
    return split.Z @ w


def _binning(split: Split, seed: int) -> Array:
    drawn = RandomBinning(30, gamma=BINNING_GAMMA).draw(
        split.X.shape[1], np.random.default_rng(seed)
    )
    X, Z = (
        np.vstack([drawn(part) for part in np.array_split(rows, 20)])  # in parts, to spare memory
        for rows in (split.X, split.Z)
    )
    f: Array = Z @ ridge(X, split.y, LAM["kernel"] * len(split.y))
    return f


def _amm(split: Split, seed: int) -> Array:
    X, Z = (np.column_stack([rows, np.ones(len(rows))]) for rows in (split.X, split.Z))
    model = AdaptiveMultiHyperplaneBatch(LAM["linear"], seed=seed).fit(X, split.y)
    return np.array(model.predict(Z), dtype=float)


BATCH: dict[str, Callable[[Split, int], Array]] = {
    "averaged over 8 machines": _parallel,
    "AMM batch": _amm,
    "random binning, 30 grids": _binning,
    "LLSVM, 200 landmarks": lambda split, seed: (
        LowRankLinearisedSVM(LAM["landmarks"], GAMMA, 200, seed=seed)
        .fit(split.X, split.y)
        .decision(split.Z)
    ),
    "linear SVM, optimum": lambda split, seed: (
        split.Z @ linear_svm(split.X, split.y, LAM["optimum"], seed=seed)
    ),
}
"""Methods that get all training data at once, and return f on the test data."""


class _Plan(NamedTuple):
    """How much to run: training sizes at which the error is measured, and test examples."""

    sizes: tuple[int, ...]
    n_test: int


QUICK = _Plan((500, 2000), 1000)
FULL = _Plan((250, 500, 1000, 2000, 4000, 8000, 16_000, 32_561), 16_281)


def run(full: bool, seeds: int, progress: Progress, folder: str | None = None) -> Result:
    """Measure test error and CPU time of each method at growing numbers of training examples.

    A full run is on all of adult, some minutes a seed, a quick one on 2,000 examples; see
    `load_adult` for the folder. Errors are means over the seeds, orders of the training data.
    """
    plan, data = FULL if full else QUICK, load_adult(folder)
    runs: dict[str, list[list[dict[str, float]]]] = {name: [] for name in (*ONLINE, *BATCH)}
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(data.X))
        split = data._replace(X=data.X[order], y=data.y[order])
        split = split.first(plan.sizes[-1], plan.n_test)
        sizes = sorted({min(size, len(split.X)) for size in plan.sizes})
        for name, make in ONLINE.items():
            progress(f"{name}, seed {seed}")
            passes = range(2, 1 + (PASSES if full and name not in ONE_PASS else 1))
            more = [k * sizes[-1] for k in passes]
            runs[name].append(_learn(make(), split, sizes + more, rng))
        for name, fit in BATCH.items():
            progress(f"{name}, seed {seed}")
            runs[name].append([_fit(fit, split, size, seed) for size in sizes])
    figures = {
        "methods": {name: _summary(points) for name, points in runs.items()},
        "sources": SOURCES,
        "data": data.source,
        "guessing": float(min(np.mean(split.labels > 0), np.mean(split.labels < 0))),
    }
    settings = {"full": full, "seeds": seeds, "gamma": GAMMA, "lam": LAM, "data": data.source}
    return Result("pegasos", settings, figures, _notes(figures, full), _draw)


def _learn(model: Any, split: Split, sizes: list[int], rng: Generator) -> list[dict[str, float]]:
    """Train an online learner, pass after pass in random orders, and measure it at each size."""
    events, tests = as_events(split.X), as_events(split.Z)
    labels = (split.y > 0).tolist()
    passes = -(-sizes[-1] // len(events))
    order = [i for _ in range(passes) for i in rng.permutation(len(events)).tolist()]
    budget, points, start = Budget(), [], 0
    for size in sizes:
        with budget.timed():
            for i in order[start:size]:
                budget.kernels += getattr(model, "n_support", 0)
                model.learn_one(events[i], labels[i])
        start = size
        wrong = np.array(model.predict_several(tests)) != (split.labels > 0)
        points.append(_point(size, wrong, budget) | _size_of(model))
    return points


def _size_of(model: Any) -> dict[str, float]:
    if hasattr(model, "n_support"):
        return {"units": float(model.n_support)}
    if hasattr(model, "n_hyperplanes"):
        return {"units": float(sum(model.n_hyperplanes.values()))}
    return {"units": 1.0}


def _fit(
    fit: Callable[[Split, int], Array], split: Split, size: int, seed: int
) -> dict[str, float]:
    """Train a batch method on the first examples, and measure it; prediction counts as time."""
    budget = Budget()
    with budget.timed():
        f = fit(split.first(size, len(split.Z)), seed)
    return _point(size, (f > 0) != (split.labels > 0), budget)


def _point(size: int, wrong: Any, budget: Budget) -> dict[str, float]:
    return {"n": float(size), "error": float(np.mean(wrong)), **budget.figures()}


def _summary(runs: list[list[dict[str, float]]]) -> list[dict[str, Any]]:
    """Return, for each size, the mean and standard error over the seeds of each number."""
    return [
        {"n": int(points[0]["n"])}
        | {key: mean_and_error([p[key] for p in points]) for key in points[0] if key != "n"}
        for points in zip(*runs, strict=True)
    ]


def _notes(figures: Mapping[str, Any], full: bool) -> list[str]:
    notes = [f"Data: {figures['data']}. Always the larger class: {figures['guessing']:.1%} error."]
    if not full or figures["data"] != "adult":
        return notes
    for name, points in figures["methods"].items():
        error, seconds = points[-1]["error"], points[-1]["seconds"]["mean"]
        spread = "" if error["standard_error"] is None else f" ± {error['standard_error']:.2%}"
        note = (
            f"{name}: {error['mean']:.2%}{spread} after {points[-1]['n']:,} events, {seconds:.2g} s"
        )
        if name in figures["sources"]:
            note += _verdict(error, *figures["sources"][name])
        notes.append(note + ".")
    return notes


def _verdict(error: Mapping[str, Any], theirs: float, spread: float) -> str:
    """Compare two means at two standard errors: level 5 % for many seeds, 12 % for five."""
    said = f"; the source has {theirs:.2%}, "
    if error["standard_error"] is None:
        return said + "too few runs to tell"
    margin, excess = 2 * math.hypot(error["standard_error"], spread), error["mean"] - theirs
    if margin > _DISCERNED:
        return said + "too few runs to tell"
    if abs(excess) <= margin:
        return said + "not distinguishable"
    return said + ("ours is lower" if excess < 0 else "ours is higher")


def _draw(axes: Any, figures: Mapping[str, Any]) -> None:
    for k, (name, points) in enumerate(figures["methods"].items()):
        axes.errorbar(
            [p["seconds"]["mean"] for p in points],
            [100 * p["error"]["mean"] for p in points],
            [100 * (p["error"]["standard_error"] or 0.0) for p in points],
            errorevery=(len(points) - 1, len(points)),  # the last, as in the notes
            label=name,
            marker="o" if name in ONLINE else "s",
            linestyle="-" if name in ONLINE else ":",
            color=f"C{k % 10}",
            markersize=3,
        )
        if figures["data"] == "adult" and name in figures["sources"]:
            axes.axhline(100 * figures["sources"][name][0], color=f"C{k % 10}", linewidth=0.5)
    axes.set_xscale("log")
    axes.set_xlabel("CPU seconds of training")
    axes.set_ylabel(f"test error, % ({figures['data'].partition(':')[0]})")
    axes.legend(fontsize="x-small", ncols=2)
