"""Largest error of the kernel's estimate against the number of features, for each feature map."""

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

import numpy as np

from iln_stream.features import ArcCosine, CauchyFourier, GaussianFourier, Kernel, LaplacianFourier
from iln_stream.research.experiments.curves import draw_curve
from iln_stream.research.experiments.result import (
    Budget,
    Progress,
    Result,
    agreement,
    mean_and_error,
    power_law,
)
from iln_stream.research.feature_maps import (
    Fastfood,
    FeatureMap,
    FromFamily,
    NystroemMap,
    OrthogonalFourier,
    RandomBinning,
    SineCosine,
)

D = 8
GAMMA = 0.125
POINTS = 200

MAPS: dict[str, Callable[[int], FeatureMap]] = {
    "Gaussian, cosine": lambda M: FromFamily(GaussianFourier(GAMMA), M, sqrt(2.0)),
    "Gaussian, sine-cosine": lambda M: SineCosine(GaussianFourier(GAMMA), M),
    "Gaussian, orthogonal": lambda M: OrthogonalFourier(M, GAMMA),
    "Gaussian, Fastfood": lambda M: Fastfood(M, GAMMA),
    "Laplacian, cosine": lambda M: FromFamily(LaplacianFourier(GAMMA), M, sqrt(2.0)),
    "Laplacian, sine-cosine": lambda M: SineCosine(LaplacianFourier(GAMMA), M),
    "Laplacian, binning": lambda M: RandomBinning(M, buckets=16, gamma=GAMMA),
    "Cauchy, cosine": lambda M: FromFamily(CauchyFourier(GAMMA), M, sqrt(2.0)),
    "Cauchy, sine-cosine": lambda M: SineCosine(CauchyFourier(GAMMA), M),
    "arc-cosine": lambda M: FromFamily(ArcCosine(), M),
}
"""Maps of M evaluations of units; binning has M grids."""

NYSTROEM = "Gaussian, Nystroem"


SIZES = {False: (16, 64, 256), True: (16, 32, 64, 128, 256, 512, 1024, 2048)}


def run(full: bool, seeds: int, progress: Progress) -> Result:
    """Measure the largest error over all pairs of 200 points, in units of the largest kernel value.

    Points are standard normal in 8 dimensions, every second one a near copy of the one before, so
    that pairs have all distances. Nystroem's landmarks are other points of the same distribution. A
    full run goes up to 2,048 features, a quick one to 256. Errors are means over the seeds, draws
    of points and maps.
    """
    sizes = SIZES[full]
    names = (*MAPS, NYSTROEM)
    errors: dict[str, list[list[float]]] = {name: [[] for _ in range(seeds)] for name in names}
    budgets = {name: Budget() for name in names}
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((POINTS, D))
        X[1::2] = X[::2] + 0.3 * rng.standard_normal((POINTS // 2, D))
        for M in sizes:
            progress(f"{M} features, seed {seed}")
            for name in names:
                budget = budgets[name]
                with budget.timed():
                    if name == NYSTROEM:
                        kernel: Kernel = OrthogonalFourier(2, GAMMA).kernel
                        phi = NystroemMap(kernel, rng.standard_normal((M, D)))(X)
                        budget.kernels += M * POINTS
                    else:
                        feature_map = MAPS[name](M)
                        assert feature_map.kernel is not None
                        kernel = feature_map.kernel
                        drawn = feature_map.draw(D, rng)
                        phi = drawn(X)
                        budget.psi += drawn.n_psi * POINTS
                        budget.draws += M
                exact = np.array([kernel(X, x) for x in X])
                errors[name][seed].append(float(np.abs(phi @ phi.T - exact).max() / exact.max()))
    figures = {
        "sizes": list(sizes),
        "maps": {
            name: {
                "sup_error": [mean_and_error(values) for values in zip(*runs, strict=True)],
                "exponent": power_law(sizes, runs),
                **budgets[name].figures(),
            }
            for name, runs in errors.items()
        },
    }
    settings = {"full": full, "seeds": seeds, "d": D, "gamma": GAMMA, "points": POINTS}
    return Result("kernels", settings, figures, _notes(figures), _draw)


def _notes(figures: Mapping[str, Any]) -> list[str]:
    maps = figures["maps"]
    notes = []
    for name, found in maps.items():
        if name == NYSTROEM:
            continue
        fit = found["exponent"]
        rate = f"M^{fit['exponent']:.2f}"
        if fit["low"] is not None:
            rate += f" (95 %: {fit['low']:.2f} to {fit['high']:.2f})"
        notes.append(f"{name}: the largest error falls as {rate}: {agreement(fit, -0.5)}.")
    largest = figures["sizes"][-1]

    def last(name: str) -> float:
        return float(maps[name]["sup_error"][-1]["mean"])

    base = last("Gaussian, sine-cosine")
    notes += [
        f"{name} at M = {largest}: {last(name) / base:.2f} times the error of sine-cosine."
        for name in ("Gaussian, cosine", "Gaussian, orthogonal", "Gaussian, Fastfood", NYSTROEM)
    ]
    ratio = last("Laplacian, binning") / last("Laplacian, sine-cosine")
    notes.append(f"Binning at {largest} grids: {ratio:.2f} times the error of sine-cosine.")
    return notes


def _draw(axes: Any, figures: Mapping[str, Any]) -> None:
    styles = {"Gaussian": "-", "Laplacian": "--", "Cauchy": ":", "arc-cosine": "-."}
    for k, (name, found) in enumerate(figures["maps"].items()):
        style = {"linestyle": styles[name.partition(",")[0]], "marker": "o", "markersize": 3}
        color = f"C{k % 10}" if k < 10 else "k"
        draw_curve(axes, figures["sizes"], found["sup_error"], label=name, color=color, **style)
    axes.set(xscale="log", yscale="log")
    axes.set_xlabel("evaluations of units (grids, landmarks) for one point")
    axes.set_ylabel("largest error of k, relative to its largest value")
    axes.legend(fontsize="x-small", ncols=2)
