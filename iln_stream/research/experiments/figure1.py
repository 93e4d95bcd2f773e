"""The three learners of the paper's Section 6 on a linear function, but not on the paper's data.

Section 6 clips negative inputs to zero, and its target's coefficients are a random sparse linear
combination of the training points. `stream` does neither, so the losses are not comparable with
Figure 1.
"""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.research.experiments.methods.linear_networks import (
    Learner,
    doubly_stochastic,
    exact,
    fixed_random,
    full_sums,
    shrinking_gradient,
)
from iln_stream.research.experiments.result import Budget, Result, mean_and_error

Progress = Callable[[str], None]
Array = NDArray[np.float64]

T = 200
DIMENSIONS = {False: (550, 800), True: (550, 600, 650, 700, 750, 800)}
STEPS = np.array([0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6])

SHRINK, DOUBLY, FIXED = "Shrinking-Gradient", "Doubly-Stochastic", "Fixed-Random"
FULL_SUMS, EXACT = "full sums", "exact kernel"
LEARNERS: dict[str, Learner] = {
    SHRINK: shrinking_gradient,
    DOUBLY: doubly_stochastic,
    FIXED: fixed_random,
    FULL_SUMS: full_sums,
    EXACT: exact,
}
CLAIM = (SHRINK, DOUBLY, FIXED)
"""The order of the paper's Figure 1, best first."""


class Reading(NamedTuple):
    """One choice of budget, loss, step and inputs.

    Parameters
    ----------
    units
        Units of each learner: m, k, r, R.
    by_estimate
        Whether the loss is that of E_t, which a user sees, or of f_t.
    step
        eta for all; None: for each learner the best of `STEPS`.
    clipped
        Whether inputs are clipped to [-1, 1], as |psi| <= 1 requires.

    """

    units: Mapping[str, int]
    by_estimate: bool = False
    step: float | None = None
    clipped: bool = False


def _alike(units: int) -> dict[str, int]:
    return dict.fromkeys(LEARNERS, units)


READINGS = {
    "50 units each, loss of f": Reading(_alike(50)),
    "50 units each, loss of E": Reading(_alike(50), by_estimate=True),
    "5 units each, loss of f": Reading(_alike(5)),
    "500 units each, loss of f": Reading(_alike(500)),
    "500 units each, loss of E": Reading(_alike(500), by_estimate=True),
    "50 units each, one step 0.1, loss of f": Reading(_alike(50), step=0.1),
    "50 units each, one step 0.8, loss of f": Reading(_alike(50), step=0.8),
    "50 units each, inputs clipped, loss of f": Reading(_alike(50), clipped=True),
    # A pass of 20,000 evaluations of psi (20,100 for those that sum over the past).
    "equal psi, loss of f": Reading({**_alike(1), SHRINK: 50, FIXED: 100}),
    "equal psi, loss of E": Reading({**_alike(1), SHRINK: 50, FIXED: 100}, by_estimate=True),
    # A pass of 10,000 draws of w.
    "equal draws, loss of f": Reading({**_alike(50), FIXED: 50 * T}),
    "equal draws, loss of E": Reading({**_alike(50), FIXED: 50 * T}, by_estimate=True),
}
"""The first two are drawn."""


def stream(D: int, seed: int, clipped: bool) -> tuple[Array, Array]:
    """Return T normal inputs of D coordinates and y = a.x, ||a|| = 1.

    The scale of y does not matter: all learners are linear in y while none shrinks.
    """
    rng = np.random.default_rng([seed, D])
    X, a = rng.standard_normal((T, D)), rng.standard_normal(D)
    if clipped:
        X = np.clip(X, -1.0, 1.0)
    return X, X @ (a / np.linalg.norm(a))


def run(full: bool, seeds: int, progress: Progress) -> Result:
    """Measure the summed loss (f - y)^2 of a pass under each reading.

    Parameters
    ----------
    full
        Whether to take all six D of the figure, or the first and the last.
    seeds
        Number of streams at each D.
    progress
        Gets a line for each reading and D.

    """
    dimensions, runs = DIMENSIONS[full], _Runs()
    readings: dict[str, Any] = {}
    for title, reading in READINGS.items():
        losses: dict[str, list[Array]] = {name: [] for name in LEARNERS}
        for D in dimensions:
            progress(f"{title}, D = {D}")
            for name in LEARNERS:
                losses[name].append(_best(runs, reading, name, D, seeds))
        readings[title] = _summary(losses)
    figures = {
        "dimensions": list(dimensions),
        "zero": [
            mean_and_error([float(np.sum(stream(D, s, False)[1] ** 2)) for s in range(seeds)])
            for D in dimensions
        ],
        "readings": readings,
        "budgets": runs.budgets(seeds * len(dimensions) * len(STEPS)),
    }
    settings = {"full": full, "seeds": seeds, "T": T, "steps": STEPS.tolist()}
    return Result("figure1", settings, figures, _notes(figures), _draw)


class _Runs:
    """The passes made so far: readings share them."""

    def __init__(self) -> None:
        self._made: dict[Any, tuple[Array, Array]] = {}
        self._spent: dict[tuple[str, int], Budget] = {}

    def losses(
        self, name: str, units: int, D: int, seed: int, clipped: bool
    ) -> tuple[Array, Array]:
        """Return the summed losses of f and of E for each of `STEPS`."""
        key = (name, units if name != EXACT else 0, D, seed, clipped)
        if key not in self._made:
            X, y = stream(D, seed, clipped)
            rng = np.random.default_rng([seed, D, units])
            budget = self._spent.setdefault((name, key[1]), Budget())
            with budget.timed():
                done = LEARNERS[name](X, y, units, STEPS, rng)
            if not clipped:
                budget.psi, budget.draws = done.psi, done.draws
            self._made[key] = (
                np.sum((done.f - y) ** 2, axis=1),
                np.sum((done.E - y) ** 2, axis=1),
            )
        return self._made[key]

    def budgets(self, passes: int) -> list[dict[str, Any]]:
        """Return evaluations of psi, draws and seconds of one pass, by learner and units."""
        return [
            {"learner": name, "units": units, "psi": b.psi, "draws": b.draws}
            | {"seconds": b.seconds / passes}
            for (name, units), b in self._spent.items()
        ]


def _best(runs: _Runs, reading: Reading, name: str, D: int, seeds: int) -> Array:
    """Return each seed's loss at the reading's step, or at that of the least mean loss."""
    units = reading.units[name]
    losses = np.array(
        [runs.losses(name, units, D, s, reading.clipped)[reading.by_estimate] for s in range(seeds)]
    )
    if reading.step is not None:
        return np.asarray(losses[:, int(np.argmin(np.abs(STEPS - reading.step)))])
    return np.asarray(losses[:, int(np.argmin(losses.mean(axis=0)))])


def _summary(losses: Mapping[str, list[Array]]) -> dict[str, Any]:
    """Return means by D, and at how many D each claimed gap exceeds two of its standard errors."""
    gaps = [
        [mean_and_error((b - a).tolist()) for a, b in zip(losses[x], losses[y], strict=True)]
        for x, y in pairwise(CLAIM)
    ]
    return {
        "losses": {
            name: [mean_and_error(at.tolist()) for at in by_D] for name, by_D in losses.items()
        },
        "gaps": gaps,
        "order_holds": [
            sum((gap["mean"] or 0.0) > 2 * (gap["standard_error"] or 0.0) for gap in row)
            for row in gaps
        ],
        "order": sorted(CLAIM, key=lambda name: float(np.mean(losses[name]))),
    }


def _notes(figures: Mapping[str, Any]) -> list[str]:
    notes = [
        "Not comparable with the paper's Figure 1: other data. Unclipped Gaussian coordinates "
        "exceed |psi| <= 1, which Theorem 1 does not cover. The zero predictor's loss is "
        f"{figures['zero'][0]['mean']:.0f}."
    ]
    for title, found in figures["readings"].items():
        count = len(figures["dimensions"])
        first, second = found["order_holds"]
        means = ", ".join(
            f"{name} {by_D[0]['mean']:.0f} ± {by_D[0]['standard_error'] or 0.0:.0f} "
            f"to {by_D[-1]['mean']:.0f}"
            for name, by_D in found["losses"].items()
        )
        notes.append(
            f"{title}: Shrinking < Doubly by two standard errors at {first} of {count} D, "
            f"Doubly < Fixed at {second}; {means}."
        )
    return notes


def _draw(axes: Any, figures: Mapping[str, Any]) -> None:
    titles = list(READINGS)[:2]
    for title, line in zip(titles, ("-", ":"), strict=True):
        for k, (name, points) in enumerate(figures["readings"][title]["losses"].items()):
            if line == ":" and name not in (SHRINK, FULL_SUMS):
                continue  # E is f
            axes.errorbar(
                figures["dimensions"],
                [point["mean"] for point in points],
                [point["standard_error"] or 0.0 for point in points],
                label=f"{name}, loss of E" if line == ":" else name,
                linestyle=line,
                color=f"C{k}",
                capsize=2,
            )
    zero = [point["mean"] for point in figures["zero"]]
    axes.plot(figures["dimensions"], zero, color="0.5", label="f = 0")
    axes.set(xlabel="D", ylabel=f"Σ (f − y)², {T} events, 50 units each")
    axes.legend(fontsize="small")
