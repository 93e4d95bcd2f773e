"""Quantiles beside River's and Vowpal Wabbit's: `ILN_DATA=... python -m benchmarks.quantiles`.

For ten streams and each learner: the mean pinball loss of the quantiles 0.1, 0.5 and 0.9, each
divided by that of the same quantile of the labels so far, after 1,000, 10,000 and 100,000 events or
all; and the share of labels up to each. Every event is predicted before it is learned. The peers
learn a model for each level, on standardised inputs and targets, each with several first steps,
with and without the last two targets as inputs; the best variant of each stream counts. `--design`
runs the streams on which `QuantileRegressor` was designed, and `--report` writes the stored table
to docs/accuracy.md.
"""

import argparse
import json
import math
import time
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base, linear_model, optim

from benchmarks.quality.learners.lags import WithLags
from benchmarks.quality.learners.scaled import scaled
from benchmarks.quality.learners.vowpal_wabbit_peers import VowpalWabbitRegressor
from benchmarks.quality.streams import STREAMS
from benchmarks.quality.streams.files import _rows
from benchmarks.speed.report import versions
from iln_stream.learners.infinite_layer import InfiniteLayerRegressor
from iln_stream.learners.keyed import KeyedRegressor
from iln_stream.learners.quantiles import QuantileRegressor
from iln_stream.records import one_hot

RESULTS = Path(__file__).parent / "results" / "quantiles.json"
DOCUMENT = Path(__file__).parents[1] / "docs" / "accuracy.md"
BEGIN, END = "<!-- quantiles:begin -->", "<!-- quantiles:end -->"
LEVELS = 0.1, 0.5, 0.9
SIZES = 1_000, 10_000, 100_000

Events = Iterator[tuple[dict[str, Any], float]]
Matrix = NDArray[np.float64]


def _named(X: Matrix, y: Matrix) -> Events:
    names = [f"x{i}" for i in range(X.shape[1])]
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        yield dict(zip(names, row, strict=True)), target


def _sales(n: int, seed: int) -> Events:
    """Yield an article's hourly sales: counts, half of them small, with a price and promotions."""
    rng, level, sold = np.random.default_rng(seed), 0.0, [0.0] * 24
    for t in range(n):
        hour, day = t % 24, t // 24 % 7
        level = 0.998 * level + rng.normal(0.0, 0.02)
        promotion, price = float(rng.random() < 0.06), float(rng.choice([4.0, 4.5, 5.0]))
        shape = 0.9 * math.sin(math.pi * (hour - 7) / 12) - 0.25 * (day >= 5)
        mean = math.exp(1.2 + shape + level + 1.1 * promotion - 0.6 * (price - 4.5))
        x = {"hour": hour, "day": f"d{day}", "promotion": promotion, "price": price}
        y = float(rng.poisson(mean * rng.gamma(3.0, 1 / 3)))
        yield {**x, "day before": sold[-24], "hour before": sold[-1]}, y
        sold = [*sold[1:], y]


def _deliveries(n: int, seed: int) -> Events:
    """Yield minutes of deliveries: late more often in the rain, in far zones and at rush hours."""
    rng = np.random.default_rng(seed)
    pace, spread = rng.normal(0.0, 0.25, 12), rng.uniform(0.1, 0.6, 12)
    for _ in range(n):
        zone, hour = int(rng.integers(12)), float(rng.uniform(8, 22))
        km, rain = float(rng.gamma(2.0, 2.0)), float(rng.random() < 0.25)
        rush = math.exp(-((hour - 18) ** 2) / 3)
        late = rng.exponential(20.0) if rng.random() < 0.04 + 0.2 * rain * rush else 0.0
        noise = spread[zone] * (1 + rain) * rng.normal()
        minutes = (6 + 3 * km * (1 + 0.6 * rush)) * math.exp(pace[zone] + 0.3 * noise) + late
        yield {"zone": f"z{zone}", "hour": hour, "km": km, "rain": rain}, float(minutes)


def _claims(n: int, seed: int) -> Events:
    """Yield costs of claims, whose tail is as heavy as a Pareto law's with index 2.5."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 6))
    scale = np.exp(1.0 + X[:, 0] + 0.8 * X[:, 1] * X[:, 2])
    return _named(X, scale * (1 + rng.pareto(2.5 + 1.5 * (X[:, 3] > 0), n)))


def _linear(n: int, seed: int) -> Events:
    """Yield what the peers are made for: quantiles that are linear in the inputs."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 1.0, (n, 8))
    center, spread = X @ rng.normal(0.0, 2.0, 8), 0.2 + X @ rng.uniform(0.0, 0.6, 8)
    return _named(X, center + spread * rng.normal(size=n))


def _design(n: int, seed: int) -> Events:
    """Yield noise of an exponential law that only two of five inputs switch on."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 5))
    spread = 0.1 + 1.5 * (np.abs(X[:, 2]) < 0.4) * (X[:, 3] > -0.3)
    y = 2 * np.sin(3 * X[:, 0]) + 3 * X[:, 1] ** 2 + spread * rng.exponential(1.0, n)
    return _named(X, y)


def _suite(name: str) -> Callable[[int], Events]:
    return lambda n: islice(STREAMS[name].events(), n)  # type: ignore[return-value]


REPORTED: dict[str, Callable[[int], Events]] = {
    "bikes": lambda n: islice(
        _rows("bikes_hourly", "cnt", ("instant", "dteday", "casual", "registered")), n
    ),
    "kin8nm": lambda n: islice(_rows("kin8nm", "y"), n),
    "bank32nh": lambda n: islice(_rows("bank32nh", "rej"), n),
    "2dplanes": lambda n: islice(_rows("2dplanes", "y"), n),
    "queue-times": _suite("queue-times"),
    "city-trips": _suite("city-trips"),
    "sales": lambda n: _sales(n, 90210),
    "deliveries": lambda n: _deliveries(n, 90211),
    "claims": lambda n: _claims(n, 90212),
    "linear": lambda n: _linear(n, 90213),
}
"""Streams that had no part in the design."""

DESIGN: dict[str, Callable[[int], Events]] = {
    "friedman": _suite("friedman"),
    "bananas": _suite("bananas-signed"),
    "chick-weights": _suite("chick-weights"),
    "switched noise": lambda n: _design(n, 11),
}


class Ours:
    """`QuantileRegressor` on one of our profiles."""

    def __init__(self, profile: Any) -> None:
        self._model = QuantileRegressor(InfiniteLayerRegressor(profile, seed=1), LEVELS)

    def quantiles(self, x: dict[str, float]) -> list[float]:
        return list(self._model.predict_quantiles_one(x).values())

    def learn(self, x: dict[str, float], y: float) -> None:
        self._model.learn_one(x, y)


class Peers:
    """A regressor for each level; quantiles that cross are put in order."""

    def __init__(self, make: Callable[[float], base.Regressor], lags: bool) -> None:
        made = [scaled(lambda _, q=q: make(q))(1) for q in LEVELS]  # type: ignore[misc]
        self._models = [WithLags(each) if lags else each for each in made]

    def quantiles(self, x: dict[str, float]) -> list[float]:
        return sorted(float(each.predict_one(x)) for each in self._models)

    def learn(self, x: dict[str, float], y: float) -> None:
        for each in self._models:
            each.learn_one(x, y)


def _river(q: float, step: float) -> base.Regressor:
    return linear_model.LinearRegression(
        optim.SGD(step), loss=optim.losses.Quantile(q), intercept_lr=step
    )


def _wabbit(q: float, options: str) -> base.Regressor:
    return VowpalWabbitRegressor(f"--loss_function quantile --quantile_tau {q} {options}", 1)


def learners() -> dict[str, list[Callable[[], Any]]]:
    """Return the variants of each learner."""
    river = [lambda q, s=s: _river(q, s) for s in (0.01, 0.03, 0.1)]
    options = ("-l 0.5", "-q :: -l 0.5")
    wabbit = [lambda q, o=o: _wabbit(q, o) for o in options]

    def peers(makes: Sequence[Any]) -> list[Callable[[], Any]]:
        return [lambda m=m, lags=lags: Peers(m, lags) for m in makes for lags in (False, True)]

    return {
        "accurate": [lambda: Ours("accurate")],
        "fast": [lambda: Ours("fast")],
        "River": peers(river),
        "Vowpal Wabbit": peers(wabbit),
    }


def losses(events: Sequence[tuple[dict[str, float], float]], learner: Any) -> Matrix:
    """Return for each event the losses (3,) and whether the label is at most the quantile (3,)."""
    found = np.zeros((len(events), 6))
    for t, (x, y) in enumerate(events):
        error = y - np.array(learner.quantiles(x))
        found[t, :3] = np.maximum(error * LEVELS, error * (np.array(LEVELS) - 1))
        found[t, 3:] = error <= 0
        learner.learn(x, y)
    return found


class SoFar:
    """The quantiles of the labels so far."""

    def __init__(self) -> None:
        self._labels: list[float] = []

    def quantiles(self, x: dict[str, float]) -> list[float]:
        n = len(self._labels)
        return [self._labels[min(int(q * n), n - 1)] if n else 0.0 for q in LEVELS]

    def learn(self, x: dict[str, float], y: float) -> None:
        insort(self._labels, y)


def measured(stream: Callable[[int], Events], most: int) -> dict[str, Any]:
    """Return the scores of all learners on a stream."""
    events = [(one_hot(x), y) for x, y in stream(most)]
    sizes = sorted({min(n, len(events)) for n in SIZES})
    trivial, found = losses(events, SoFar()), dict[str, Any]()
    for name, variants in learners().items():
        each = []
        for make in variants:
            begun = time.process_time()
            lost = losses(events, make())
            spent = 1e6 * (time.process_time() - begun) / len(events)
            ratios = [float((lost[:n, :3].sum(0) / trivial[:n, :3].sum(0)).mean()) for n in sizes]
            each.append((ratios, lost[min(2_000, len(lost) // 2) :, 3:].mean(0).tolist(), spent))
        best = min(each, key=lambda e: e[0][-1])
        found[name] = {
            "losses": [round(min(e[0][i] for e in each), 4) for i in range(len(sizes))],
            "coverage": [round(share, 3) for share in best[1]],
            "us": round(best[2], 1),
        }
    return {"events": sizes, **found}


def report(results: dict[str, Any]) -> str:
    """Return the table of the documents."""
    names = list(learners())
    lines = [f"| stream | events | {' | '.join(names)} | shares (accurate) |"]
    lines.append(f"|---|--:|{'--:|' * len(names)}--:|")
    for stream, of in results["streams"].items():
        for i, n in enumerate(of["events"]):
            scores = [of[name]["losses"][i] for name in names]
            cells = [f"**{s:.3f}**" if s == min(scores) else f"{s:.3f}" for s in scores]
            last = i == len(of["events"]) - 1
            shares = ", ".join(f"{c:.2f}" for c in of["accurate"]["coverage"]) if last else ""
            lines.append(f"| {stream} | {n:,} | {' | '.join(cells)} | {shares} |")
    return "\n".join(lines)


def keyed_sides(n: int = 20_000) -> list[float]:
    """Return the shares of skewed labels below and above the 80 % intervals of models by key."""
    rng = np.random.default_rng(5)
    model = KeyedRegressor("zone", InfiniteLayerRegressor("fast", seed=1))
    low = high = 0
    for t, (x, y) in enumerate(_deliveries(n, int(rng.integers(9)))):
        x = {**one_hot({k: v for k, v in x.items() if k != "zone"}), "zone": x["zone"]}
        ends = model.predict_interval(x, 0.8)
        low, high = low + (t >= 2_000 and y < ends[0]), high + (t >= 2_000 and y > ends[1])
        model.learn_one(x, y)
    return [round(each / (n - 2_000), 4) for each in (low, high)]


def costs(n: int = 4_000) -> dict[str, float]:
    """Return how many times the time of an event takes with quantiles, by profile: the median."""
    events = list(_linear(n, 5))
    found = {}
    for profile in ("accurate", "fast"):
        ratios = []
        for _ in range(3):
            spent = []
            for levels in ((), LEVELS):
                model: Any = InfiniteLayerRegressor(profile, seed=1)  # type: ignore[arg-type]
                model = QuantileRegressor(model, levels) if levels else model
                begun = time.process_time()
                for x, y in events:
                    model.predict_one(x)
                    if levels:
                        model.predict_quantiles_one(x)
                    model.learn_one(x, y)
                spent.append(time.process_time() - begun)
            ratios.append(spent[1] / spent[0])
        found[profile] = round(median(ratios), 2)
    return found


def documented(results: dict[str, Any]) -> str:
    """Return docs/accuracy.md with the table of these results."""
    text = DOCUMENT.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{report(results)}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=SIZES[-1], help="the most of a stream")
    parser.add_argument("--streams", nargs="*", help="names; all by default")
    parser.add_argument("--design", action="store_true", help="the streams of the design")
    parser.add_argument("--report", action="store_true", help="write the stored table")
    parser.add_argument("--store", action="store_true", help="store the results")
    given = parser.parse_args()
    known = DESIGN if given.design else REPORTED
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"streams": {}}
    if not given.report:
        for name in given.streams or known:
            found["streams"][name] = of = measured(known[name], given.events)
            print(name, json.dumps(of), flush=True)
            if given.store:
                ours = {name: found["streams"][name] for name in known if name in found["streams"]}
                stored = {"versions": versions(), "streams": ours}
                stored |= {"keyed sides": found.get("keyed sides") or keyed_sides()}
                stored |= {"cost": found.get("cost") or costs()}
                RESULTS.write_text(json.dumps(stored, indent=1) + "\n")
    if given.report:
        DOCUMENT.write_text(documented(found), "utf-8")
    print(report(found))


if __name__ == "__main__":
    main()
