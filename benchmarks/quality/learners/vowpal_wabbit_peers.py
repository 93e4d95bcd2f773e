"""Vowpal Wabbit."""

from collections.abc import Hashable
from typing import Any

from river import base

from benchmarks.quality.learners.contender import Contender
from benchmarks.quality.learners.scaled import scaled, scaled_inputs
from benchmarks.quality.unavailable import UnavailableError

PACKAGES = ("vowpalwabbit", "river")
MOST_CLASSES = 10


def _workspace(options: str, seed: int) -> Any:
    try:
        from vowpalwabbit import Workspace
    except ImportError as error:
        raise UnavailableError("Vowpal Wabbit: pip install '.[quality]'") from error
    return Workspace(f"{options} --random_seed {seed} --quiet")


def _text(x: dict[str, float]) -> str:
    # Its format reserves colons, bars and blanks, so columns are named by number.
    return "|x " + " ".join(f"{i}:{value:.9g}" for i, value in enumerate(x.values()))


class VowpalWabbitRegressor(base.Regressor):
    """Vowpal Wabbit with squared loss, as a River regressor."""

    def __init__(self, options: str, seed: int) -> None:
        self.options = options
        self.seed = seed
        self._vw = _workspace(options, seed)

    def learn_one(self, x: dict[str, float], y: float) -> None:
        self._vw.learn(f"{y:.9g} {_text(x)}")

    def predict_one(self, x: dict[str, float]) -> float:
        return float(self._vw.predict(_text(x)))


class VowpalWabbitClassifier(base.Classifier):
    """Vowpal Wabbit with logistic loss, one against all, as a River classifier."""

    def __init__(self, options: str, seed: int) -> None:
        self.options = options
        self.seed = seed
        self._vw = _workspace(
            f"--oaa {MOST_CLASSES} --loss_function logistic --probabilities {options}", seed
        )
        self._classes: list[Hashable] = []

    def learn_one(self, x: dict[str, float], y: Hashable) -> None:
        if y not in self._classes:
            self._classes.append(y)
        self._vw.learn(f"{self._classes.index(y) + 1} {_text(x)}")

    def predict_proba_one(self, x: dict[str, float]) -> dict[Hashable, float]:
        # It shares probability among all ten classes it may meet; those met are renormalised.
        shares = self._vw.predict(_text(x))[: len(self._classes)]
        total = sum(shares)
        return {c: share / total for c, share in zip(self._classes, shares, strict=True)}


VOWPAL_WABBIT = (
    Contender(
        "vw-cubic-nn",
        "Vowpal Wabbit, cubic, nn 10",
        "online",
        scaled(lambda seed: VowpalWabbitRegressor("-q :: --cubic ::: --nn 10", seed)),
        "`-q :: --cubic ::: --nn 10`",
        PACKAGES,
    ),
)

VOWPAL_WABBIT_CLASSIFIERS = (
    Contender(
        "vw-logistic",
        "Vowpal Wabbit, logistic",
        "online",
        scaled_inputs(lambda seed: VowpalWabbitClassifier("", seed)),
        f"`--oaa {MOST_CLASSES} --loss_function logistic --probabilities`",
        PACKAGES,
        task="classification",
    ),
    Contender(
        "vw-logistic-nn",
        "Vowpal Wabbit, logistic, quadratic, nn 10",
        "online",
        scaled_inputs(lambda seed: VowpalWabbitClassifier("-q :: --nn 10", seed)),
        f"`--oaa {MOST_CLASSES} --loss_function logistic --probabilities -q :: --nn 10`",
        PACKAGES,
        task="classification",
    ),
)
