"""Effects of hashed categories on a target, and on the log odds of classes."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.infinite_layer.hashed_categories import N_CELLS, HashedName
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.state import all_finite

KEEPS = (1.0, 0.95, 0.8)
"""What is kept of a mean's weight at each further value: the last follow a drifting effect."""

ESTIMATES = len(KEEPS)

_DISCOUNT = 0.999
_WINDOW = 5_000.0
"""Weight at which sums for variances are halved, so that they follow the stream."""


class FieldEffects:
    r"""Best linear predictions of a category's effect from its residuals, mixed.

    The effect of a category with mean residual m of weight n is estimated by
    $m n / (n + \sigma^2 / \tau^2)$, the best linear prediction where effects vary by $\tau^2$ among
    categories and residuals by $\sigma^2$ within one [^1]. Both are estimated by moments: for a new
    residual r, $E[r m] = \tau^2$ and $E[(r - m)^2] = \sigma^2 (1 + 1/n)$. There is such an estimate
    for each of `KEEPS`, and ML-Poly, by squared errors with a discount of .999, mixes them and 0.

    References
    ----------
    [^1]: G. Robinson. That BLUP is a good thing: the estimation of random effects. Statistical
    Science 6, 1991.

    """

    def __init__(self) -> None:
        self.within = [0.0] * ESTIMATES
        self.n_within = [0.0] * ESTIMATES
        self.among = [0.0] * ESTIMATES
        self.n_among = [0.0] * ESTIMATES
        self.regrets = [0.0] * (ESTIMATES + 1)
        self.squares = [0.0] * (ESTIMATES + 1)
        self._weigh()

    def _weigh(self) -> None:
        """Compute shrinkages and weights from the sums."""
        self._ratios = list(self._variance_ratios())
        weights = [
            max(regret, 0.0) / (1e-300 + square)
            for regret, square in zip(self.regrets, self.squares, strict=True)
        ]
        total = sum(weights)
        n = len(weights)
        self._weights = [w / total for w in weights] if total > 0.0 else [1.0 / n] * n

    def _variance_ratios(self) -> Iterator[float]:
        for k in range(ESTIMATES):
            among = self.among[k] / self.n_among[k] if self.n_among[k] else 0.0
            within = self.within[k] / self.n_within[k] if self.n_within[k] else 0.0
            yield max(within / among, 0.01) if among > 0.0 else 1e9

    def estimates(self, cell: list[float]) -> list[float]:
        """Return the effects that are mixed, from a cell's count, above 0, and means."""
        found = [
            mean * weight / (weight + ratio)
            for mean, weight, ratio in zip(cell[1:], _weights(cell[0]), self._ratios, strict=True)
        ]
        found.append(0.0)
        return found

    def effect(self, cell: list[float]) -> float:
        """Return the mixed effect; 0 for a cell without residuals."""
        if cell[0] == 0.0:
            return 0.0
        estimates = self.estimates(cell)
        return sum([w * e for w, e in zip(self._weights, estimates, strict=True)])

    def learn(self, cell: list[float], r: float, w: float = 1.0) -> list[float]:
        """Learn a residual of weight w, and return the cell with it.

        The cell is then as after w such residuals; the statistics of the field weigh it by w.
        """
        if w == 0.0:
            return cell
        n, *means = cell
        weights = _weights(n)
        if n:
            self._learn_rule(cell, r, w)
            for k in range(ESTIMATES):
                mean, share = means[k], weights[k] / (weights[k] + 1.0)
                self.within[k] += w * share * (r - mean) ** 2
                self.n_within[k] += w
                self.among[k] += w * share * r * mean
                self.n_among[k] += w * share
                if self.n_among[k] > _WINDOW:
                    for sums in (self.within, self.n_within, self.among, self.n_among):
                        sums[k] *= 0.5
            self._weigh()
        for k, keep in enumerate(KEEPS):
            kept = weights[k] * keep**w
            added = w if keep == 1.0 else (1.0 - keep**w) / (1.0 - keep)
            means[k] += (r - means[k]) * added / (kept + added)
        return [n + w, *means]

    def _learn_rule(self, cell: list[float], r: float, w: float) -> None:
        estimates = self.estimates(cell)
        mixed = sum([w * e for w, e in zip(self._weights, estimates, strict=True)])
        slope = 2.0 * (mixed - r)
        for k, estimate in enumerate(estimates):
            regret = w * slope * (mixed - estimate)
            self.regrets[k] = _DISCOUNT * self.regrets[k] + regret
            self.squares[k] = _DISCOUNT * self.squares[k] + regret * regret

    def table(self) -> list[list[float]]:
        """Return the sums, (6, 4)."""
        short = (self.within, self.n_within, self.among, self.n_among)
        return [[*sums, 0.0] for sums in short] + [self.regrets, self.squares]

    @classmethod
    def of(cls, table: NDArray[Any]) -> "FieldEffects":
        """Return the effects with these sums."""
        found = cls()
        rows = table.tolist()
        found.within, found.n_within, found.among, found.n_among = (row[:-1] for row in rows[:4])
        found.regrets, found.squares = rows[4:]
        found._weigh()
        return found


def _exact_weights(n: float) -> list[float]:
    return [n if keep == 1.0 else (1.0 - keep**n) / (1.0 - keep) for keep in KEEPS]


_FEW = [_exact_weights(float(n)) for n in range(1_000)]
"""The weights of the means of few residuals, because powers take time."""


def _weights(n: float) -> list[float]:
    """Return the weights of the means of n residuals."""
    return _FEW[int(n)] if n < len(_FEW) and n == int(n) else _exact_weights(n)


_CLIP = 6.0
"""Residuals further from their prediction, in running mean absolute errors, count as if there."""

_LARGEST = 1e70
"""Residuals are clipped here, so that their fourth powers are finite."""

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
        return float(np.count_nonzero(self.table[:, 0])) / N_CELLS

    def is_sound(self) -> bool:
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
        super().restore(state)
        self.table[state["cells"]] = state["table"]
        fields = zip(state["fields"], state["sums"], strict=True)
        self.fields = {name: FieldEffects.of(sums) for name, sums in fields}
        self.squares = dict(zip(state["fields"], state["squares"], strict=True))
        self.errors = list(state["errors"])
        self.predicted = list(state["predicted"])


Array = NDArray[np.float64]

PRECISIONS = np.array([0.5, 2.0, 1.0])
"""Inverse variances that the effects have a priori, one for each estimate of an effect."""

CLASS_KEEPS = np.array([1.0, 1.0, 0.95])
"""What is kept of an estimate's information at each further event: the last follows drift."""

CLASS_ESTIMATES = len(CLASS_KEEPS)

N_CLASS_CELLS = 4 * N_CELLS
"""Each name has a cell for each class: with 200 classes, the words of short texts, and pairs of
them, would share most of 65,536 cells (`benchmarks.own_records`)."""

_STEP = 40_503
"""Between the cells of a category's classes: odd, so that each class has a cell of its own."""

_LARGEST_STEP = 1.0
"""A weight above 1 enlarges the step of an effect, a change of log odds, up to this at most."""

_SMALLEST = 1e-12
"""Smaller probabilities of the engine count as this."""

"""Of the running means behind shares: they see about the last 500 events."""


class ClassLook(NamedTuple):
    """What was predicted for an event with hashed categories."""

    # cells, signs: the cell and the sign of each name's effect on each class, (n_names, C)
    cells: NDArray[np.int64]
    signs: Array
    logits: Array  # the logarithms of the engine's probabilities, (C,)
    effects: Array  # by name, class and estimate, (n_names, C, ESTIMATES)
    # those of each estimate, and in the last column the engine's, (C, ESTIMATES + 1)
    probabilities: Array


class ClassEffects(Part):
    r"""Corrects an engine's probabilities: $p_c \propto p_c^{engine} \exp(\sum_{names} e_c)$.

    Each name and class has a cell, out of 262,144 that all share (65,536 if the effects began in
    release 0.2). An effect e is moved by Newton steps with a diagonal Hessian on the log loss of
    the corrected probabilities, from 0 and with the information that a normal prior would have. A
    Bayesian mixture with a discount of 0.999 weighs corrections by three such estimates, and none.
    """

    own = ("cells", "table", "log_weights", "fields", "squares", "predicted")

    def __init__(self) -> None:
        self.table = np.zeros((N_CLASS_CELLS, 2, CLASS_ESTIMATES))  # effects, their information
        self.log_weights = np.zeros(CLASS_ESTIMATES + 1)
        self._weights = np.full(CLASS_ESTIMATES + 1, 1.0 / (CLASS_ESTIMATES + 1))
        self.squares: dict[str, float] = {}  # running mean squares of the effects by field
        self.predicted = 0.0  # running mean square of the engine's centred logits

    def look(self, names: list[HashedName], probabilities: Array) -> ClassLook:
        """Return what the engine's probabilities (C,) become with these names."""
        C = len(probabilities)
        cells = np.array([[name.cell + N_CELLS * name.high] for name in names])
        cells = (cells + _STEP * np.arange(C)) % len(self.table)
        # The sign depends on the class, too: effects on all classes would cancel in softmax.
        signs = np.array([[name.sign] for name in names]) * np.where(cells & 1, -1.0, 1.0)
        effects = self.table[cells, 0] * signs[:, :, None]
        logits = np.log(np.maximum(probabilities, _SMALLEST))
        scores = np.zeros((C, CLASS_ESTIMATES + 1))
        scores[:, :CLASS_ESTIMATES] = effects.sum(axis=0)
        scores += logits[:, None]
        p = np.exp(scores - scores.max(axis=0))
        p /= p.sum(axis=0)
        p[:, CLASS_ESTIMATES] = probabilities
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
        p = p[:, :CLASS_ESTIMATES]
        slopes = -p
        slopes[label] += 1.0
        curvatures = p * (1.0 - p)
        for cells, signs in zip(look.cells, look.signs, strict=True):
            effects, information = self.table[cells, 0], self.table[cells, 1]
            information = CLASS_KEEPS * information + w * curvatures
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
        mixed = look.effects @ self._weights[:CLASS_ESTIMATES]
        for name, effects in zip(names, mixed, strict=True):
            square = float(np.var(effects))
            self.squares[name.field] = self.squares.get(name.field, 0.0) + _RATE * square

    def shares(self) -> dict[str, float]:
        """Return the share of each field's effects in how log odds vary."""
        total = self.predicted + sum(self.squares.values())
        return {field: square / total for field, square in self.squares.items()} if total else {}

    @property
    def occupied(self) -> float:
        return float(np.count_nonzero(self.table[:, 1, 0])) / len(self.table)

    def is_sound(self) -> bool:
        numbers = [self.predicted, *self.squares.values(), *self.log_weights]
        return all_finite(self.table) and all_finite(np.array(numbers))

    def state(self) -> dict[str, Any]:
        """Return the occupied cells, the weights and the shares."""
        cells = np.flatnonzero(self.table[:, 1, 0])
        return {
            "n_cells": len(self.table),
            "cells": cells.astype(np.uint32),
            "table": self.table[cells],
            "log_weights": self.log_weights.copy(),
            "fields": list(self.squares),
            "squares": list(self.squares.values()),
            "predicted": self.predicted,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        n_cells = state.get("n_cells", N_CELLS)  # release 0.2 did not say
        super().restore({name: value for name, value in state.items() if name != "n_cells"})
        self.table = np.zeros((n_cells, 2, CLASS_ESTIMATES))
        self.table[state["cells"]] = state["table"]
        self.log_weights = state["log_weights"].copy()
        self._weigh()
        self.squares = dict(zip(state["fields"], state["squares"], strict=True))
        self.predicted = state["predicted"]
