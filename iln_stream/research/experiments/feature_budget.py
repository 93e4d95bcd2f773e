"""Loss of the estimators of f_t at equal psi evaluations, draws of w and seconds."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from iln_stream.errors import IlnWarning
from iln_stream.features import Features, GaussianFourier
from iln_stream.learners import ShrinkingGradient
from iln_stream.learners.estimators import Block, Estimator, Full, Pool, Sampled
from iln_stream.research.experiments.curves import draw_curve
from iln_stream.research.experiments.data import Array, stream
from iln_stream.research.experiments.result import Budget, Progress, Result, mean_and_error
from iln_stream.research.related import DoublyStochasticRegressor

FAMILY = GaussianFourier(0.1)
STEPS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.6)
EVENTS = {False: 300, True: 3000}
POINTS = 16
"""S of `Block`."""


Event = Callable[[Array, float], tuple[float, int]]
"""Predicts an event, then learns it; returns the prediction, and the shrinks so far."""


class Kind(NamedTuple):
    """An estimator in several sizes."""

    sizes: tuple[int, ...]  # numbers of units: m or R; the first two are those of a quick run
    # (family, size, step, seed) -> the learner's event
    event: Callable[[Features[Any], int, float, int], Event]
    # psi, draws: (size, T) -> evaluations of psi and draws of w in a pass over T events
    psi: Callable[[int, int], int]
    draws: Callable[[int, int], int]


def _shrinking(estimator: Callable[[int], Estimator], drawn: bool = False) -> Any:
    """Return `Kind.event` of Shrinking-Gradient; `drawn`: m is an argument of the learner."""

    def make(family: Features[Any], size: int, step: float, seed: int) -> Event:
        draws: dict[str, Any] = {"draws": size} if drawn else {}
        model = ShrinkingGradient(family, estimator(size), step=step, seed=seed, **draws)

        def event(x: Array, y: float) -> tuple[float, int]:
            E = model.estimate_row(x).value
            model.learn_row(x, y)
            return E, model.n_shrinks

        return event

    return make


def _doubly(family: Features[Any], size: int, step: float, seed: int) -> Event:
    model = DoublyStochasticRegressor(family, size, step=step, seed=seed)

    def event(x: Array, y: float) -> tuple[float, int]:
        named = dict(enumerate(x.tolist()))
        f = model.predict_one(named)
        model.learn_one(named, y)
        return f, 0

    return event


def _every_event(size: int, T: int) -> int:
    """Return the draws of `size` fresh units at every event but the first, where f = 0."""
    return size * (T - 1)


KINDS = {
    "Algorithm 2": Kind(
        (64, 256, 1024, 4096, 16_384),
        _shrinking(lambda _: Sampled(), drawn=True),
        lambda m, T: 2 * m * (T - 1),
        _every_event,
    ),
    "blocks": Kind(
        (16, 64, 256, 1024),
        _shrinking(lambda R: Block(R, POINTS)),
        lambda R, T: R * (POINTS + 1) * (T - 1),
        _every_event,
    ),
    "full sums": Kind(
        (4, 16, 64, 256),
        _shrinking(Full),
        lambda R, T: R * ((T - 1) * T // 2 + T - 1),
        _every_event,
    ),
    "pool (Fixed-Random)": Kind(
        (16, 64, 256, 1024), _shrinking(Pool), lambda R, T: R * T, lambda R, _: R
    ),
    "doubly stochastic": Kind(  # the units of f_t summed over the events, and the fresh ones
        (1,), _doubly, lambda m, T: m * (T * (T - 1) // 2 + T), lambda m, T: m * T
    ),
}
"""All but the last are estimators of `ShrinkingGradient`; the compiled ones evaluate psi as counted
here. The last evaluates f once to predict and once to learn, in blocks of 256 units; counted is
what its source needs. That regenerates units from their seeds, which counts as no draw."""

ACCOUNTS = ("psi", "draws", "seconds")


def run(full: bool, seeds: int, progress: Progress) -> Result:
    """Measure the loss of E on Friedman's function for each estimator and size.

    A full run learns 3,000 events and all sizes, a quick one 300 and two. A seed is a stream.
    """
    T, points = EVENTS[full], []
    data = [_events(T, seed) for seed in range(seeds)]
    for name, kind in KINDS.items():
        for size in kind.sizes if full else kind.sizes[:2]:
            progress(f"{name}, {size} units")
            points.append(_point(name, kind, size, data))
    figures = {
        "points": points,
        "zero": mean_and_error([float(np.mean(y[T // 2 :] ** 2) / 2) for _, y in data]),
        "best": _best(points),
        "events": T,
    }
    settings = {"full": full, "seeds": seeds, "T": T, "steps": list(STEPS), "gamma": 0.1}
    return Result("feature_budget", settings, figures, _notes(figures), _draw)


def _events(T: int, seed: int) -> tuple[Array, Array]:
    X, y = stream("friedman", T, seed)
    return X, np.clip(y / 3.0, -1.0, 1.0)


def _point(name: str, kind: Kind, size: int, data: list[tuple[Array, Array]]) -> dict[str, Any]:
    """Return the loss at the best of `STEPS`, and what a pass spends."""
    T, budget = len(data[0][1]), Budget()
    _pass(kind.event(FAMILY, size, STEPS[0], 0), *(part[:1] for part in data[0]))  # compiles
    losses, n_shrinks = np.zeros((2, len(STEPS), len(data)))
    for i, step in enumerate(STEPS):
        for seed, (X, y) in enumerate(data):
            event = kind.event(FAMILY, size, step, seed)
            with budget.timed():
                E, shrinks = _pass(event, X, y)
            loss = np.mean((E - y)[T // 2 :] ** 2) / 2
            losses[i, seed] = loss if np.isfinite(loss) else np.inf  # it diverged
            n_shrinks[i, seed] = shrinks[-1]
    best = int(np.argmin(losses.mean(axis=1)))
    return {
        "estimator": name,
        "units": size,
        "step": STEPS[best],
        "loss": mean_and_error(losses[best].tolist()),
        "n_shrinks": float(n_shrinks[best].mean()),
        "psi": kind.psi(size, T),
        "draws": kind.draws(size, T),
        "seconds": budget.seconds / losses.size,
    }


def _pass(event: Event, X: Array, y: Array) -> Array:
    """Return the predictions and the shrinks so far, shape (2, T)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IlnWarning)  # too few draws: the loss shows it
        return np.array([event(x, target) for x, target in zip(X, y.tolist(), strict=True)]).T


def _best(points: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return, for each account, the estimators that none beats with the same or less."""
    found: dict[str, list[dict[str, Any]]] = {}
    for account in ACCOUNTS:
        least, found[account] = float("inf"), []
        for point in sorted(points, key=lambda p: (p[account], p["loss"]["mean"])):
            if point["loss"]["mean"] < least:
                least = point["loss"]["mean"]
                found[account].append(
                    {key: point[key] for key in ("estimator", "units", account)} | {"loss": least}
                )
    return found


def _notes(figures: Mapping[str, Any]) -> list[str]:
    shrinks = ", ".join(
        f"{p['n_shrinks']:.1f} of {p['estimator']}, {p['units']} units"
        for p in figures["points"]
        if p["n_shrinks"]
    )
    notes = [
        f"The zero predictor's loss is {figures['zero']['mean']:.4f}. "
        f"Shrinks at the best step: {shrinks or 'none'}."
    ]
    for account, best in figures["best"].items():
        ladder = "; ".join(
            f"{p[account]:.2g} {p['estimator']}, {p['units']} units: {p['loss']:.4f}" for p in best
        )
        notes.append(f"The lowest loss for each amount of {account}: {ladder}.")
    return notes


def _draw(axes: Any, figures: Mapping[str, Any]) -> None:
    for k, name in enumerate(KINDS):
        points = [p for p in figures["points"] if p["estimator"] == name]
        for account, line in (("psi", "o-"), ("draws", "s:")):
            label = f"{name}, {'ψ evaluations' if account == 'psi' else 'draws of w'}"
            style = {"fmt": line, "color": f"C{k}", "markersize": 3, "label": label}
            draw_curve(axes, [p[account] for p in points], [p["loss"] for p in points], **style)
    axes.axhline(figures["zero"]["mean"], color="0.5", linewidth=1)
    events = f"in a pass over {figures['events']:,} events"
    axes.set(xscale="log", yscale="log", xlabel=events, ylabel="loss of E, second half")
    axes.legend(fontsize="x-small", ncols=2)
