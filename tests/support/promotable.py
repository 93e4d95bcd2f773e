"""A learner of which another part can be made to predict."""

from typing import Any

from river import base

CONTENDERS = {"one": 1.0, "two": 2.0}


class Promotable(base.Regressor):
    """Predicts the champion's number, plus a thousandth for each learned event."""

    def __init__(self) -> None:
        self.champion = "one"
        self.n_learned = 0

    def predict_one(self, x: dict[str, Any]) -> float:
        return CONTENDERS[self.champion] + self.n_learned / 1000

    def learn_one(self, x: dict[str, Any], y: float) -> None:
        self.n_learned += 1

    def promote(self, name: str) -> None:
        if name not in CONTENDERS:
            raise ValueError(f"promote: no contender {name!r}; there are {', '.join(CONTENDERS)}")
        self.champion = name
