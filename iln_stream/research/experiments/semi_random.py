"""Error against units: random, semi-random and trained networks."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from iln_stream.features import GaussianFourier
from iln_stream.research.experiments.curves import draw_curve
from iln_stream.research.experiments.data import Split, load_robot_arm, stream
from iln_stream.research.experiments.methods.gated_network import GatedNetwork
from iln_stream.research.experiments.methods.ridges import Array, ridge
from iln_stream.research.experiments.methods.semi_random_batch import SemiRandomRidge
from iln_stream.research.experiments.result import Progress, Result, mean_and_error, size_for
from iln_stream.research.feature_maps import FromFamily
from iln_stream.research.related.semi_random import random_gates

Function = Callable[[Array], Array]

GOALS = (0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02)
"""Errors that units are counted for, as shares of the targets' variance."""

PENALTIES = (1e-3, 1e-1, 10.0)
WIDTHS = (0.02, 0.05, 0.15)
"""Inverse squared widths of the Gaussian kernel whose Fourier features are drawn."""

STEPS = (0.003, 0.01, 0.03)


class Plan(NamedTuple):
    """How much to run.

    Parameters
    ----------
    n
        Examples to train with and to choose settings on, a fifth of them; as many to test.
    passes
        Of gradient steps over the training data.
    most_fixed, most_semi_random, most_trained
        The largest numbers of units of each kind.

    """

    n: int
    passes: int
    most_fixed: int
    most_semi_random: int
    most_trained: int


QUICK = Plan(1000, 30, 128, 32, 16)
FULL = Plan(2500, 120, 512, 128, 64)


class Method(NamedTuple):
    """A way to learn f with a given number of units."""

    settings: tuple[Any, ...]  # of which the one with the least error on validation data counts
    # (training and validation data, units, setting, passes, seed) -> f
    fit: Callable[[Split, int, Any, int, int], Function]
    weights: Callable[[int, int], int]  # (units, d) -> learned numbers
    kind: str  # which of the plan's largest numbers holds


def _linear(features: Function, task: Split, penalty: float) -> Function:
    """Return the function that ridge regression finds over features and a constant."""

    def with_one(X: Array) -> Array:
        return np.column_stack([np.ones(len(X)), features(X)])

    w = ridge(with_one(task.X), task.y, penalty)
    return lambda X: np.asarray(with_one(X) @ w)


def _relu(task: Split, units: int, penalty: float, passes: int, seed: int) -> Function:
    R = np.random.default_rng(seed).standard_normal((task.X.shape[1] + 1, units))

    def features(X: Array) -> Array:
        (gates,) = random_gates(np.column_stack([np.ones(len(X)), X]), [R], power=1)
        phi: Array = gates / np.sqrt(units)
        return phi

    return _linear(features, task, penalty)


def _fourier(
    task: Split, units: int, setting: tuple[float, float], passes: int, seed: int
) -> Function:
    gamma, penalty = setting
    fourier = FromFamily(GaussianFourier(gamma), units, np.sqrt(2.0))
    return _linear(fourier.draw(task.X.shape[1], np.random.default_rng(seed)), task, penalty)


def _semi_random(
    power: int, task: Split, units: int, penalty: float, passes: int, seed: int
) -> Function:
    return SemiRandomRidge(units, power, penalty, seed).fit(task.X, task.y).predict


def _network(
    random: bool, layers: int, task: Split, units: int, step: float, passes: int, seed: int
) -> Function:
    network = GatedNetwork((units // layers,) * layers, random, step, passes, seed=seed)
    return network.fit(task.X, task.y, task.Z, task.labels).predict


def _one_a_unit(units: int, d: int) -> int:
    """Return the weights of random features: one each, and a constant."""
    return units + 1


def _two_layers(units: int, d: int) -> int:
    return (d + 2) * (units // 2) + (units // 2) ** 2


FIXED, SEMI_RANDOM, TRAINED = "fixed", "semi-random", "trained"
METHODS = {
    "random ReLU": Method(PENALTIES, _relu, _one_a_unit, FIXED),
    "random Fourier": Method(
        tuple((gamma, penalty) for gamma in WIDTHS for penalty in PENALTIES),
        _fourier,
        _one_a_unit,
        FIXED,
    ),
    "semi-random, linear": Method(
        PENALTIES, partial(_semi_random, 0), lambda units, d: units * (d + 1), SEMI_RANDOM
    ),
    "semi-random, squared": Method(
        PENALTIES, partial(_semi_random, 1), lambda units, d: units * (d + 1), SEMI_RANDOM
    ),
    "semi-random, two layers": Method(STEPS, partial(_network, True, 2), _two_layers, SEMI_RANDOM),
    "trained ReLU": Method(
        STEPS, partial(_network, False, 1), lambda units, d: units * (d + 2), TRAINED
    ),
    "trained ReLU, two layers": Method(STEPS, partial(_network, False, 2), _two_layers, TRAINED),
}
"""Those of one layer but the last learn their weights in closed form, the others by Adam."""

STREAMS = ("robot arm", "friedman", "one direction")


def run(full: bool, seeds: int, progress: Progress) -> Result:
    """Measure the test error of each method at growing numbers of units, on three data sets.

    A full run takes 2,500 examples and up to 512 units, a quick one 1,000 and 128. A seed is a data
    set, or a division of one, with its random weights and first weights.
    """
    plan, curves, needed, sources = FULL if full else QUICK, [], [], {}
    for name in STREAMS:
        splits = [_split(name, plan.n, seed) for seed in range(seeds)]
        sources[name] = splits[0].source
        found = {}
        for method in METHODS:
            errors = []
            for seed, split in enumerate(splits):
                progress(f"{name}, seed {seed}: {method}")
                errors.append([_error(split, method, u, plan, seed) for u in _units(method, plan)])
            found[method] = errors
            curves.append(_curve(name, method, plan, splits[0].X.shape[1], errors))
        needed += [_needed(name, goal, found, plan, splits[0].X.shape[1]) for goal in GOALS]
    figures = {"curves": curves, "needed": needed, "sources": sources}
    settings = {"full": full, "seeds": seeds, **plan._asdict(), "penalties": list(PENALTIES)}
    settings |= {"widths": list(WIDTHS), "steps": list(STEPS)}
    return Result("semi_random", settings, figures, _notes(figures), _draw)


def _split(name: str, n: int, seed: int) -> Split:
    if name == "robot arm":
        return load_robot_arm(seed).first(n, n)
    X, y = stream(name, 2 * n, seed)
    return Split(X[:n], y[:n], X[n:], y[n:], "synthetic")


def _units(method: str, plan: Plan) -> list[int]:
    """Return the numbers of units, powers of 2 from 4 on: half as many in each of two layers."""
    most = {
        FIXED: plan.most_fixed,
        SEMI_RANDOM: plan.most_semi_random,
        TRAINED: plan.most_trained,
    }[METHODS[method].kind]
    return [2**k for k in range(2, most.bit_length())]


def _error(split: Split, method: str, units: int, plan: Plan, seed: int) -> float:
    """Return the mean squared test error, over the variance, of the setting that validates best."""
    m = len(split.X) // 5
    task = Split(split.X[m:], split.y[m:], split.X[:m], split.y[:m], split.source)
    fit = METHODS[method].fit
    fs = [fit(task, units, setting, plan.passes, seed) for setting in METHODS[method].settings]
    best = min(fs, key=lambda f: float(np.mean((f(task.Z) - task.labels) ** 2)))
    return float(np.mean((best(split.Z) - split.labels) ** 2) / split.labels.var())


def _curve(name: str, method: str, plan: Plan, d: int, errors: list[list[float]]) -> dict[str, Any]:
    units = _units(method, plan)
    return {
        "stream": name,
        "method": method,
        "units": units,
        "weights": [METHODS[method].weights(u, d) for u in units],
        "error": [mean_and_error(list(each)) for each in zip(*errors, strict=True)],
    }


def _needed(
    name: str, goal: float, found: Mapping[str, list[list[float]]], plan: Plan, d: int
) -> dict[str, Any]:
    """Return the units and the weights of each method that reach the goal with every seed."""
    row: dict[str, Any] = {"stream": name, "goal": goal}
    for method, errors in found.items():
        units = _units(method, plan)
        accounts = {"units": units, "weights": [METHODS[method].weights(u, d) for u in units]}
        reached = {
            account: [size_for(sizes, each, goal) for each in errors]
            for account, sizes in accounts.items()
        }
        row[method] = {
            account: None if None in sizes else mean_and_error([s for s in sizes if s is not None])
            for account, sizes in reached.items()
        }
    return row


def _notes(figures: Mapping[str, Any]) -> list[str]:
    notes = [f"Data: {', '.join(f'{k}: {v}' for k, v in figures['sources'].items())}."]
    for name in STREAMS:
        rows = [row for row in figures["needed"] if row["stream"] == name]
        # The least error that as many methods reach as reach any, and the least of the semi-random.
        shown = [max(rows, key=lambda row: (len(_reached(row)), -row["goal"]))]
        shown += [r for r in rows if any(m.startswith(SEMI_RANDOM) for m in _reached(r))][-1:]
        for row in shown:
            parts = ", ".join(f"{method} {_as_text(row[method]['units'])}" for method in METHODS)
            notes.append(f"{name}, units for an error of {row['goal']:g} of the variance: {parts}.")
    return notes


def _reached(row: Mapping[str, Any]) -> list[str]:
    return [method for method in METHODS if row[method]["units"] is not None]


def _as_text(found: Mapping[str, float | None] | None) -> str:
    if found is None:
        return "not reached"
    error = found["standard_error"]
    return f"{found['mean']:.3g}" + (f" ± {error:.2g}" if error is not None else "")


def _draw(axes: Any, figures: Mapping[str, Any]) -> None:
    colours = dict(zip(METHODS, ("C7", "C8", "C0", "C2", "C9", "C3", "C1"), strict=True))
    styles = dict(zip(STREAMS, ("-", "--", ":"), strict=True))
    for curve in figures["curves"]:
        label = curve["method"] if curve["stream"] == STREAMS[0] else None
        line = {"linestyle": styles[curve["stream"]], "color": colours[curve["method"]]}
        draw_curve(axes, curve["units"], curve["error"], elinewidth=1, label=label, **line)
    for name, style in styles.items():
        source = figures["sources"][name].partition(":")[0]
        axes.plot([], [], style, color="0.3", label=f"{name} ({source})")
    axes.set(xscale="log", yscale="log", xlabel="hidden units, of all layers")
    axes.set_ylabel("test error over the variance")
    axes.set_ylim(bottom=0.005)  # room for the legend
    axes.legend(fontsize="x-small", ncols=2, loc="lower left")
