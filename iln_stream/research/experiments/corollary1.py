"""Corollary 1: the risk of f_S, the mean of f_1 to f_T, against T and B, beside Section 4's rivals.

Also what shrinks do: Algorithm 1 with too few draws, and shrinking switched off beside it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from iln_stream.research.experiments.curves import draw_curve
from iln_stream.research.experiments.methods.best_in_ball import kernel_factor, least_loss
from iln_stream.research.experiments.methods.ridges import Array
from iln_stream.research.experiments.regret import (
    FAMILY,
    WAYS,
    D,
    Stream,
    Way,
    by_seed,
    interval,
    known,
    losses,
    streams,
    value,
)
from iln_stream.research.experiments.result import (
    Budget,
    Progress,
    Result,
    mean_and_error,
    power_law,
)
from iln_stream.research.feature_maps.from_family import DrawnUnits
from iln_stream.research.related import DoublyStochasticRegressor
from iln_stream.research.theory import kappa, sum_of_steps

HORIZONS = {False: (100, 316), True: (100, 316, 1000, 3162)}
BOUNDS = {False: (1.0, 4.0), True: (1.0, 2.0, 4.0, 8.0)}
TEST = {False: 200, True: 2000}
"""Events that a risk is a mean of."""

STEPS = (0.3, 1.0)
"""First steps of doubly stochastic gradients; the best one counts, which flatters them."""

SHRINKING = {False: (2000, (4, 64)), True: (10_000, (4, 16, 64, 256, 1024))}
"""T and numbers of draws m of the runs whose noise feeds back."""


class Sample(NamedTuple):
    """Independent events to learn, and others to measure the risk with."""

    train: Stream
    test: Stream


def sample(T: int, n: int, seed: int) -> Sample:
    """Return a wave in one direction of three, of norm above 8, with noise; |y| <= 1."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (T + n, D))
    wave = 0.7 * np.sin(3.0 * X.sum(axis=1) / math.sqrt(D))
    y = np.clip(wave + rng.normal(0.0, 0.2, T + n), -1.0, 1.0)
    events = Stream(X, y, kernel_factor(X, FAMILY.kernel))
    return Sample(events.first(T), Stream(X[T:], y[T:], events.L[T:]))


Method = Callable[[Sample, float, int], tuple[float, float, float]]
"""(sample, B, seed) -> the risk of what it learned, the CPU seconds that this took, and shrinks."""


def _algorithm_1(way: str) -> Method:
    def learn(data: Sample, B: float, seed: int) -> tuple[float, float, float]:
        budget = Budget()
        with budget.timed():
            done = losses(data.train, B, WAYS[way], seed)
        return _risk(data.test.L @ done.average, data.test), budget.seconds, done.n_shrinks

    return learn


def _fixed(units: Callable[[int], int]) -> Method:
    """Return Algorithm 1 on a fixed set of random features, with their exact scalar product."""

    def learn(data: Sample, B: float, seed: int) -> tuple[float, float, float]:
        M, budget = units(len(data.train.y)), Budget()
        with budget.timed():
            drawn = FAMILY.draw(M, D, np.random.default_rng(seed))
            features = DrawnUnits(FAMILY, drawn, M, 1.0 / math.sqrt(M))
            train = data.train._replace(L=features(data.train.X))
            done = losses(train, B, WAYS["exact E"], seed)
        risk = _risk(features(data.test.X) @ done.average, data.test)
        return risk, budget.seconds, done.n_shrinks

    return learn


def _doubly(data: Sample, B: float, seed: int) -> tuple[float, float, float]:
    """Return the risk of f_T at the regularisation that Section 4 plugs in, epsilon / B^2."""
    T, risks = len(data.train.y), []
    rows, tests = ([dict(enumerate(x.tolist())) for x in part.X] for part in data)
    for step in STEPS:
        budget = Budget()
        model = DoublyStochasticRegressor(FAMILY, step=step, lam=1 / (B * math.sqrt(T)), seed=seed)
        with budget.timed():
            for x, y in zip(rows, data.train.y.tolist(), strict=True):
                model.learn_one(x, y)
        risks.append(_risk(np.array([model.predict_one(x) for x in tests]), data.test))
    return min(risks), budget.seconds, 0.0


EXACT = "Algorithm 1, exact E"
METHODS: Mapping[str, Method] = {
    EXACT: _algorithm_1("exact E"),
    "Algorithm 1, m = T": _algorithm_1("m = T"),
    "doubly stochastic": _doubly,
    "T fixed features": _fixed(lambda T: T),
    "√T fixed features": _fixed(math.isqrt),
}


def _risk(f: Array, test: Stream) -> float:
    return float(np.mean((f - test.y) ** 2)) / 2


def run(full: bool, seeds: int, progress: Progress) -> Result:
    """Measure excess risks at growing T and B, and losses with and without shrinks.

    A full run goes to T = 3,162 and B = 8, a quick one to 316 and 4. A seed is a sample.
    """
    horizons = HORIZONS[full]
    measured: list[dict[tuple[str, float], dict[int, list[float]]]] = [{}, {}, {}]
    excess, seconds, shrinks = measured
    losses(sample(2, 1, 0).train, 1.0, WAYS["m = T"], 0)  # loads compiled loops, untimed
    for seed in range(seeds):
        data = sample(horizons[-1], TEST[full], seed)
        for B in BOUNDS[full]:
            least = least_loss(data.test.L, data.test.y, B) / len(data.test.y)
            for name, method in METHODS.items():
                progress(f"seed {seed}: B = {B:g}, {name}")
                for T in horizons:
                    risk, *more = method(data._replace(train=data.train.first(T)), B, seed)
                    for table, found in zip(measured, (risk - least, *more), strict=True):
                        table.setdefault((name, B), {}).setdefault(T, []).append(found)
    figures = {
        "runs": [
            {
                "method": name,
                "B": B,
                "T": list(horizons),
                "excess": [mean_and_error(values) for values in by_T.values()],
                "over_exact": [  # on the same samples
                    mean_and_error(np.subtract(values, excess[EXACT, B][T]).tolist())
                    for T, values in by_T.items()
                ],
                "fit": power_law(horizons, by_seed(by_T)),
                "seconds": [mean_and_error(values) for values in seconds[name, B].values()],
                "fit_of_seconds": power_law(horizons, by_seed(seconds[name, B])),
                "shrinks": [float(np.mean(values)) for values in shrinks[name, B].values()],
            }
            for (name, B), by_T in excess.items()
        ],
        "shrinking": _shrinking(*SHRINKING[full], seeds, progress),
    }
    settings = {"full": full, "seeds": seeds, "horizons": list(horizons), "q": FAMILY.q}
    return Result("corollary1", settings, figures, _notes(figures), _draw)


def _draws(m: int, T: int) -> dict[str, Any]:
    return {"draws": m}


def _shrinking(
    T: int, sizes: Sequence[int], seeds: int, progress: Progress
) -> list[dict[str, Any]]:
    """Return mean losses of E_t and f_t with m draws, B = 1, with shrinks and without.

    Beside them, "zero" and "least" are those of 0 and of the best f.
    """
    found, data = [], [streams(T, s)["smooth"] for s in range(seeds)]
    same = {
        "zero": mean_and_error([float(np.mean(each.y**2)) / 2 for each in data]),
        "least": mean_and_error([least_loss(each.L, each.y, 1.0) / T for each in data]),
    }
    for m in sizes:
        way = Way(known, partial(_draws, m))
        row: dict[str, Any] = {"T": T, "m": m, "kappa": kappa(sum_of_steps(1.0, T, T), m), **same}
        for shrinks in (True, False):
            progress(f"m = {m}, {'with' if shrinks else 'without'} shrinks")
            runs = [losses(each, 1.0, way, s, shrinks) for s, each in enumerate(data)]
            title = "with" if shrinks else "without"
            row[f"f_{title}"] = mean_and_error([float(np.mean(each.f)) for each in runs])
            row[f"E_{title}"] = mean_and_error([float(np.mean(each.E)) for each in runs])
            if shrinks:
                row["shrinks"] = mean_and_error([each.n_shrinks for each in runs])
        found.append(row)
    return found


def _notes(figures: Mapping[str, Any]) -> list[str]:
    T = figures["runs"][0]["T"][-1]
    notes = []
    for each in figures["runs"]:
        risk, seconds = each["excess"][-1], each["seconds"][-1]["mean"]
        notes.append(
            f"{each['method']}, B = {each['B']:g}: at T = {T:,} excess risk {value(risk, 4)}, "
            f"exponent {interval(each['fit'])}, {seconds:.2g} s (exponent "
            f"{interval(each['fit_of_seconds'])})."
        )
    return notes + [
        f"m = {row['m']}, kappa {row['kappa']:.1f}, {row['shrinks']['mean']:.1f} shrinks in "
        f"{row['T']:,} events: mean loss of f {row['f_with']['mean']:.3g}, of E "
        f"{row['E_with']['mean']:.3g}; without shrinking {row['f_without']['mean']:.3g} and "
        f"{row['E_without']['mean']:.3g}."
        for row in figures["shrinking"]
    ]


def _draw(axes: Any, figures: Mapping[str, Any]) -> None:
    bounds = sorted({each["B"] for each in figures["runs"]})
    for each in figures["runs"]:
        if each["B"] not in (bounds[0], bounds[-1]):
            continue
        color = f"C{list(METHODS).index(each['method'])}"
        style = {"linestyle": "-" if each["B"] == bounds[-1] else "--", "color": color}
        name = f"{each['method']}, B = {each['B']:g}"
        draw_curve(axes, each["T"], each["excess"], label=name, capsize=2, **style)
    T = figures["runs"][0]["T"]
    axes.plot(T, [t**-0.5 for t in T], ":", color="0.3", label="1/√T")
    axes.set(xscale="log", yscale="log", xlabel="T", ylabel="excess risk over the best of norm B")
    axes.legend(fontsize="x-small", ncols=2)
