"""Pools of features: events per second compared with River, cost over the stream, and loss.

Predict and learn, from dicts of ten inputs. Rates are medians of interleaved repeats.

Usage: python benchmarks/pool.py [--events 1000000] [--repeats 7]
"""

import argparse
import copy
import statistics
from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from river import base, linear_model, preprocessing

from iln_stream.features import (
    ArcCosine,
    CauchyFourier,
    Erf,
    GaussianFourier,
    LaplacianFourier,
    Sigmoid,
    Tanh,
    closed_form,
)
from iln_stream.learners.estimators.growing_pool import GrowingPool
from iln_stream.learners.estimators.pool import Pool
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

D = 10
NAMES = [f"x{j}" for j in range(D)]
Events = Sequence[tuple[dict[str, float], float]]


def friedman(n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Friedman's first function of five of ten inputs, with noise; all in standard units."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 1.0, (n, D))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    y += 5 * X[:, 4] + rng.standard_normal(n)
    return (X - 0.5) * np.sqrt(12.0), np.clip((y - 14.4) / 15.0, -1.0, 1.0)


def as_events(X: NDArray[np.float64], y: NDArray[np.float64]) -> Events:
    return [
        (dict(zip(NAMES, x, strict=True)), y_t)
        for x, y_t in zip(X.tolist(), y.tolist(), strict=True)
    ]


def seconds(model: base.Regressor, events: Events) -> float:
    started = perf_counter()
    for x, y in events:
        model.predict_one(x)
        model.learn_one(x, y)
    return perf_counter() - started


def rates(models: dict[str, Callable[[], base.Regressor]], repeats: int) -> None:
    """Return events per second over 20,000 events, and their ratio to River's."""
    events = as_events(*friedman(20_000, seed=3))
    times: dict[str, list[float]] = {name: [] for name in models}
    for make in models.values():
        seconds(make(), events[:100])  # compiles before the clock runs
    for _ in range(repeats):
        for name, make in models.items():
            times[name].append(seconds(make(), events))
    first = statistics.median(next(iter(times.values())))
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"  {name:40} {len(events) / median:9,.0f} events/s  {first / median:5.2f}x")


def flatness(n: int, repeats: int) -> None:
    """Compare the cost of an event after n learned events and after 1,000."""
    young = ShrinkingGradient(estimator=Pool(512), step=0.3, seed=1)
    events = as_events(*friedman(5_000, seed=4))
    seconds(young, events[:1_000])
    old = copy.deepcopy(young)
    while old.n_seen < n:
        seconds(old, events)
    ratios = [
        # Start from the same two states each time, so that the young one stays young.
        seconds(copy.deepcopy(old), events) / seconds(copy.deepcopy(young), events)
        for _ in range(3 * repeats)
    ]
    print(f"  after {old.n_seen:,} events / after 1,000: {statistics.median(ratios):.3f}")


def kernel_losses(
    X: NDArray[np.float64], y: NDArray[np.float64], gamma: float, step: float
) -> NDArray[np.float64]:
    """Return losses of Algorithm 1 with the exact f_t(x_t), computed by the kernel."""
    kernel = closed_form(GaussianFourier(gamma))
    assert kernel is not None
    alpha, found = np.zeros(len(y)), np.zeros(len(y))
    for t, (x, y_t) in enumerate(zip(X, y, strict=True)):
        error = y_t - alpha[:t] @ kernel(X[:t], x)
        alpha[t] = step * error
        found[t] = error**2 / 2
    return found


def told(losses: list[NDArray[np.float64]]) -> str:
    whole = [found.mean() for found in losses]
    late = [found[len(found) // 2 :].mean() for found in losses]
    return f"{np.mean(whole):.4f} ({np.mean(late):.4f})"


def losses(gamma: float = 0.1, n: int = 10_000, seeds: Sequence[int] = (1, 2, 3)) -> None:
    """Return the mean loss over the second half of a pass, and microseconds per learned event."""
    X, y = friedman(n, seed=0)
    events = as_events(X, y)
    estimators = [Pool(64), Pool(512), GrowingPool(growth=1.0), GrowingPool(), Pool(4096)]
    for step in (0.1, 0.3, 0.6):
        print(f"  step {step}\n    {'kernel':60} {told([kernel_losses(X, y, gamma, step)])}")
        for estimator in estimators:
            found, taken = [], []
            for seed in seeds:
                model = ShrinkingGradient(
                    GaussianFourier(gamma), estimator=estimator, step=step, seed=seed
                )
                found.append(np.empty(n))
                started = perf_counter()
                for t, (x, y_t) in enumerate(events):
                    model.learn_one(x, y_t)
                    found[-1][t] = model.last_update.loss
                taken.append((perf_counter() - started) / n * 1e6)
            print(f"    {estimator!r:60} {told(found)}  {statistics.median(taken):.0f} us")


def pool_of(estimator: Pool | GrowingPool, family: object = None) -> Callable[[], base.Regressor]:
    return lambda: ShrinkingGradient(family, estimator=estimator, step=0.3, seed=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()

    print("Predict and learn, ten inputs:")
    models: dict[str, Callable[[], base.Regressor]] = {
        "River StandardScaler | LinearRegression": lambda: (
            preprocessing.StandardScaler() | linear_model.LinearRegression()
        ),
        "Pool(512), GaussianFourier": pool_of(Pool(512)),
    }
    for family in (
        LaplacianFourier(),
        CauchyFourier(),
        Erf(),
        Tanh(),
        Sigmoid(),
        ArcCosine(),
    ):
        models[f"Pool(512), {type(family).__name__}"] = pool_of(Pool(512), family)
    models["Pool(4096), GaussianFourier"] = pool_of(Pool(4096))
    models["GrowingPool(), GaussianFourier"] = pool_of(GrowingPool())
    rates(models, arguments.repeats)

    print("Cost of an event, Pool(512):")
    flatness(arguments.events, arguments.repeats)

    print("Loss on Friedman (in its second half), 10,000 events, gamma = 0.1, mean of three seeds:")
    losses()


if __name__ == "__main__":
    main()
