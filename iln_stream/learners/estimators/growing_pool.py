"""f_t as weights over a pool of units that grows with the stream."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import AffineFeatures
from iln_stream.learners.estimators.base import EstimatorContext
from iln_stream.learners.estimators.pool import PoolIterate, ridges_for
from iln_stream.learners.estimators.support import Support
from iln_stream.state import StateDict, StateSchema

_SCHEMA = StateSchema("iln_stream.GrowingPoolIterate", 1)

_TOGETHER = 8
"""Number of units added at once: one pass over the support serves them all."""


@dataclass(frozen=True)
class GrowingPool:
    """A `Pool` of R_t = growth sqrt(t) log t units after t events: it tends to the infinite layer.

    A new unit starts with the weight it would have if it had been there from the beginning,
    theta_r = sum_i alpha_i psi(x_i; w_r), computed from the stored support; so
    E = (1/R_t) sum_r theta_r psi(x; w_r) is the same mean over more units. This number of units
    preserves the rate of kernel ridge regression, 1 / sqrt(t) [1]_. If alpha is independent of the
    units, E is unbiased with variance at most ||f||^2 / R_t. Here alpha depends on the existing
    units, so Theorem 1 does not hold; but a new unit's part of E is unbiased when it is added.

    An event costs O(R_t d), and O(n d) more, n being the size of the support, if units are added;
    this happens in groups of eight, at most one group per event. The support is dropped once there
    are `max_features` units: from then on this is a `Pool`. Memory is thus bounded even without a
    `budget`; with the defaults, the pool is full after 12,000 events. With a budget, new units see
    only the points kept (with "oldest", the latest), while older units remember all points: their
    parts of E then differ by the forgotten points.

    A `Pool` of `max_features` units is at least as accurate, and costs the same in the end; this
    one is for streams of unknown length, where few units may suffice. It takes the same families
    as `Pool`.

    Parameters
    ----------
    size
        Units at the start, at least 2.
    growth
        The factor in R_t, positive.
    max_features
        The most units, at least `size`.

    References
    ----------
    .. [1] A. Rudi, L. Rosasco. Generalization Properties of Learning with Random Features. NIPS
       2017.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import GrowingPool, ScaledTarget, ShrinkingGradient, WinsorisedScaler

    >>> learner = ShrinkingGradient(estimator=GrowingPool(), step=0.6, seed=1)
    >>> model = ScaledTarget(WinsorisedScaler() | learner)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.3...

    """

    size: int = 64
    growth: float = 4.0
    max_features: int = 4096

    def __post_init__(self) -> None:
        if self.size < 2:
            raise ValueError(f"size = {self.size} must be at least 2 units")
        if not 0 < self.growth < math.inf:
            raise ValueError(f"growth = {self.growth} must be a positive, finite number")
        if self.max_features < self.size:
            raise ValueError(
                f"max_features = {self.max_features} must be at least size = {self.size}"
            )

    def units_at(self, t: int) -> int:
        """Return R_t, the number of units for t events.

        Examples
        --------
        >>> [GrowingPool().units_at(t) for t in (1, 100, 10_000, 1_000_000)]
        [64, 185, 3685, 4096]

        """
        wanted = math.ceil(self.growth * math.sqrt(t) * math.log(t)) if t > 1 else 0
        return min(max(self.size, wanted), self.max_features)

    def start(self, given: EstimatorContext) -> "GrowingPoolIterate":
        family = ridges_for("GrowingPool", given)
        return GrowingPoolIterate(
            self, family, given.key, Support(given.budget, given.policy, int(given.key[1]))
        )


class GrowingPoolIterate(PoolIterate):
    """theta over the units so far, and the support while units may still be added."""

    def __init__(
        self,
        schedule: GrowingPool,
        family: AffineFeatures,
        key: NDArray[np.uint64],
        support: Support,
    ) -> None:
        super().__init__(schedule.size, family, key)
        self._schedule = schedule
        self._t = 0
        self._support: Support | None = support

    @property
    def n_support(self) -> int:
        """Number of points kept for new units."""
        return 0 if self._support is None else len(self._support)

    def append(self, x: NDArray[np.float64], alpha: float) -> None:
        """Add alpha Phi(x), for existing and future units."""
        super().append(x, alpha)
        self._t += 1
        if self._support is not None:
            self._support.append(x, alpha)
            self._grow(self._support, len(x))

    def shrink(self, factor: float) -> None:
        super().shrink(factor)
        self._t += 1
        if self._support is not None:
            self._support.shrink(factor)

    def state(self) -> StateDict:
        """Return the pool's state, the number of events, and the support while it is needed."""
        support = None if self._support is None else self._support.state()
        return _SCHEMA.write(pool=super().state(), t=self._t, support=support)

    def restore(self, state: StateDict) -> None:
        """Take a state's theta and support; the units are drawn again."""
        pool, self._t, support = _SCHEMA.read(state, "pool", "t", "support")
        super().restore(pool)
        self._support = None if support is None else Support()
        if self._support is not None:
            self._support.restore(support)

    def _grow(self, support: Support, d: int) -> None:
        """Add units if the schedule requires more; drop the support after the last."""
        R, wanted = self.n_units, self._schedule.units_at(self._t)
        together = wanted == self._schedule.max_features or wanted - R >= _TOGETHER
        if self._units is not None and together and wanted > R:
            newcomers = slice(R, min(wanted, R + _TOGETHER))
            theta = self._units.expansion(newcomers, support.rows(d), support.alpha)
            self._theta = np.concatenate([self._theta, theta])
        if self.n_units == self._schedule.max_features:
            self._support = None
