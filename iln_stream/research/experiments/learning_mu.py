"""The same number of units with mu fixed, redrawn from gradients, and moved by gradients."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from iln_stream.learners import RandomFeatureRidge
from iln_stream.research.experiments.curves import draw_curve
from iln_stream.research.experiments.data import NOISE, TARGETS, Array, D, stream
from iln_stream.research.experiments.methods.moved_units import MovedUnits
from iln_stream.research.experiments.result import Progress, Result, mean_and_error


class Plan(NamedTuple):
    """Numbers of units, and numbers of events up to which the error is measured."""

    units: tuple[int, ...]
    events: tuple[int, ...]


QUICK = Plan((8, 32), (250, 500, 1000))
FULL = Plan((8, 16, 32, 64, 128), (500, 1000, 2000, 4000))


LEARNED = 0.9
"""Fixed units with a larger share of the variance left have learned too little to compare with."""

FIXED, CONTROL, REDRAWN, MOVED = "fixed", "fixed, refitted", "redrawn", "moved"
WAYS: dict[str, Callable[[int, int], Any]] = {
    FIXED: lambda units, seed: RandomFeatureRidge(units, sampling="prior", seed=seed),
    CONTROL: lambda units, seed: MovedUnits(D, units, moves=False, seed=seed),
    REDRAWN: lambda units, seed: RandomFeatureRidge(units, sampling="gradient", seed=seed),
    MOVED: lambda units, seed: MovedUnits(D, units, seed=seed),
}
"""Each makes a learner of a number of units and a seed.

Fixed and redrawn units have the weights of `RandomFeatureRidge`, moved ones those of `MovedUnits`;
the control has the latter on fixed units, so that a gain of moves is not one of the weights.
"""


def run(full: bool, seeds: int, progress: Progress) -> Result:
    """Measure the prequential squared error over the second half of growing numbers of events.

    A full run goes to 128 units and 4,000 events, a quick one to 32 and 1,000. A seed is a stream
    of each kind.
    """
    plan = FULL if full else QUICK
    table: list[dict[str, Any]] = []
    for name in TARGETS:
        data = [stream(name, plan.events[-1], seed) for seed in range(seeds)]
        for way, make in WAYS.items():
            for units in plan.units:
                progress(f"{name}: {units} units, {way}")
                squares = [_squares(make(units, s), *data[s]) for s in range(seeds)]
                points = [
                    mean_and_error([float(np.mean(each[n // 2 : n])) for each in squares])
                    for n in plan.events
                ]
                table.append({"stream": name, "way": way, "units": units, "error": points})
    figures = {"errors": table, "events": list(plan.events), "units": list(plan.units)}
    settings = {"full": full, "seeds": seeds, "noise": NOISE, "d": D}
    return Result("learning_mu", settings, figures, _notes(figures), _draw)


def _squares(model: Any, X: Array, y: Array) -> Array:
    """Return the squared error of each event, which is predicted and then learned."""
    squares = []
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        x = dict(enumerate(row))
        squares.append((model.predict_one(x) - target) ** 2)
        model.learn_one(x, target)
    return np.array(squares)


def _found(
    figures: Mapping[str, Any], stream: str, way: str, units: int
) -> dict[str, float | None]:
    """Return the error after the most events."""
    for each in figures["errors"]:
        if (each["stream"], each["way"], each["units"]) == (stream, way, units):
            last: dict[str, float | None] = each["error"][-1]
            return last
    raise KeyError(way)


def _notes(figures: Mapping[str, Any]) -> list[str]:
    most, notes = figures["units"][-1], []
    for name in TARGETS:
        goal = _found(figures, name, FIXED, most)["mean"] or 0.0
        parts = []
        for way in WAYS:
            last = _found(figures, name, way, most)
            needed = [
                units
                for units in figures["units"]
                if (_found(figures, name, way, units)["mean"] or 0.0) <= goal
            ]
            enough = (
                f"as good as {most} fixed units from {min(needed)} on"
                if needed
                else "never as good"
            )
            if goal > LEARNED:
                enough = "the fixed units learned too little to compare with"
            spread = "" if last["standard_error"] is None else f" ± {last['standard_error']:.3f}"
            parts.append(f"{way} {last['mean']:.3f}{spread} ({enough})")
        notes.append(
            f"{name}, error over the variance of the signal with {most} units after "
            f"{figures['events'][-1]:,} events (noise {NOISE**2:g}): {', '.join(parts)}."
        )
    return notes


def _draw(axes: Any, figures: Mapping[str, Any]) -> None:
    styles = dict(zip(TARGETS, ("-", "--", ":"), strict=True))
    colours = {FIXED: "C7", REDRAWN: "C0", MOVED: "C3"}
    for name, style in styles.items():
        for way, colour in colours.items():
            points = [_found(figures, name, way, units) for units in figures["units"]]
            line = {"linestyle": style, "color": colour, "capsize": 2}
            draw_curve(axes, figures["units"], points, label=f"{name}, {way}", **line)
    axes.axhline(NOISE**2, color="0.6", linewidth=1)
    n = figures["events"][-1]
    error = f"squared error, events {n // 2:,} to {n:,}"
    axes.set(xscale="log", yscale="log", xlabel="hidden units", ylabel=error)
    axes.legend(fontsize="x-small", ncols=3)
