"""Fast rates of random-feature ridge regression, with features by their law or by leverage scores.

Rudi & Rosasco's conditions hold exactly for cosines on a circle: the kernel's eigenvalues are
sigma_k ~ k^(-1/gamma), and f* lies in the range of L^r.
"""

from collections.abc import Callable, Mapping
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from iln_stream.research.experiments.curves import draw_curve
from iln_stream.research.experiments.methods.ridges import Array, ridge
from iln_stream.research.experiments.result import Progress, Result, mean_and_error, power_law

CASES = ((1.0, 1 / 2), (1 / 2, 1 / 2), (1 / 3, 1 / 2), (1 / 2, 1.0))
"""(gamma, r): capacity and regularity. The first is the worst case, M = n^(1/2)."""

GRID = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The gamma, and from 1/2 on the r, at which the source's heat maps are given as numbers."""

SIZES = {False: (128, 512, 1024), True: (128, 256, 512, 1024, 2048)}
LATE = 512
"""Risks fall faster as n grows: exponents are given from this n on, too."""

FREQUENCIES: Array = np.arange(1.0, 601.0)
NOISE = 1.0

UNIFORM, LEVERAGE = 3.0, 16.0
"""M over n^c. Leverage scores need more features than N(lambda) log N(lambda), their first ones."""

KERNEL = "kernel ridge regression"
BY_LAW = "by their law, M ~ n^c"
BY_SCORES = "by leverage scores, M ~ n^d"
TOO_FEW = "by their law, M ~ n^min(d, c/2)"
"""The control: with so few features the rate should be lost."""


class Exponents(NamedTuple):
    """What the theorems say for gamma and r.

    Examples
    --------
    >>> from iln_stream.research.experiments.fast_rates import Exponents
    >>> Exponents.of(0.5, 0.5)  # doctest: +ELLIPSIS
    Exponents(rate=-0.666..., by_law=0.666..., by_scores=0.333...)

    """

    rate: float
    by_law: float
    by_scores: float

    @classmethod
    def of(cls, gamma: float, r: float) -> "Exponents":
        """Return the exponents of n in the excess risk, and in the M of both samplings."""
        width = 2 * r + gamma
        return cls(-2 * r / width, (1 + gamma * (2 * r - 1)) / width, (gamma + 2 * r - 1) / width)


def run(full: bool, seeds: int, progress: Progress) -> Result:
    """Fit the exponent of the excess risk in n for each case and way to sample features.

    lambda = n^(-1 / (2 r + gamma)) / 2. A full run goes up to n = 2,048, a quick one to 1,024 in
    fewer steps. A seed is a target, a sample and a draw of features.
    """
    sizes, cases = SIZES[full], []
    late = sizes.index(LATE)
    for gamma, r in CASES:
        table: dict[str, list[list[float]]] = {}
        for seed in range(seeds):
            progress(f"gamma = {gamma:.2f}, r = {r:g}, seed {seed}")
            found = [_risks(n, gamma, r, seed) for n in sizes]
            for name in found[0]:
                table.setdefault(name, []).append([each[name] for each in found])
        kernel = np.asarray(table[KERNEL])
        cases.append(
            {
                "gamma": gamma,
                "r": r,
                **Exponents.of(gamma, r)._asdict(),
                "methods": {
                    name: {
                        "excess_risk": [mean_and_error(at) for at in zip(*rows, strict=True)],
                        "exponent": power_law(sizes, rows),
                        "late": power_law(sizes[late:], [row[late:] for row in rows]),
                        "over_kernel": power_law(sizes, (rows / kernel).tolist()),
                    }
                    for name, rows in table.items()
                },
            }
        )
    heat_maps = [
        {"gamma": gamma, "r": r, **Exponents.of(gamma, r)._asdict()}
        for gamma in GRID
        for r in GRID[2:]
    ]
    figures = {"sizes": list(sizes), "cases": cases, "heat_maps": heat_maps}
    settings = {"full": full, "seeds": seeds, "noise": NOISE}
    return Result("fast_rates", settings, figures, _notes(figures), _draw)


def _risks(n: int, gamma: float, r: float, seed: int) -> dict[str, float]:
    """Return the excess risk of each way, all on one sample."""
    rng = np.random.default_rng([seed, n])
    sigma: Array = FREQUENCIES ** (-1 / gamma)
    sigma /= sigma.sum()
    coefficients = sigma**r * FREQUENCIES**-0.51  # f* = L^r g, and g has a finite norm
    coefficients /= np.linalg.norm(coefficients)
    phases = rng.uniform(0.0, 2 * np.pi, len(FREQUENCIES))
    x, grid = rng.random(n), (np.arange(2000) + 0.5) / 2000
    y = _cosines(x, FREQUENCIES, phases) @ coefficients + NOISE * rng.standard_normal(n)
    truth = _cosines(grid, FREQUENCIES, phases) @ coefficients
    exponents = Exponents.of(gamma, r)
    lam = n ** (-1 / (2 * r + gamma)) / 2

    def risk(features: Callable[[Array], Array]) -> float:
        return float(np.mean((features(grid) @ ridge(features(x), y, n * lam) - truth) ** 2))

    def drawn(M: float, law: Array) -> Callable[[Array], Array]:
        law = law / law.sum()
        k = rng.choice(len(law), ceil(M), p=law)
        phase, scale = rng.uniform(0.0, 2 * np.pi, len(k)), np.sqrt(sigma[k] / law[k] / len(k))
        return lambda x: _cosines(x, FREQUENCIES[k], phase) * scale

    too_few = min(exponents.by_scores, exponents.by_law / 2)
    return {
        KERNEL: risk(
            lambda x: (
                np.hstack([_cosines(x, FREQUENCIES, b) for b in (0.0, np.pi / 2)])
                * np.sqrt(np.tile(sigma, 2) / 2)
            )
        ),
        BY_LAW: risk(drawn(UNIFORM * n**exponents.by_law, sigma)),
        # The kernel has each frequency twice, with half of its sigma.
        BY_SCORES: risk(drawn(LEVERAGE * n**exponents.by_scores, sigma / (sigma + 2.0 * lam))),
        TOO_FEW: risk(drawn(UNIFORM * n**too_few, sigma)),
    }


def _cosines(x: Array, k: Array, phase: Array | float) -> Array:
    return np.asarray(np.sqrt(2.0) * np.cos(2 * np.pi * np.outer(x, k) + phase))


def _notes(figures: Mapping[str, Any]) -> list[str]:
    notes = []
    for case in figures["cases"]:
        said = ", ".join(
            f"{name} {_said(found['exponent'])} (from n = {LATE} on: {_said(found['late'])}; "
            f"to the kernel's: {_said(found['over_kernel'])})"
            for name, found in case["methods"].items()
        )
        notes.append(
            f"gamma = {case['gamma']:.2f}, r = {case['r']:g}: the theorems have n^"
            f"{case['rate']:.2f} with c = {case['by_law']:.2f}, d = {case['by_scores']:.2f}; "
            f"found {said}."
        )
    return notes


def _said(fit: Mapping[str, float | None]) -> str:
    interval = "" if fit["low"] is None else f", {fit['low']:.2f} to {fit['high']:.2f}"
    return f"{fit['exponent']:.2f}{interval}"


def _draw(axes: Any, figures: Mapping[str, Any]) -> None:
    case, sizes = figures["cases"][1], figures["sizes"]
    for k, (name, found) in enumerate(case["methods"].items()):
        draw_curve(axes, sizes, found["excess_risk"], label=name, color=f"C{k}", capsize=2)
    first = case["methods"][KERNEL]["excess_risk"][0]["mean"]
    rate = [first * (n / sizes[0]) ** case["rate"] for n in sizes]
    axes.plot(sizes, rate, ":", color="0.3", label=f"n^{case['rate']:.2f}")
    axes.set(xscale="log", yscale="log", xlabel="n, examples", ylabel="excess risk")
    axes.legend(fontsize="x-small")
