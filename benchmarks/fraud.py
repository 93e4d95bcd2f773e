"""A fraud that shows only against a card's own past: `python -m benchmarks.fraud --events 40000`.

Each card has its usual amount and pace, each shop its share of frauds. A fraud is a few payments
of one card within minutes, of several times its usual amount. The same classifier learns the
records alone, with aggregates as the service makes them, and with the same inputs of an upstream
program that keeps every event; River's logistic regression and forest learn those of its `Agg`.
Labels come with the next event. PR AUC is of the second half, predicted before it was learned.
"""

import argparse
import datetime as dt
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from river import feature_extraction, forest, linear_model, optim, preprocessing, stats, utils

from benchmarks.speed.report import versions
from iln_stream.learners.infinite_layer import InfiniteLayerClassifier
from iln_stream.learners.keyed.aggregates import Aggregate, Aggregates
from iln_stream.loop.scores import average_precision

HOUR, DAY = 3_600.0, 86_400.0
WANTED = {
    "card_n_1h": Aggregate("count", ("card",), None, HOUR),
    "card_sum_1d": Aggregate("sum", ("card",), "amount", DAY),
    "card_ratio": Aggregate("ratio_to_mean", ("card",), "amount"),
    "card_since": Aggregate("since_last", ("card",)),
    "shop_fraud": Aggregate("label_mean", ("shop",)),
}

Payment = tuple[float, str, str, float, bool]
"""Time, card, shop, amount, and whether it is a fraud."""


def payments(n: int, n_cards: int, seed: int) -> Iterator[Payment]:
    """Yield payments in order of time; about 1 % are frauds."""
    rng = np.random.default_rng(seed)
    usual = rng.lognormal(3.0, 1.0, n_cards)
    pace = rng.gamma(1.0, 1.0, n_cards)
    shares = rng.beta(0.5, 2.0, 200)
    due: list[Payment] = []
    now = 1.7e9
    for _ in range(n):
        now += rng.exponential(DAY / n_cards)
        if due and due[0][0] <= now:
            yield due.pop(0)
            continue
        card, shop = rng.choice(n_cards, p=pace / pace.sum()), int(rng.integers(200))
        amount = usual[card] * rng.lognormal(0.0, 0.4)
        if rng.random() < 0.012 * shares[shop]:
            times = sorted(now + rng.exponential(300.0, rng.integers(2, 5)))
            due += [
                (t, f"c{card}", f"s{shop}", float(amount * rng.uniform(2.0, 5.0)), True)
                for t in times
            ]
            due.sort()
        yield now, f"c{card}", f"s{shop}", float(amount), False


def declared() -> Callable[[Payment], dict[str, float]]:
    """Return what makes inputs as the service does."""
    made = Aggregates(WANTED)
    last: list[bool] = []

    def inputs(payment: Payment) -> dict[str, float]:
        if last:
            made.accept("", float(last.pop()))
        time, card, shop, amount, fraud = payment
        last.append(fraud)
        return made({"card": card, "shop": shop}, {"amount": amount}, time)

    return inputs


def upstream() -> Callable[[Payment], dict[str, float]]:
    """Return a program that keeps every payment, with windows to the second."""
    past: dict[str, list[Payment]] = defaultdict(list)
    shops: dict[str, list[bool]] = defaultdict(list)
    frauds: list[bool] = []

    def inputs(payment: Payment) -> dict[str, float]:
        time, card, shop, amount, fraud = payment
        mine, known = past[card], shops[shop]
        made = {
            "card_n_1h": float(sum(each[0] > time - HOUR for each in mine)),
            "card_sum_1d": sum(each[3] for each in mine if each[0] > time - DAY),
        }
        if mine:
            made["card_ratio"] = amount / (sum(each[3] for each in mine) / len(mine))
            made["card_since"] = time - mine[-1][0]
        if frauds:
            prior = sum(frauds) / len(frauds)
            made["shop_fraud"] = (sum(known) + 10.0 * prior) / (len(known) + 10.0)
        mine.append(payment)
        known.append(fraud)
        frauds.append(fraud)
        return made

    return inputs


def of_river() -> Callable[[Payment], dict[str, float]]:
    """Return River's `Agg`, updated after each payment; ratio and pause are made beside it."""
    last: dict[str, float] = {}
    aggregates: list[tuple[Any, bool]] = [
        (feature_extraction.Agg(on, by, how), timed)
        for on, by, how, timed in (
            ("one", "card", utils.TimeRolling(stats.Sum, dt.timedelta(hours=1)), True),
            ("amount", "card", utils.TimeRolling(stats.Sum, dt.timedelta(days=1)), True),
            ("amount", "card", stats.Mean(), False),
            ("fraud", "shop", stats.BayesianMean(0.01, 10.0), False),
        )
    ]

    def inputs(payment: Payment) -> dict[str, float]:
        time, card, shop, amount, fraud = payment
        x = {"card": card, "shop": shop, "amount": amount, "fraud": float(fraud), "one": 1.0}
        moment = dt.datetime.fromtimestamp(time, dt.UTC).replace(tzinfo=None)
        made: dict[str, float] = {}
        for n, (each, timed) in enumerate(aggregates):
            made[f"agg{n}"] = next(iter(each.transform_one(x).values()))
            if timed:
                each.learn_one(x, t=moment)
            else:
                each.learn_one(x)
        made["ratio"] = amount / made["agg2"] if made["agg2"] else 1.0
        made["since"] = time - last.get(card, time - DAY)
        last[card] = time
        return made

    return inputs


def precision(
    learner: Any, make: Callable[[], Callable[[Payment], dict[str, float]]] | None,
    events: list[Payment],
) -> tuple[float, float]:  # fmt: skip
    """Return the PR AUC of the second half, and the microseconds of an event's inputs."""
    inputs, begun = make and make(), process_time()
    made = [{} if inputs is None else inputs(payment) for payment in events]
    seconds = process_time() - begun
    scores = []
    for payment, more in zip(events, made, strict=True):
        x = {"amount": payment[3], **more}
        scores.append(learner.predict_proba_one(x).get(True, 0.0))
        learner.learn_one(x, payment[4])
    half = len(events) // 2
    truth = [payment[4] for payment in events]
    return average_precision(scores[half:], truth[half:]), 1e6 * seconds / len(events)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=40_000)
    parser.add_argument("--cards", type=int, default=2_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", help="write the results here")
    given = parser.parse_args()
    logistic = preprocessing.StandardScaler() | linear_model.LogisticRegression(optim.AdaGrad(0.1))
    ways: dict[str, tuple[Callable[[], Any], Callable[[], Any] | None]] = {
        "records alone": (lambda: InfiniteLayerClassifier(profile="fast", seed=1), None),
        "aggregates": (lambda: InfiniteLayerClassifier(profile="fast", seed=1), declared),
        "upstream program": (lambda: InfiniteLayerClassifier(profile="fast", seed=1), upstream),
        "River, Agg, logistic regression": (logistic.clone, of_river),
        "River, Agg, ARF": (lambda: forest.ARFClassifier(seed=1), of_river),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for seed in range(given.seeds):
        events = list(payments(given.events, given.cards, seed))
        for name, (learner, make) in ways.items():
            found[name].append(precision(learner(), make, events))
            print(f"seed {seed}  {name:<34} {found[name][-1][0]:.3f}  {found[name][-1][1]:.1f} us")
    medians = {
        name: {"pr_auc": float(np.median([each[0] for each in runs])),
               "us": float(np.median([each[1] for each in runs]))}
        for name, runs in found.items()
    }  # fmt: skip
    print(json.dumps(medians, indent=1))
    if given.json:
        sizes = {"events": given.events, "cards": given.cards, "seeds": given.seeds}
        results = {"versions": versions(), **sizes, "medians": medians}
        Path(given.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
