"""Effects of hashed categories on a target."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from iln_stream.learners.infinite_layer.categories.field_effects import ESTIMATES, FieldEffects
from iln_stream.learners.infinite_layer.categories.hashed_name import N_CELLS, HashedName
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.state import all_finite

_CLIP = 6.0
"""Residuals further from their prediction, in running mean absolute errors, count as if there."""

_LARGEST = 1e70
"""Residuals are clipped here, so that their fourth powers are finite."""

_DISCOUNT = 0.999
_RATE = 0.002
"""Of the running means behind shares: they see about the last 500 events."""

_SOME = 20.0
"""Errors from which on their mean is known well enough."""


class Effects(Part):
    """An additive effect of each hashed category, in 65,536 cells that names share.

    A cell has the number of its residuals and their means, and all names of a field have common
    statistics, which shrink their effects. A residual is what the engine's prediction and the
    effects of the event's other categories leave of the target.
    """

    own = ("cells", "table", "fields", "sums", "squares", "errors", "predicted")

    def __init__(self) -> None:
        self.table = np.zeros((N_CELLS, 1 + ESTIMATES))
        self.fields: dict[str, FieldEffects] = {}
        self.errors = [0.0, 0.0]  # the sums of absolute errors and of their weights
        self.predicted = [0.0, 0.0]  # running mean and variance of the engine's predictions
        self.squares: dict[str, float] = {}  # running mean squares of the effects by field

    def of(self, names: list[HashedName]) -> list[float]:
        """Return the effect of each name of an event."""
        found = []
        for name in names:
            field = self.fields.get(name.field)
            effect = 0.0 if field is None else field.effect(self.table[name.cell].tolist())
            found.append(name.sign * effect)
        return found

    def learn(
        self,
        names: list[HashedName],
        effects: list[float],
        prediction: float,
        y: float,
        w: float = 1.0,
    ) -> None:
        """Learn what the engine's prediction leaves of the target y.

        Parameters
        ----------
        names, effects
            The names of an event, and their effects as `of` returned them.
        prediction, y
            The engine's prediction, and the target.
        w
            The event's weight. The mean error, by which residuals are clipped, is of all alike.

        """
        self._learn_shares(names, effects, prediction)
        error = y - prediction - sum(effects)
        size, weight = self.errors
        if not math.isfinite(size + weight):
            return  # no residual could be clipped; the next inspection finds it
        self.errors = [_DISCOUNT * size + min(abs(error), _LARGEST), _DISCOUNT * weight + 1.0]
        if weight > _SOME:
            limit = _CLIP * size / weight
            error = max(-limit, min(error, limit))
        error = max(-_LARGEST, min(error, _LARGEST))
        for name, effect in zip(names, effects, strict=True):
            field = self.fields.setdefault(name.field, FieldEffects())
            cell = self.table[name.cell]
            cell[:] = field.learn(cell.tolist(), name.sign * (error + effect), w)

    def _learn_shares(
        self, names: list[HashedName], effects: list[float], prediction: float
    ) -> None:
        mean, variance = self.predicted
        deviation = max(-_LARGEST, min(prediction - mean, _LARGEST))
        self.predicted = [
            mean + _RATE * deviation,
            (1.0 - _RATE) * (variance + _RATE * deviation * deviation),
        ]
        for field in self.squares:
            self.squares[field] *= 1.0 - _RATE
        for name, effect in zip(names, effects, strict=True):
            square = min(effect * effect, _LARGEST)
            self.squares[name.field] = self.squares.get(name.field, 0.0) + _RATE * square

    def shares(self) -> dict[str, float]:
        """Return the share of each field's effects in how predictions vary."""
        total = self.predicted[1] + sum(self.squares.values())
        return {field: square / total for field, square in self.squares.items()} if total else {}

    @property
    def occupied(self) -> float:
        """Share of cells that have learned."""
        return float(np.count_nonzero(self.table[:, 0])) / N_CELLS

    def is_sound(self) -> bool:
        """Return whether all numbers are finite."""
        numbers = [*self.errors, *self.predicted, *self.squares.values()]
        sums = [field.table() for field in self.fields.values()]
        return all(map(all_finite, (self.table, np.array(numbers), np.array(sums))))

    def state(self) -> dict[str, Any]:
        """Return the occupied cells, and each field's statistics."""
        cells = np.flatnonzero(self.table[:, 0])
        return {
            "cells": cells.astype(np.uint32),
            "table": self.table[cells],
            "fields": list(self.fields),
            "sums": np.array([field.table() for field in self.fields.values()]),
            "squares": list(self.squares.values()),
            "errors": list(self.errors),
            "predicted": list(self.predicted),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned; this object must be new."""
        super().restore(state)
        self.table[state["cells"]] = state["table"]
        fields = zip(state["fields"], state["sums"], strict=True)
        self.fields = {name: FieldEffects.of(sums) for name, sums in fields}
        self.squares = dict(zip(state["fields"], state["squares"], strict=True))
        self.errors = list(state["errors"])
        self.predicted = list(state["predicted"])
