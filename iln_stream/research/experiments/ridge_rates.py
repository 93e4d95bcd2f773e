"""Excess risk of random-feature ridge regression against n, with M = sqrt(n) and other numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np

from iln_stream.features import GaussianFourier
from iln_stream.research.experiments.methods.ridges import Array, BatchRidge
from iln_stream.research.experiments.result import Budget, Result, mean_and_error, power_law
from iln_stream.research.related.kernel_expansion import gaussian_kernel

Progress = Callable[[str], None]

D = 2
GAMMA = 1.0
NOISE = 0.5
TEST = 1000
POOL = 4

COUNTS: dict[str, Callable[[int], int]] = {
    "n^(1/4)": lambda n: round(n**0.25),
    "sqrt(n)": lambda n: round(sqrt(n)),
    "sqrt(n) log n": lambda n: round(sqrt(n) * log(n)),
}
"""M by n."""

KERNEL = "kernel ridge regression"


@dataclass(frozen=True)
class _Plan:
    sizes: tuple[int, ...]


QUICK = _Plan((64, 256, 1024))
FULL = _Plan((64, 128, 256, 512, 1024, 2048, 4096))


def run(full: bool, seeds: int, progress: Progress) -> Result:
    """Measure the excess risk against n, for each number of features M and both samplings.

    The target is a sum of 20 Gaussian kernels, in the kernel's space, plus noise; inputs are
    uniform over [-1, 1]^2; lambda = n^(-1/2) / 10. Leverage scores come from a pool of 4 M units.

    Parameters
    ----------
    full
        Whether to go up to n = 4,096 or to 1,024.
    seeds
        Number of targets, samples and draws of units.
    progress
        Gets a line for each size and seed.

    """
    sizes = (FULL if full else QUICK).sizes
    names = [f"{count}, {way}" for count in COUNTS for way in ("uniform", "leverage")] + [KERNEL]
    runs: dict[str, list[list[float]]] = {name: [] for name in names}
    budgets = {name: Budget() for name in names}
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        centres, c = rng.uniform(-1, 1, (20, D)), rng.standard_normal(20)
        Z = rng.uniform(-1, 1, (TEST, D))
        truth = gaussian_kernel(Z, centres, GAMMA) @ c
        risks: dict[str, list[float]] = {name: [] for name in names}
        for n in sizes:
            progress(f"n = {n}, seed {seed}")
            X = rng.uniform(-1, 1, (n, D))
            y = gaussian_kernel(X, centres, GAMMA) @ c + NOISE * rng.standard_normal(n)
            for name in names:
                with budgets[name].timed():
                    found = _predicted(name, X, y, Z, seed, budgets[name])
                risks[name].append(float(np.mean((found - truth) ** 2)))
        for name in names:
            runs[name].append(risks[name])
    figures = {
        "sizes": list(sizes),
        "methods": {
            name: {
                "excess_risk": [mean_and_error(values) for values in zip(*found, strict=True)],
                "exponent": power_law(sizes, found),
                "ratio": mean_and_error(
                    [risk[-1] / best[-1] for risk, best in zip(found, runs[KERNEL], strict=True)]
                ),
                **budgets[name].figures(),
            }
            for name, found in runs.items()
        },
    }
    settings = {"full": full, "seeds": seeds, "d": D, "gamma": GAMMA, "noise": NOISE, "pool": POOL}
    return Result("ridge_rates", settings, figures, _notes(figures), _draw)


def _predicted(name: str, X: Array, y: Array, Z: Array, seed: int, budget: Budget) -> Array:
    n = len(X)
    lam = 0.1 / sqrt(n)
    if name == KERNEL:
        budget.kernels += n * (n + len(Z))
        K = gaussian_kernel(X, X, GAMMA)
        f: Array = gaussian_kernel(Z, X, GAMMA) @ np.linalg.solve(K + n * lam * np.eye(n), y)
        return f
    count, _, way = name.partition(", ")
    M = COUNTS[count](n)
    pool = POOL * M if way == "leverage" else None
    budget.draws += pool or M
    budget.psi += (pool or M) * (n + len(Z))
    model = BatchRidge(GaussianFourier(GAMMA), M, lam, pool, sqrt(2.0), seed)
    return model.fit(X, y).predict(Z)


def _notes(figures: Mapping[str, Any]) -> list[str]:
    n = figures["sizes"][-1]
    notes = []
    for name, found in figures["methods"].items():
        ratio, fit = found["ratio"], found["exponent"]
        error = ratio["standard_error"]
        spread = "" if error is None else f" ± {error:.2f}"
        interval = "" if fit["low"] is None else f" (95 %: {fit['low']:.2f} to {fit['high']:.2f})"
        notes.append(
            f"{name}: excess risk falls as n^{fit['exponent']:.2f}{interval}; at n = {n} it is "
            f"{ratio['mean']:.2f}{spread} times that of kernel ridge regression."
        )
    return notes


def _draw(axes: Any, figures: Mapping[str, Any]) -> None:
    for k, (name, found) in enumerate(figures["methods"].items()):
        axes.errorbar(
            figures["sizes"],
            [point["mean"] for point in found["excess_risk"]],
            [point["standard_error"] or 0.0 for point in found["excess_risk"]],
            label=name if name == KERNEL else f"M = {name}",
            color="k" if name == KERNEL else f"C{k // 2}",
            linestyle="--" if name.endswith("leverage") else "-",
            marker="o",
            markersize=3,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("n, examples")
    axes.set_ylabel("excess risk")
    axes.legend(fontsize="x-small")
