"""Effects of hashed categories on the log odds of classes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.infinite_layer.categories.hashed_name import N_CELLS, HashedName
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.state import all_finite

Array = NDArray[np.float64]

PRECISIONS = np.array([0.5, 2.0, 1.0])
"""Inverse variances that the effects have a priori, one for each estimate of an effect."""

KEEPS = np.array([1.0, 1.0, 0.95])
"""What is kept of an estimate's information at each further event: the last follows drift."""

ESTIMATES = len(KEEPS)

_DISCOUNT = 0.999
_STEP = 40_503
"""Between the cells of a category's classes: odd, so that each class has a cell of its own."""

_LARGEST_STEP = 1.0
"""A weight above 1 enlarges the step of an effect, a change of log odds, up to this at most."""

_SMALLEST = 1e-12
"""Smaller probabilities of the engine count as this."""

_RATE = 0.002
"""Of the running means behind shares: they see about the last 500 events."""


class ClassLook(NamedTuple):
    """What was predicted for an event with hashed categories.

    Parameters
    ----------
    cells, signs
        The cell and the sign of each name's effect on each class, (n_names, C).
    logits
        The logarithms of the engine's probabilities, (C,).
    effects
        By name, class and estimate, (n_names, C, ESTIMATES).
    probabilities
        Those of each estimate, and in the last column the engine's, (C, ESTIMATES + 1).

    """

    cells: NDArray[np.int64]
    signs: Array
    logits: Array
    effects: Array
    probabilities: Array


class ClassEffects(Part):
    r"""Corrects an engine's probabilities: $p_c \propto p_c^{engine} \exp(\sum_{names} e_c)$.

    Each name and class has a cell, out of 65,536 that all share. An effect e is moved by Newton
    steps with a diagonal Hessian on the log loss of the corrected probabilities, from 0 and with
    the information that a normal prior would have. A Bayesian mixture with a discount of .999
    weighs corrections by three such estimates, and none.
    """

    own = ("cells", "table", "log_weights", "fields", "squares", "predicted")

    def __init__(self) -> None:
        self.table = np.zeros((N_CELLS, 2, ESTIMATES))  # effects, and their information
        self.log_weights = np.zeros(ESTIMATES + 1)
        self._weights = np.full(ESTIMATES + 1, 1.0 / (ESTIMATES + 1))
        self.squares: dict[str, float] = {}  # running mean squares of the effects by field
        self.predicted = 0.0  # running mean square of the engine's centred logits

    def look(self, names: list[HashedName], probabilities: Array) -> ClassLook:
        """Return what the engine's probabilities (C,) become with these names."""
        C = len(probabilities)
        cells = np.array([[name.cell] for name in names]) + _STEP * np.arange(C)
        cells %= N_CELLS
        # The sign depends on the class, too: effects on all classes would cancel in softmax.
        signs = np.array([[name.sign] for name in names]) * np.where(cells & 1, -1.0, 1.0)
        effects = self.table[cells, 0] * signs[:, :, None]
        logits = np.log(np.maximum(probabilities, _SMALLEST))
        scores = np.zeros((C, ESTIMATES + 1))
        scores[:, :ESTIMATES] = effects.sum(axis=0)
        scores += logits[:, None]
        p = np.exp(scores - scores.max(axis=0))
        p /= p.sum(axis=0)
        p[:, ESTIMATES] = probabilities
        return ClassLook(cells, signs, logits, effects, p)

    def mixed(self, look: ClassLook) -> Array:
        """Return the corrected probabilities, (C,)."""
        p: Array = look.probabilities @ self._weights
        p /= p.sum()
        return p

    def learn(self, names: list[HashedName], look: ClassLook, label: int, w: float = 1.0) -> None:
        """Learn that the class with this index was that of an event of weight w."""
        self._learn_shares(names, look)
        p = look.probabilities
        log_losses = np.log(np.maximum(p[label], _SMALLEST))
        self.log_weights = _DISCOUNT * self.log_weights + w * log_losses
        self._weigh()
        if w == 0.0:
            return
        p = p[:, :ESTIMATES]
        slopes = -p
        slopes[label] += 1.0
        curvatures = p * (1.0 - p)
        for cells, signs in zip(look.cells, look.signs, strict=True):
            effects, information = self.table[cells, 0], self.table[cells, 1]
            information = KEEPS * information + w * curvatures
            steps = slopes / (information + PRECISIONS)
            longest = np.maximum(np.abs(steps), _LARGEST_STEP)
            effects += signs[:, None] * np.clip(w * steps, -longest, longest)
            self.table[cells, 0], self.table[cells, 1] = effects, information

    def _weigh(self) -> None:
        weights = np.exp(self.log_weights - self.log_weights.max())
        self._weights = weights / weights.sum()

    def _learn_shares(self, names: list[HashedName], look: ClassLook) -> None:
        logits = look.logits - look.logits.mean()
        self.predicted += _RATE * (float(np.mean(logits**2)) - self.predicted)
        for field in self.squares:
            self.squares[field] *= 1.0 - _RATE
        mixed = look.effects @ self._weights[:ESTIMATES]
        for name, effects in zip(names, mixed, strict=True):
            square = float(np.var(effects))
            self.squares[name.field] = self.squares.get(name.field, 0.0) + _RATE * square

    def shares(self) -> dict[str, float]:
        """Return the share of each field's effects in how log odds vary."""
        total = self.predicted + sum(self.squares.values())
        return {field: square / total for field, square in self.squares.items()} if total else {}

    @property
    def occupied(self) -> float:
        """Share of cells that have learned."""
        return float(np.count_nonzero(self.table[:, 1, 0])) / N_CELLS

    def is_sound(self) -> bool:
        """Return whether all numbers are finite."""
        numbers = [self.predicted, *self.squares.values(), *self.log_weights]
        return all_finite(self.table) and all_finite(np.array(numbers))

    def state(self) -> dict[str, Any]:
        """Return the occupied cells, the weights and the shares."""
        cells = np.flatnonzero(self.table[:, 1, 0])
        return {
            "cells": cells.astype(np.uint32),
            "table": self.table[cells],
            "log_weights": self.log_weights.copy(),
            "fields": list(self.squares),
            "squares": list(self.squares.values()),
            "predicted": self.predicted,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned; this object must be new."""
        super().restore(state)
        self.table[state["cells"]] = state["table"]
        self.log_weights = state["log_weights"].copy()
        self._weigh()
        self.squares = dict(zip(state["fields"], state["squares"], strict=True))
        self.predicted = state["predicted"]
