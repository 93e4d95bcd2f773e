"""The effects of one field's categories on a target: how they are shrunk and mixed."""

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

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
