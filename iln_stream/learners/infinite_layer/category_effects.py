"""Effects of hashed categories on a target, and on the log odds of classes."""

import math
from collections.abc import Mapping
from operator import mul
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
        # For each estimate: squares within categories, products among them, each with its weight.
        self.sums = [[0.0] * 4 for _ in KEEPS]
        self.regrets = [0.0] * (ESTIMATES + 1)
        self.squares = [0.0] * (ESTIMATES + 1)
        self._weigh()

    def _weigh(self) -> None:
        """Compute shrinkages and weights from the sums."""
        self._ratios = []
        for within, n_within, among, n_among in self.sums:
            tau_squared = among / n_among if n_among else 0.0
            sigma_squared = within / n_within if n_within else 0.0
            ratio = sigma_squared / tau_squared if tau_squared > 0.0 else 1e9
            self._ratios.append(0.01 if ratio < 0.01 else ratio)  # `max` takes longer
        weights = []
        for k, regret in enumerate(self.regrets):
            weights.append((0.0 if regret < 0.0 else regret) / (1e-300 + self.squares[k]))
        total = sum(weights)
        n = len(weights)
        self._weights = [w / total for w in weights] if total > 0.0 else [1.0 / n] * n

    def estimates(self, cell: list[float]) -> tuple[float, ...]:
        """Return the effects that are mixed, from a cell's count, above 0, and means."""
        n, m0, m1, m2 = cell  # a loop would take four times as long
        n0, n1, n2 = _weights(n)
        r0, r1, r2 = self._ratios
        return m0 * n0 / (n0 + r0), m1 * n1 / (n1 + r1), m2 * n2 / (n2 + r2), 0.0

    def effect(self, cell: list[float]) -> float:
        """Return the mixed effect; 0 for a cell without residuals."""
        return sum(map(mul, self._weights, self.estimates(cell))) if cell[0] != 0.0 else 0.0

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
            for k, mean in enumerate(means):
                share = w * (weights[k] / (weights[k] + 1.0))
                within, n_within, among, n_among = self.sums[k]
                within += share * (r - mean) ** 2
                among += share * r * mean
                sums = [within, n_within + w, among, n_among + share]
                self.sums[k] = [0.5 * each for each in sums] if sums[-1] > _WINDOW else sums
            self._weigh()
        added = _weights(w)
        for k, mean in enumerate(means):
            kept = weights[k] * KEEPS[k] ** w
            means[k] += (r - mean) * added[k] / (kept + added[k])
        return [n + w, *means]

    def _learn_rule(self, cell: list[float], r: float, w: float) -> None:
        estimates, regrets, squares = self.estimates(cell), self.regrets, self.squares
        mixed = sum(map(mul, self._weights, estimates))
        slope = w * (2.0 * (mixed - r))
        for k, estimate in enumerate(estimates):
            regret = slope * (mixed - estimate)
            regrets[k] = _DISCOUNT * regrets[k] + regret
            squares[k] = _DISCOUNT * squares[k] + regret * regret

    def table(self) -> list[list[float]]:
        """Return the sums, (6, 4)."""
        short = zip(*self.sums, strict=True)
        return [[*sums, 0.0] for sums in short] + [self.regrets, self.squares]

    @classmethod
    def of(cls, table: NDArray[Any]) -> "FieldEffects":
        """Return the effects with these sums."""
        found = cls()
        found.sums = table[:4, :ESTIMATES].T.tolist()
        found.regrets, found.squares = table[4:].tolist()
        found._weigh()
        return found


def _exact_weights(n: float) -> list[float]:
    return [n if keep == 1.0 else (1.0 - keep**n) / (1.0 - keep) for keep in KEEPS]


_FEW = {float(n): _exact_weights(float(n)) for n in range(1_000)}
"""The weights of the means of few residuals, because powers take time."""

_MANY = _exact_weights(1_000.0)[1:]
"""Of more residuals, the means that forget have no other weight."""


def _weights(n: float) -> list[float]:
    """Return the weights of the means of n residuals."""
    return _FEW.get(n) or ([n, *_MANY] if n >= len(_FEW) else _exact_weights(n))


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
        limit = min(_CLIP * size / weight, _LARGEST) if weight > _SOME else _LARGEST
        error = max(-limit, min(error, limit))
        for i, name in enumerate(names):
            field = self.fields.get(name.field)
            if field is None:
                field = self.fields[name.field] = FieldEffects()
            cell = self.table[name.cell].tolist()
            self.table[name.cell] = field.learn(cell, name.sign * (error + effects[i]), w)

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
        for i, name in enumerate(names):
            square = min(effects[i] * effects[i], _LARGEST)
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
        self.predicted += _RATE * (_variance(look.logits) - self.predicted)
        for field in self.squares:
            self.squares[field] *= 1.0 - _RATE
        mixed = look.effects @ self._weights[:CLASS_ESTIMATES]
        for name, effects in zip(names, mixed, strict=True):
            square = _variance(effects)
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


def _variance(values: Array) -> float:
    """Return what `np.var` does, in less than half of its time."""
    deviations = values - values.sum() / len(values)
    return float((deviations * deviations).sum() / len(values))
