"""Which inputs move the predictions, on a stream of known effects."""

import math
from random import Random

import pytest

from iln_stream import InfiniteLayerClassifier, InfiniteLayerRegressor


def payments(n):
    """Yield payments, whether each is a fraud, and its log odds; the country has no effect."""
    draw = Random(0)
    for _ in range(n):
        size, before, hour = draw.gauss(4.0, 1.0), draw.randrange(10), draw.randrange(24)
        device, country = draw.choice("abc"), draw.choice(("US", "DE", "FR"))
        turn = 2 * math.pi * hour / 24
        odds = 1.5 * (size - 4.0) + {"a": 1.2, "b": -1.2, "c": 0.0}[device] + 0.2 * before
        odds += 0.4 * math.sin(turn) - 2.0
        x = {"size": size, "before": before, f"device={device}": 1.0, f"country={country}": 1.0}
        x |= {"hour.sin": math.sin(turn), "hour.cos": math.cos(turn)}
        yield x, draw.random() < 1 / (1 + math.exp(-odds)), odds


@pytest.mark.parametrize(
    "model",
    [
        InfiniteLayerClassifier(seed=1),
        InfiniteLayerRegressor("fast", seed=1),
        pytest.param(InfiniteLayerRegressor(seed=1), marks=pytest.mark.thorough),
    ],
)
def test_the_order_of_known_effects(model):
    """Fields are in the order of their effects, numbers and categories alike; a category without
    an effect has next to none, and an hour is one field."""
    model = model.clone()
    for x, fraud, odds in payments(3_000):
        model.learn_one(x, fraud if isinstance(model, InfiniteLayerClassifier) else odds)
    found = model.relevance
    assert sum(found.values()) == pytest.approx(1.0)
    assert sorted(found, key=lambda name: -found[name])[:2] == ["size", "device"]
    assert found["country"] < 0.1 < found["before"]
    assert found.keys() == {"size", "before", "device", "country", "hour"}
