"""The price of missing values: `python -m benchmarks.missing --events 10000`.

On two streams, 0, 10 and 30 % of all inputs are left out at random: from a learner's x, as null in
events, by absent fields of flat records, and as NA in CSV. The error is the prequential mean
absolute one over that of the running mean; it must be the same whichever way values are missing.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from river import compose, linear_model, optim, preprocessing, stats

from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.records import Decoder, EnvelopeDecoder, one_hot
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_json

SHARES = 0.0, 0.1, 0.3
NAMES = ("a", "b", "c", "d", "e")

Fields = dict[str, float | str | None]


def stream(name: str, n: int, share: float) -> Iterator[tuple[Fields, float]]:
    """Yield inputs, None where one is missing, and targets."""
    rng = np.random.default_rng(7)
    if name == "friedman":
        X = rng.uniform(size=(n, 5))
        y = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
        y += 10.0 * X[:, 3] + 5.0 * X[:, 4] + rng.normal(size=n)
    else:
        common = rng.normal(size=(n, 1))
        X = 20.0 + 3.0 * (0.8 * common + 0.6 * rng.normal(size=(n, 5)))
        y = X @ [1.0, -2.0, 0.5, 1.5, 0.0] + rng.normal(size=n)
    skies = rng.integers(4, size=n)
    y = y + 2.0 * skies
    missing = rng.random((n, 6)) < share
    for row, sky, target, out in zip(
        X.tolist(), skies.tolist(), y.tolist(), missing.tolist(), strict=True
    ):
        values = [*row, f"s{sky}"]
        yield (
            {
                k: None if gone else v
                for k, v, gone in zip((*NAMES, "sky"), values, out, strict=True)
            },
            target,
        )


def _present(fields: Fields) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _decoded(decoder: Decoder, payload: bytes | Mapping[str, Any]) -> dict[str, float]:
    x = decoder(payload, None).x
    assert x is not None
    return x


def ways() -> dict[str, Any]:
    """By the way in which values are missing: a function from fields to the learner's x."""
    flat = MappedDecoder(FieldMapping(target="y"), parse_json)
    # A row of CSV comes as texts by name.
    rows = MappedDecoder(FieldMapping(target="y", types={"sky": "category"}), dict, typed=False)
    envelope = EnvelopeDecoder()
    return {
        "x without them": lambda fields: one_hot(_present(fields)),
        "null in events": lambda fields: _decoded(
            envelope, json.dumps({"x": fields, "y": 0.0}).encode()
        ),
        "absent fields": lambda fields: _decoded(
            flat, json.dumps({**_present(fields), "y": 0.0}).encode()
        ),
        "NA in CSV": lambda fields: _decoded(
            rows,
            {name: "NA" if value is None else str(value) for name, value in fields.items()}
            | {"y": "0"},
        ),
    }


def error(learner: Any, events: list[tuple[dict[str, float], float]]) -> float:
    """Return the mean absolute error over that of the running mean."""
    lost = of_mean = mean = 0.0
    for n, (x, y) in enumerate(events):
        of_mean += abs(y - mean)
        mean += (y - mean) / (n + 1)
        lost += abs(y - learner.predict_one(x))
        learner.learn_one(x, y)
    return lost / of_mean


class Imputed:
    """River's linear regression on standardised inputs, the missing ones replaced by means."""

    def __init__(self) -> None:
        self._imputer = preprocessing.StatImputer(*((name, stats.Mean()) for name in NAMES))
        self._model = compose.Pipeline(
            preprocessing.StandardScaler(), linear_model.LinearRegression(optim.AdaGrad(0.5))
        )

    def _full(self, x: Mapping[str, float]) -> dict[str, float]:
        found: dict[str, float] = self._imputer.transform_one(dict.fromkeys(NAMES) | {**x})
        return {name: 0.0 if value is None else value for name, value in found.items()}

    def predict_one(self, x: Mapping[str, float]) -> float:
        """Return the prediction."""
        return float(self._model.predict_one(self._full(x)))

    def learn_one(self, x: Mapping[str, float], y: float) -> None:
        """Learn a target."""
        self._imputer.learn_one(dict.fromkeys(NAMES) | {**x})
        self._model.learn_one(self._full(x), y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    options = parser.parse_args()
    for name in ("friedman", "correlated"):
        for share in SHARES:
            records = list(stream(name, options.events, share))
            for way, inputs in ways().items():
                events = [(inputs(fields), y) for fields, y in records]
                found = error(InfiniteLayerRegressor("fast", seed=1), events)
                print(f"{name:10} {share:4.0%} fast     {way:15} {found:.4f}", flush=True)
            for title, learner in {
                "accurate": InfiniteLayerRegressor(seed=1),
                "river": Imputed(),
            }.items():
                print(f"{name:10} {share:4.0%} {title:24} {error(learner, events):.4f}", flush=True)


if __name__ == "__main__":
    main()
