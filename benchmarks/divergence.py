"""When too few draws make Algorithm 1 diverge: `python benchmarks/divergence.py`.

ShrinkingGradient with fixed draws m = 1, 2, 4, .. on synthetic targets, f_t known exactly from the
kernel. Losses are means over the last quarter of a stream, as multiples of the zero predictor's
loss there; noise is the mean of ||alpha||_1 sqrt(q / m) over the same events, as a multiple of the
targets' root mean square. A row tells where, as m falls, a loss first exceeds the zero predictor's
(log-linear between the two m around it). `--all` prints every run. See docs/paper.md.
"""

import argparse
import itertools
import math
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from iln_stream import theory
from iln_stream.errors import IlnWarning
from iln_stream.features import DecisionStumps, GaussianFourier, closed_form
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

FAMILIES = {"cosines": GaussianFourier(), "stumps": DecisionStumps()}
SCHEDULES = ("T known", "anytime")
NORM_BOUNDS = (0.1, 1.0, 2.0)
SCALES = (1.0, 0.3)
DRAWS = tuple(2**k for k in range(15, -1, -1))
KAPPAS = 0.25, 16.0  # of all DRAWS those that matter


class Setting(NamedTuple):
    """Parameters that stay fixed while m varies."""

    family: str
    schedule: str
    norm_bound: float
    scale: float


class Outcome(NamedTuple):
    """Results of the runs at one m over their last quarter."""

    kappa: float
    noise: float
    loss_of_f: float
    loss_of_e: float
    rms: float
    shrinks: float


def stream(n: int, scale: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four standard normal inputs; a smooth target with a little noise, within +-scale."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    y = np.tanh(np.sin(X[:, 0]) + 0.5 * X[:, 1] * np.cos(X[:, 2])) + 0.1 * rng.standard_normal(n)
    return X, scale * np.clip(y, -1.0, 1.0)


def kappa(setting: Setting, draws: int, n: int) -> float:
    horizon = n if setting.schedule == "T known" else None
    return theory.kappa(theory.sum_of_steps(setting.norm_bound, n, horizon), draws)


def run(setting: Setting, draws: int, n: int, seed: int) -> Outcome:
    family, B = FAMILIES[setting.family], setting.norm_bound
    kernel = closed_form(family)
    horizon = n if setting.schedule == "T known" else None
    model = ShrinkingGradient(family, norm_bound=B, horizon=horizon, draws=draws, seed=seed)
    X, y = stream(n, setting.scale, seed)
    losses_f, losses_e, noise = [], [], []
    for t, (row, y_t) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        watched = t >= 3 * n // 4
        if watched:
            support = model.iterate.support
            f_t = float(support.alpha @ kernel(support.rows(4), X[t]))
            losses_f.append((f_t - y_t) ** 2 / 2)
            noise.append(model.alpha_l1 * math.sqrt(family.q / draws))
        model.learn_one(dict(zip("abcd", row, strict=True)), y_t)
        if watched:
            losses_e.append(model.last_update.loss)
    rms = float(np.sqrt(np.mean(y[3 * n // 4 :] ** 2)))
    zero = rms**2 / 2
    return Outcome(
        kappa(setting, draws, n),
        fmean(noise) / rms,
        fmean(losses_f) / zero,
        fmean(losses_e) / zero,
        rms,
        model.n_shrinks,
    )


def crossing(by_draws: list[Outcome], loss: str) -> tuple[str, str]:
    """Cells for kappa and noise where the loss first exceeds 1 as m falls."""
    first = by_draws[0]
    if getattr(first, loss) > 1:
        return f"< {first.kappa:.2f}", f"< {first.noise:.2f}"
    for above, below in pairwise(by_draws):
        low, high = math.log(getattr(above, loss)), math.log(getattr(below, loss))
        if low <= 0 < high:
            weight = -low / (high - low)
            kappa_there = above.kappa ** (1 - weight) * below.kappa**weight
            noise_there = above.noise ** (1 - weight) * below.noise**weight
            return f"{kappa_there:.2f}", f"{noise_there:.2f}"
    return "never", "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=2000, help="events of a run")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="print every m")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", IlnWarning)

    settings = [Setting(*s) for s in itertools.product(FAMILIES, SCHEDULES, NORM_BOUNDS, SCALES)]
    keys = [
        (setting, m)
        for setting, m in itertools.product(settings, DRAWS)
        if KAPPAS[0] <= kappa(setting, m, arguments.n) <= KAPPAS[1]
    ]
    runs = [(*key, arguments.n, seed) for key in keys for seed in range(arguments.seeds)]
    with ProcessPoolExecutor() as pool:
        outcomes = iter(pool.map(run, *zip(*runs, strict=True), chunksize=4))
    found: dict[Setting, list[tuple[int, Outcome]]] = {setting: [] for setting in settings}
    for setting, m in keys:
        seeds = list(itertools.islice(outcomes, arguments.seeds))
        found[setting].append((m, Outcome(*(fmean(values) for values in zip(*seeds, strict=True)))))

    console = Console(width=110)
    title = f"T = {arguments.n}, {arguments.seeds} seeds; kappa and noise / rms y where a loss is 1"
    table = Table("family", "steps", "B", "rms y", title=title)
    for column in ("E_t: kappa", "noise", "f_t: kappa", "noise", "largest noise / B"):
        table.add_column(column, justify="right")
    for setting, outcomes_by_draws in found.items():
        by_draws = [outcome for _, outcome in outcomes_by_draws]
        cells: list[str] = []
        for loss in ("loss_of_e", "loss_of_f"):
            cells += crossing(by_draws, loss)
        rms = by_draws[0].rms
        largest = max(outcome.noise for outcome in by_draws) * rms / setting.norm_bound
        start = setting.family, setting.schedule, f"{setting.norm_bound:g}", f"{rms:.2f}"
        table.add_row(*start, *cells, f"{largest:.1f}")
    console.print(table)
    if arguments.all:
        every = Table("family", "steps", "B", "scale", "m", *Outcome._fields)
        for setting, outcomes_by_draws in found.items():
            for m, outcome in outcomes_by_draws:
                every.add_row(*map(str, setting), str(m), *(f"{value:.3g}" for value in outcome))
        console.print(every)


if __name__ == "__main__":
    main()
