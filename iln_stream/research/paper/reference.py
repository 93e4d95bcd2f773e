"""The paper's algorithms as a River regressor."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from river import base

from iln_stream.features import Features, GaussianFourier
from iln_stream.learners.checks import require_counts, require_family, require_positive
from iln_stream.research.paper.algorithms import (
    Iterate,
    Vector,
    est_scalar_prod,
    shrinking_gradient_step,
)


class ReferenceShrinkingGradient(base.Regressor):
    """SHRINKING_GRADIENT to be read, not to be run for long: time and memory grow with the stream.

    Parameters
    ----------
    features
        The family of hidden units, mu and psi; by default Gaussian Fourier features.
    norm_bound
        B, the norm of the comparator functions, positive.
    horizon
        T, the number of events to come, at least 1; the step is eta = B / sqrt(T) (Theorem 1).
    draws
        m, the draws of an estimate, at least 1. With few draws the noise of E_t feeds back into
        alpha and drowns what was learned: `theory.plan(B, T, draws=m).kappa` should be below
        0.75.
    seed
        Of all draws; those of event t depend on the seed and t alone.

    Examples
    --------
    >>> from itertools import islice
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import ScaledTarget, WinsorisedScaler
    >>> from iln_stream.research.paper import ReferenceShrinkingGradient

    >>> model = ScaledTarget(WinsorisedScaler() | ReferenceShrinkingGradient(horizon=200, draws=50))
    >>> events = islice(datasets.TrumpApproval(), 200)
    >>> evaluate.progressive_val_score(events, model, metrics.MAE())
    MAE: 1.3...

    References
    ----------
    [^1]: R. Livni, D. Carmon, A. Globerson. Learning Infinite Layer Networks Without the Kernel
    Trick. ICML 2017.

    """

    def __init__(
        self,
        features: Features[Any] | None = None,
        norm_bound: float = 1.0,
        horizon: int = 1000,
        draws: int = 500,
        seed: int = 0,
    ) -> None:
        require_family(features)
        require_positive(norm_bound=norm_bound)
        require_counts(horizon=horizon, draws=draws)
        self.features = features
        self.norm_bound = norm_bound
        self.horizon = horizon
        self.draws = draws
        self.seed = seed
        self._f = Iterate()
        self._t = 1
        self._names: list[Any] = []

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return E_t, the estimate of f_t(x) by Algorithm 2."""
        return self._estimate(self._row(x))

    def learn_one(self, x: Mapping[Any, float], y: float) -> None:
        """Take one step of Algorithm 1."""
        self._names += sorted(x.keys() - set(self._names), key=str)
        B, T = self.norm_bound, self.horizon
        x_t = self._row(x)
        E_t = self._estimate(x_t)
        self._f = shrinking_gradient_step(self._f, x_t, y, E_t, eta=B / T**0.5, B=B)
        self._t += 1

    def _estimate(self, x: Vector) -> float:
        family = self.features or GaussianFourier()
        rng = np.random.default_rng([self.seed, self._t])

        # Points that came before the last names did are 0 there.
        points = tuple(np.pad(x_i, (0, len(x) - len(x_i))) for x_i in self._f.x)
        return est_scalar_prod(
            Iterate(self._f.alpha, points),
            x,
            self.draws,
            psi=lambda x, w: float(family.psi(x, w)[0]),
            draw=lambda: (rng.random(), family.draw(1, len(x), rng)),
        )

    def _row(self, x: Mapping[Any, float]) -> Vector:
        """Return x as a vector, a column for each name that was learned; missing ones are 0."""
        return np.array([float(x.get(name, 0.0)) for name in self._names])

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"draws": 4}
