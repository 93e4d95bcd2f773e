"""The stream for comparing learners."""

import math
from typing import TypeAlias

from river import datasets

Event: TypeAlias = tuple[dict[str, float], float]


def friedman(n: int) -> list[Event]:
    """Ten inputs of mean 0 and variance 1, five of them irrelevant; target in [-1, 1].

    Both are scaled by their law, not by looking at them.
    """
    return [
        (
            {f"x{i}": (value - 0.5) * math.sqrt(12.0) for i, value in x.items()},
            max(-1.0, min((y - 14.4) / 15.0, 1.0)),
        )
        for x, y in datasets.synth.Friedman(seed=1).take(n)
    ]
