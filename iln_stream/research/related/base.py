"""What these learners share: checks of arguments, and gradients of their losses."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from math import exp, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.learners.checks import (
    clipped_target,
    not_a_number,
    require_choice,
    require_counts,
    require_positive,
)
from iln_stream.learners.preprocessing.columns import Columns

Array = NDArray[np.float64]

SMALLEST_SCALE = 1e-100
"""A scale that weights have in common, and that falls below it, is multiplied into them."""


def sign_of(y: Any) -> float:
    """Return +1 for True (or 1) and -1 for False (or 0).

    Raises
    ------
    ValueError
        For any other label, such as -1, which would count as true.

    """
    if y in (0, 1):
        return 1.0 if y else -1.0
    raise ValueError(
        f"y is {y!r}: this learner knows the two classes False and True (or 0 and 1); wrap it in "
        "river.multiclass.OneVsRestClassifier for more"
    )


def require_finite(x: Mapping[Any, float]) -> None:
    """Reject inputs that are not finite numbers."""
    for name, value in x.items():
        try:
            finite = isfinite(value)
        except TypeError as error:
            raise not_a_number(name, value) from error
        if not finite:
            raise not_a_number(name, value)


def logistic(z: float) -> float:
    """Return 1 / (1 + exp(-z)), also where exp would overflow."""
    return 1.0 / (1.0 + exp(-z)) if z > -700.0 else 0.0


DERIVATIVES: dict[str, Callable[[float, float], float]] = {
    "hinge": lambda f, y: -y if y * f < 1.0 else 0.0,
    "logistic": lambda f, y: -y * logistic(-y * f),
    "squared": lambda f, y: f - y,
}
"""l'(f, y) of max(0, 1 - y f), log(1 + exp(-y f)) and (f - y)^2 / 2."""


class GradientModel:
    """Predicts f(x) and learns by l'(f(x), y).

    Parameters
    ----------
    loss
        A name in `DERIVATIVES`.
    step, lam
        Of gradient steps: each lets the weights decay by 1 - step lam.
    max_columns
        The most input names that get a column; inputs of later names are left out, with a warning.
    seed
        Of all that is drawn.

    """

    def __init__(
        self, loss: str, step: float, lam: float, max_columns: int, seed: int | None
    ) -> None:
        require_choice(tuple(DERIVATIVES), loss=loss)
        require_counts(max_columns=max_columns)
        require_positive(step=step)
        if not 0.0 <= step * lam < 1.0:
            raise ValueError(
                f"step * lam = {step * lam} must be in [0, 1): weights decay by 1 - step lam"
            )
        self.loss = loss
        self.step = step
        self.lam = lam
        self.max_columns = max_columns
        self.seed = seed
        self._columns = Columns(max_columns)

    @abstractmethod
    def _f(self, X: Array) -> Array:
        """Return f of each row of X (n, d), shape (n,)."""

    @abstractmethod
    def _learn(self, row: Array, y: float) -> None:
        """Take one step for a row (d,)."""

    def decision_one(self, x: Mapping[Any, float]) -> float:
        """Return f(x)."""
        return float(self._f(self._columns.row(x)[np.newaxis])[0])

    def decision_many(self, xs: Iterable[Mapping[Any, float]]) -> Array:
        """Return f of several inputs, faster than one by one."""
        return self._f(stacked([self._columns.row(x) for x in xs]))


class GradientRegressor(GradientModel, base.Regressor):
    """Learns targets as they are: see `iln_stream.ScaledTarget` to scale them."""

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return f(x)."""
        return self.decision_one(x)

    def learn_one(self, x: Mapping[Any, float], y: float) -> None:
        """Take one step."""
        y = clipped_target(y)
        self._learn(self._columns.learn(x), y)


class MarginClassifier(base.Classifier):
    """Predicts True where f(x) > 0, and probabilities if the loss has them."""

    loss = "hinge"

    @abstractmethod
    def decision_one(self, x: Mapping[Any, float]) -> float:
        """Return f(x)."""

    @abstractmethod
    def decision_many(self, xs: Iterable[Mapping[Any, float]]) -> Array:
        """Return f of several inputs, faster than one by one."""

    def predict_one(self, x: Mapping[Any, float]) -> bool:
        """Return whether f(x) is positive."""
        return self.decision_one(x) > 0.0

    def predict_several(self, xs: Iterable[Mapping[Any, float]]) -> list[bool]:
        """Return the class of each input, faster than one by one."""
        return [bool(f > 0.0) for f in self.decision_many(xs)]

    def predict_proba_one(self, x: Mapping[Any, float]) -> dict[bool, float]:
        """Return the probabilities of the logistic loss; other losses have none."""
        if self.loss != "logistic":
            raise NotImplementedError
        p = logistic(self.decision_one(x))
        return {False: 1.0 - p, True: p}


class GradientClassifier(GradientModel, MarginClassifier):
    """Learns two classes as y = -1 and y = +1."""

    def learn_one(self, x: Mapping[Any, float], y: Any) -> None:
        """Take one step."""
        sign = sign_of(y)
        self._learn(self._columns.learn(x), sign)


def fitted(X: Array, d: int) -> Array:
    """Return the first d columns of rows (n, ..), with zeros in those that they lack."""
    if X.shape[1] >= d:
        return X[:, :d]
    return np.pad(X, ((0, 0), (0, d - X.shape[1])))


def stacked(rows: list[Array]) -> Array:
    """Return rows of different lengths as an array, with zeros in the columns that they lack."""
    X = np.zeros((len(rows), max(map(len, rows), default=0)))
    for to, row in zip(X, rows, strict=True):
        to[: len(row)] = row
    return X
