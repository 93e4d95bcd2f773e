"""Figure 1 of the paper's Section 6, on its data: three learners with a budget of random features.

The paper gives D, T and the data: Gaussian inputs whose negative values are clipped to zero, and a
target a.x whose a is a random sparse linear combination of the training points. It does not give
the units, the sparsity, the scale of a or the steps, nor whether the loss is of f or of E; each is
a `Reading` here. "Each training point x samples m features in order to calculate the dot product
with the current regression function" has two readings, too: Algorithm 2 as printed, where each
feature is used for one past point, and full sums, where it is used for all of them.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from iln_stream.features.base import Array
from iln_stream.research.experiments.curves import draw_curve
from iln_stream.research.experiments.methods.linear_networks import (
    Learner,
    doubly_stochastic,
    exact,
    fixed_random,
    full_sums,
    shrinking_gradient,
)
from iln_stream.research.experiments.result import Budget, Progress, Result, mean_and_error

T = 200
DIMENSIONS = {False: (550, 800), True: (550, 600, 650, 700, 750, 800)}
STEPS = np.array([0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2])

PRINTED, FULL_SUMS = "Shrinking-Gradient, Algorithm 2", "Shrinking-Gradient, full sums"
DOUBLY, FIXED, EXACT = "Doubly-Stochastic", "Fixed-Random", "exact kernel"
LEARNERS: dict[str, Learner] = {
    FULL_SUMS: full_sums,
    PRINTED: shrinking_gradient,
    DOUBLY: doubly_stochastic,
    FIXED: fixed_random,
    EXACT: exact,
}
CLAIMS = {name: (name, DOUBLY, FIXED) for name in (FULL_SUMS, PRINTED)}
"""The order of the paper's Figure 1, best first, for each reading of its learner."""


class Reading(NamedTuple):
    """One choice of what the paper leaves open."""

    units: Mapping[str, int]  # units of each learner: m, k, r, R
    by_estimate: bool = False  # whether the loss is that of E_t, which a user sees, or of f_t
    step: float | None = None  # eta for all; None: for each learner the best of `STEPS`
    sparsity: int = 5  # how many training points a is a combination of


def _alike(units: int) -> dict[str, int]:
    return dict.fromkeys(LEARNERS, units)


_EQUAL_PSI = {**_alike(1), PRINTED: 50, FIXED: 100}
"""A pass of 20,000 evaluations of psi (20,100 for those that sum over the past)."""

_EQUAL_DRAWS = {**_alike(50), FIXED: 50 * T}
"""A pass of 10,000 draws of w."""

READINGS = {
    "50 units each, loss of f": Reading(_alike(50)),
    "50 units each, loss of E": Reading(_alike(50), by_estimate=True),
    "20 units each, loss of f": Reading(_alike(20)),
    "100 units each, loss of f": Reading(_alike(100)),
    "50 units each, a of 20 points, loss of f": Reading(_alike(50), sparsity=20),
    "50 units each, one step 0.4, loss of f": Reading(_alike(50), step=0.4),
    "equal psi, loss of f": Reading(_EQUAL_PSI),
    "equal psi, loss of E": Reading(_EQUAL_PSI, by_estimate=True),
    "equal draws, loss of f": Reading(_EQUAL_DRAWS),
    "equal draws, loss of E": Reading(_EQUAL_DRAWS, by_estimate=True),
}
"""The first one is drawn, and one curve of the second."""


def stream(D: int, seed: int, sparsity: int) -> tuple[Array, Array]:
    """Return T inputs max(0, N(0, 1)) of D coordinates, and y = a.x.

    a is a combination of `sparsity` inputs with Gaussian weights, scaled to length 1. Its scale
    does not matter while nothing shrinks: all learners are linear in y.
    """
    rng = np.random.default_rng([seed, D])
    X = np.maximum(rng.standard_normal((T, D)), 0.0)
    points = rng.choice(T, sparsity, replace=False)
    a = rng.standard_normal(sparsity) @ X[points]
    return X, X @ (a / np.linalg.norm(a))


def run(full: bool, seeds: int, progress: Progress) -> Result:
    """Measure the summed loss (f - y)^2 / 2 of a pass under each reading.

    A full run takes all six D of the figure, a quick one the first and the last. A seed is a stream
    at each D.
    """
    dimensions, runs = DIMENSIONS[full], _Runs()
    readings: dict[str, Any] = {}
    for title, reading in READINGS.items():
        chosen: dict[str, list[_Chosen]] = {name: [] for name in LEARNERS}
        for D in dimensions:
            progress(f"{title}, D = {D}")
            for name in LEARNERS:
                chosen[name].append(_chosen(runs, reading, name, D, seeds))
        readings[title] = _summary(chosen)
    figures = {
        "dimensions": list(dimensions),
        "zero": [
            mean_and_error([_loss(stream(D, s, 5)[1]) for s in range(seeds)]) for D in dimensions
        ],
        "readings": readings,
        "budgets": runs.budgets(seeds * len(dimensions) * len(STEPS)),
    }
    settings = {"full": full, "seeds": seeds, "T": T, "steps": STEPS.tolist()}
    return Result("figure1", settings, figures, _notes(figures), _draw)


class _Runs:
    """The passes made so far: readings share them."""

    def __init__(self) -> None:
        self._made: dict[Any, tuple[Array, Array, Array]] = {}
        self._spent: dict[tuple[str, int], Budget] = {}

    def losses(
        self, name: str, units: int, D: int, seed: int, sparsity: int
    ) -> tuple[Array, Array, Array]:
        """Return the summed losses of f and of E, and the shrinks, for each of `STEPS`."""
        key = (name, units if name != EXACT else 0, D, seed, sparsity)
        if key not in self._made:
            X, y = stream(D, seed, sparsity)
            rng = np.random.default_rng([seed, D, units])
            budget = self._spent.setdefault((name, key[1]), Budget())
            with budget.timed():
                done = LEARNERS[name](X, y, units, STEPS, rng)
            budget.psi, budget.draws = done.psi, done.draws
            shrinks = np.zeros(len(STEPS)) + (0.0 if done.n_shrinks is None else done.n_shrinks)
            self._made[key] = _loss(done.f - y), _loss(done.E - y), shrinks
        return self._made[key]

    def budgets(self, passes: int) -> list[dict[str, Any]]:
        """Return evaluations of psi, draws and seconds of one pass, by learner and units."""
        return [
            {"learner": name, "units": units, "psi": b.psi, "draws": b.draws}
            | {"seconds": b.seconds / passes}
            for (name, units), b in self._spent.items()
        ]


def _loss(errors: Array) -> Any:
    return np.sum(errors**2, axis=-1) / 2


class _Chosen(NamedTuple):
    """Each seed's loss at the step of a reading, that step, and the shrinks of all seeds."""

    losses: Array
    step: float
    n_shrinks: int


def _chosen(runs: _Runs, reading: Reading, name: str, D: int, seeds: int) -> _Chosen:
    """Take the reading's step, or the one of the least mean loss."""
    units = reading.units[name]
    made = [runs.losses(name, units, D, s, reading.sparsity) for s in range(seeds)]
    losses = np.array([each[reading.by_estimate] for each in made])
    if reading.step is not None:
        k = int(np.argmin(np.abs(STEPS - reading.step)))
    else:
        k = int(np.argmin(losses.mean(axis=0)))
    return _Chosen(losses[:, k], float(STEPS[k]), int(sum(each[2][k] for each in made)))


def _summary(chosen: Mapping[str, list[_Chosen]]) -> dict[str, Any]:
    """Return means by D, and at how many D each claimed gap exceeds two of its standard errors."""
    losses = {name: [at.losses for at in by_D] for name, by_D in chosen.items()}
    orders = {}
    for claim, names in CLAIMS.items():
        gaps = [
            [mean_and_error((b - a).tolist()) for a, b in zip(losses[x], losses[y], strict=True)]
            for x, y in pairwise(names)
        ]
        orders[claim] = {
            "gaps": gaps,
            "holds": [sum(_is_clear(gap) for gap in row) for row in gaps],
            "order": sorted(names, key=lambda name: float(np.mean(losses[name]))),
        }
    return {
        "losses": {
            name: [mean_and_error(at.tolist()) for at in by_D] for name, by_D in losses.items()
        },
        "steps": {name: [at.step for at in by_D] for name, by_D in chosen.items()},
        "shrinks": {name: [at.n_shrinks for at in by_D] for name, by_D in chosen.items()},
        "orders": orders,
    }


def _is_clear(gap: Mapping[str, Any]) -> bool:
    error = gap["standard_error"]  # of a single seed there is none
    return error is not None and bool(gap["mean"] > 2 * error)


def _notes(figures: Mapping[str, Any]) -> list[str]:
    count, notes = len(figures["dimensions"]), []
    for title, found in figures["readings"].items():
        means = ", ".join(
            f"{name} {by_D[0]['mean']:.0f} ± {by_D[0]['standard_error'] or 0.0:.0f} "
            f"to {by_D[-1]['mean']:.0f} ({sum(found['shrinks'][name])} shrinks)"
            for name, by_D in found["losses"].items()
        )
        holds = "; ".join(
            f"{claim} < Doubly at {order['holds'][0]} of {count} D"
            for claim, order in found["orders"].items()
        )
        second = found["orders"][FULL_SUMS]["holds"][1]
        notes.append(f"{title}: {holds}; Doubly < Fixed at {second}; {means}.")
    zero = figures["zero"]
    notes.append(f"f = 0 loses {zero[0]['mean']:.0f} at D = {figures['dimensions'][0]}.")
    return notes


def _draw(axes: Any, figures: Mapping[str, Any]) -> None:
    readings = list(READINGS)[:2]
    of_f, of_E = (figures["readings"][title]["losses"] for title in readings)
    curves = {name: (points, "-") for name, points in of_f.items()}
    curves[f"{FULL_SUMS}, loss of E"] = of_E[FULL_SUMS], ":"  # of Algorithm 2, far above the others
    for k, (name, (points, line)) in enumerate(curves.items()):
        style = {"linestyle": line, "color": f"C{k % len(of_f)}", "capsize": 2}
        draw_curve(axes, figures["dimensions"], points, label=name, **style)
    axes.set(xlabel="input dimension D", ylabel=f"Σ (f − y)² / 2, {T} events, 50 units each")
    axes.set_ylim(0.0, 1.5 * axes.get_ylim()[1])  # room for the legend
    axes.legend(fontsize="small", ncols=2, loc="upper left")
