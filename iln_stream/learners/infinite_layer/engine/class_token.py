"""Tokens of classifiers: what each expert gave the most probable classes."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.infinite_layer.engine.token import (
    PATIENCE,
    checked,
    code_of,
    pack,
    unpacked,
)

Array = NDArray[np.float64]

KEPT = 4
"""The most classes whose probabilities are in a token; the others are one class there."""

CLASSES, FIRST = 2, 3
"""Indices of a token's number of classes, and of what follows: the indices of the kept classes,
then their probabilities by each expert."""

LEAST = 1e-9
"""Probabilities are at least this."""


class ClassesAsOf(NamedTuple):
    """What a classifier computed when it predicted an event.

    Parameters
    ----------
    n
        Number of events learned by then.
    n_classes
        C, the number of classes known by then; 0 if the prediction was broken.
    kept
        Indices of the classes with a column, (m,).
    experts
        The experts' probabilities (K, m + 1): the last column is that of all other classes.

    """

    n: int
    n_classes: int
    kept: list[int]
    experts: Array

    def column(self, label: int) -> int | None:
        """Return the column of a class; None if it could not have been predicted."""
        if label >= self.n_classes or not self.kept:
            return None
        return self.kept.index(label) if label in self.kept else len(self.kept)

    def counts(self, n: int) -> bool:
        """Return whether these are scored, as n events are learned now: see `AsOf.scored`."""
        return PATIENCE * (n - self.n) <= self.n


class ClassTokenFormat:
    """How a classifier's tokens are laid out.

    A token has 3 + m + m K / 2 numbers, rounded up, for m = min(C - 1, 4): its size is bounded,
    however many classes there are.

    Parameters
    ----------
    names
        Of what the engine consists of.
    n_experts
        K.

    """

    def __init__(self, names: Iterable[str], n_experts: int) -> None:
        self.code = code_of(names)
        self.n_experts = n_experts

    def written(self, n: int, predicted: Array, experts: Array) -> Array:
        """Return a token of the probabilities predicted (C,), by the experts (K, C)."""
        C = len(predicted)
        kept = np.argsort(-predicted, kind="stable")[: min(C - 1, KEPT)]
        first = FIRST + len(kept)
        token = np.empty(first + -(-len(kept) * self.n_experts // 2))
        token[:FIRST] = self.code, n, C
        token[FIRST:first] = kept
        pack((experts[:, kept].ravel(),), token[first:])
        return token

    def without(self, n: int) -> Array:
        """Return a token of an event without a sound prediction: it has nothing to score."""
        return np.array([self.code, n, 0.0])

    def read(self, token: Any) -> ClassesAsOf:
        """Return what a token says.

        Raises
        ------
        ValueError
            As of `token.checked`.

        """
        numbers, n = checked(token, self.code)
        C = float(numbers[CLASSES]) if len(numbers) > CLASSES else math.nan
        m = int(min(max(C - 1.0, 0.0), KEPT)) if math.isfinite(C) else 0
        size = m * self.n_experts
        numbers, _ = checked(numbers, self.code, FIRST + m + -(-size // 2))
        kept = numbers[FIRST : FIRST + m]
        p = unpacked(numbers[FIRST + m :])[:size].reshape(self.n_experts, m)
        indices = ((kept >= 0.0) & (kept < C) & (kept == np.floor(kept))).all()
        if not (indices and len(set(kept.tolist())) == m and np.isfinite(p).all()):
            return ClassesAsOf(n, 0, [], np.zeros((self.n_experts, 1)))
        p = np.clip(np.column_stack([p, 1.0 - p.sum(axis=1)]), LEAST, 1.0)
        return ClassesAsOf(n, int(C), kept.astype(int).tolist(), p)
