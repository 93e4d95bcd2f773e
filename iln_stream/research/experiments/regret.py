"""Regret of Algorithm 1 against the best function of norm B in hindsight, as T grows."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from iln_stream.errors import IlnWarning
from iln_stream.features import GaussianFourier
from iln_stream.learners import ShrinkingGradient
from iln_stream.learners.draws import theorem_1_covers
from iln_stream.research.experiments.methods.best_in_ball import kernel_factor, least_loss
from iln_stream.research.experiments.methods.ridges import Array
from iln_stream.research.experiments.result import Progress, Result, mean_and_error, power_law
from iln_stream.research.theory import anytime_step, regret_bound, step_size

FAMILY = GaussianFourier(0.5)
D = 3
VARIANCE = 0.01
"""v of the adaptive draws."""

HORIZONS = {False: (100, 316, 1000), True: (100, 316, 1000, 3162, 10_000)}
BOUNDS = {False: (1.0,), True: (1.0, 2.0)}


class Stream(NamedTuple):
    """Events, and their Phi(x_t) as rows of L."""

    X: Array
    y: Array
    L: Array

    def first(self, n: int) -> "Stream":
        """Return the first n events."""
        return Stream(self.X[:n], self.y[:n], self.L[:n])


def streams(T: int, seed: int) -> dict[str, Stream]:
    """Return a smooth target of norm 1 with noise, and coin flips, which only memory can fit."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (T, D))
    L = kernel_factor(X, FAMILY.kernel)
    beta = L[:20].T @ rng.standard_normal(20)
    smooth = L @ (beta / np.linalg.norm(beta)) + rng.normal(0.0, 0.2, T)
    coins = rng.choice([-1.0, 1.0], T)
    return {"smooth": Stream(X, np.clip(smooth, -1.0, 1.0), L), "coins": Stream(X, coins, L)}


Schedule = Callable[[float, int, int], float]
"""(B, t, T) -> eta_t."""


def known(B: float, t: int, T: int) -> float:
    """Return Theorem 1's step."""
    return step_size(B, T)


def anytime(B: float, t: int, T: int) -> float:
    """Return a step that needs no T."""
    return anytime_step(B, t)


def doubling(B: float, t: int, T: int) -> float:
    """Return Theorem 1's step for T = 2^k - 1, where 2^(k - 1) <= t < 2^k."""
    return min(step_size(B, 2 ** t.bit_length() - 1), 1.0)


def of_order_t(T: int) -> dict[str, Any]:
    """Return m = T for every event: Theorem 1's order in T, with the constant 1."""
    return {"draws": T}


def adaptive(T: int) -> dict[str, Any]:
    """Return draws that keep the variance of every E_t below `VARIANCE`."""
    return {"variance": VARIANCE, "max_draws": 10**7}


class Way(NamedTuple):
    """A step schedule and a number of draws."""

    schedule: Schedule  # eta_t
    # T -> the learner's arguments; None: E_t = f_t(x_t) exactly
    draws: Callable[[int], dict[str, Any]] | None = None
    # whether each T is a run of its own; else the run to the last T is read on its way
    fresh: bool = True
    # whether f is 0 again at each power of two; a textbook restart has a step sqrt(2) larger
    restarts: bool = False


WAYS = {
    "exact E": Way(known),
    "m = T": Way(known, of_order_t),
    "adaptive m": Way(known, adaptive),
    "exact E, anytime": Way(anytime, fresh=False),
    "exact E, doubling": Way(doubling, fresh=False),
    "exact E, doubling with restarts": Way(doubling, fresh=False, restarts=True),
}


COVERED = ("exact E", "adaptive m")
"""Ways with Theorem 1's step and Var E <= v."""


_NEVER = 1e300
"""No |E| is as large."""


class Losses(NamedTuple):
    """What a run of Algorithm 1 lost and learned."""

    # f, E: (f_t(x_t) - y_t)^2 / 2 and (E_t - y_t)^2 / 2 at each event
    f: Array
    E: Array
    draws: float  # the mean number of draws an event
    average: Array  # f_S, the mean of f_1, ..., f_T, by what the columns of L stand for
    n_shrinks: int  # how often it shrank


def losses(stream: Stream, B: float, way: Way, seed: int, shrinks: bool = True) -> Losses:
    """Run Algorithm 1, or what is left of it without its shrinks."""
    T = len(stream.y)
    limit = 16 * B if shrinks else _NEVER
    model = None
    if way.draws is not None:
        model = ShrinkingGradient(FAMILY, norm_bound=limit / 16, seed=seed, **way.draws(T))
    theta, total = np.zeros((2, stream.L.shape[1]))
    f, E, draws, n_shrinks = np.zeros(T), np.zeros(T), 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IlnWarning)  # too few draws: the loss shows it
        for t, (x, y, phi) in enumerate(zip(*stream, strict=True)):
            eta = way.schedule(B, t + 1, T)
            if way.restarts and (t + 1) & t == 0:
                theta[:] = 0.0
            total += theta
            f[t] = E[t] = theta @ phi
            if model is not None:
                estimate = model.estimate_row(x)
                E[t], draws = estimate.value, draws + estimate.draws
                model.step = eta
                model.learn_row(x, float(y))
            if abs(E[t]) < limit:
                theta += eta * (y - E[t]) * phi
            else:
                theta /= 4
                n_shrinks += 1
    f, E = (f - stream.y) ** 2 / 2, (E - stream.y) ** 2 / 2
    return Losses(f, E, draws / T, total / T, n_shrinks)


def run(full: bool, seeds: int, progress: Progress) -> Result:
    """Measure regrets at growing T, and fit their exponents.

    A full run goes to T = 10,000 and B = 2, a quick one to 1,000 and 1. A seed is a stream.
    """
    horizons, regrets = HORIZONS[full], _Regrets()
    for seed in range(seeds):
        progress(f"seed {seed}: inputs")
        for kind, stream in streams(horizons[-1], seed).items():
            for B in BOUNDS[full]:
                covered = [T for T in horizons if theorem_1_covers(B, T)]
                best = {T: least_loss(stream.L[:T], stream.y[:T], B) for T in covered}
                for name, way in WAYS.items():
                    progress(f"seed {seed}: {kind}, B = {B:g}, {name}")
                    whole = None if way.fresh else losses(stream, B, way, seed)
                    for T, least in best.items():
                        done = whole or losses(stream.first(T), B, way, seed)
                        regrets.add((kind, B, name), T, least, done)
    figures = {"runs": regrets.summary(), "variance": VARIANCE, "n_shrinks": regrets.n_shrinks}
    settings = {"full": full, "seeds": seeds, "horizons": list(horizons), "q": FAMILY.q}
    return Result("regret", settings, figures, _notes(figures), _draw)


class _Regrets:
    """The regrets by kind, B and way; for each T a number a seed."""

    def __init__(self) -> None:
        self.of_f: dict[tuple[str, float, str], dict[int, list[float]]] = {}
        self.of_estimate: dict[tuple[str, float, str], dict[int, list[float]]] = {}
        self.draws: dict[tuple[str, float, str], dict[int, list[float]]] = {}
        self.n_shrinks = 0

    def add(self, key: tuple[str, float, str], T: int, least: float, done: Losses) -> None:
        """Take the first T events of a run; the best f in hindsight lost `least` on them."""
        f, E = (float(part[:T].sum()) - least for part in (done.f, done.E))
        for table, value in ((self.of_f, f), (self.of_estimate, E), (self.draws, done.draws)):
            table.setdefault(key, {}).setdefault(T, []).append(value)
        self.n_shrinks += done.n_shrinks

    def summary(self) -> list[dict[str, Any]]:
        """Return means with errors, exponents with intervals, and the bound."""
        found = []
        for (kind, B, name), by_T in self.of_f.items():
            horizons = list(by_T)
            of_estimate = self.of_estimate[kind, B, name]
            found.append(
                {
                    "stream": kind,
                    "B": B,
                    "way": name,
                    "T": horizons,
                    "regret_of_f": [mean_and_error(by_T[T]) for T in horizons],
                    "regret_of_E": [mean_and_error(of_estimate[T]) for T in horizons],
                    "draws": [float(np.mean(self.draws[kind, B, name][T])) for T in horizons],
                    "bound": [regret_bound(B, T, VARIANCE, FAMILY.q) for T in horizons],
                    "fit_of_f": power_law(horizons, by_seed(by_T)),
                    "fit_of_E": power_law(horizons, by_seed(of_estimate)),
                }
            )
        return found


def by_seed(by_T: Mapping[int, Sequence[float]]) -> list[list[float]]:
    """Return the values of each seed, by T."""
    return [list(values) for values in zip(*by_T.values(), strict=True)]


def _notes(figures: Mapping[str, Any]) -> list[str]:
    runs = figures["runs"]
    covered = [each for each in runs if each["way"] in COVERED]
    others = [each for each in runs if each["way"] not in COVERED]
    notes = [
        f"The mean regret of f is below the bound with constants in {_below(covered)} cases that "
        f"the bound covers, and in {_below(others)} for which it is not proved. "
        f"All runs together shrink {figures['n_shrinks']} times."
    ]
    for each in runs:
        f, E = each["regret_of_f"][-1], each["regret_of_E"][-1]
        notes.append(
            f"{each['stream']}, B = {each['B']:g}, {each['way']}: exponent of f "
            f"{interval(each['fit_of_f'])}, of E {interval(each['fit_of_E'])}; at "
            f"T = {each['T'][-1]:,} regret {value(f)} of f, {value(E)} of E, bound "
            f"{each['bound'][-1]:.0f}, {each['draws'][-1]:,.0f} draws an event."
        )
    return notes


def _below(runs: Sequence[Mapping[str, Any]]) -> str:
    within = [
        point["mean"] <= bound
        for each in runs
        for point, bound in zip(each["regret_of_f"], each["bound"], strict=True)
    ]
    return f"{sum(within)} of {len(within)}"


def value(point: Mapping[str, Any], digits: int = 1) -> str:
    """Return a mean with its standard error as text."""
    error = point["standard_error"]
    return f"{point['mean']:.{digits}f}" + ("" if error is None else f" ± {error:.{digits}f}")


def interval(fit: Mapping[str, Any]) -> str:
    """Return a fitted exponent with its interval as text."""
    if fit["exponent"] is None:
        return "undefined"
    if fit["low"] is None:
        return f"{fit['exponent']:.2f}"
    return f"{fit['exponent']:.2f} ({fit['low']:.2f} to {fit['high']:.2f})"


def _draw(axes: Any, figures: Mapping[str, Any]) -> None:
    for each in figures["runs"]:
        if each["B"] != 1.0:
            continue
        colour = f"C{list(WAYS).index(each['way'])}"
        solid = each["stream"] == "coins"
        axes.plot(
            each["T"],
            [point["mean"] for point in each["regret_of_f"]],
            "o-" if solid else "s--",
            color=colour,
            markersize=3,
            label=f"{each['stream']}, {each['way']}",
        )
    T = figures["runs"][0]["T"]
    axes.plot(T, figures["runs"][0]["bound"], color="0.3", label="bound of docs/paper.md")
    axes.plot(T, [math.sqrt(t) - 0.5 for t in T], ":", color="0.3", label="B√T − B²/2 (worst case)")
    axes.set(xscale="log", yscale="log", xlabel="T", ylabel="regret of f, B = 1")
    axes.legend(fontsize="x-small", ncols=2)
