"""The streams for comparing learners."""

import math
from typing import TypeAlias

from river import datasets

Event: TypeAlias = tuple[dict[str, float], float]


def friedman(n: int, *, drifting: bool = False) -> list[Event]:
    """Ten inputs of mean 0 and variance 1, five of them irrelevant; target in [-1, 1].

    Both are scaled by their law, not by looking at them. If `drifting`, other inputs matter from a
    third of the stream on, and from two thirds others again.
    """
    made = datasets.synth.Friedman(seed=1)
    if drifting:
        made = datasets.synth.FriedmanDrift("gra", (n // 3, 2 * n // 3), seed=1)
    return [
        (
            {f"x{i}": (value - 0.5) * math.sqrt(12.0) for i, value in x.items()},
            max(-1.0, min((y - 14.4) / 15.0, 1.0)),
        )
        for x, y in made.take(n)
    ]
