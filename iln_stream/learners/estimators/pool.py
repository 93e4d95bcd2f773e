"""f_t as weights over a pool of units that are kept from event to event."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import GaussianRidgeFeatures, Ridges, as_gaussian_ridges
from iln_stream.learners.estimators.base import Estimate, Given
from iln_stream.learners.estimators.hidden_layer import HiddenLayer
from iln_stream.state import Form, Tree

_FORM = Form("PoolIterate", 1)


@dataclass(frozen=True)
class Pool:
    """R cosines drawn once, w_1..w_R ~ mu, with weights theta_r = sum_i alpha_i psi(x_i; w_r).

    E = (1/R) sum_r theta_r psi(x; w_r) takes O(R d) time and memory however long the stream: no
    support is needed. This is the paper's baseline Fixed-Random (Section 6) with Algorithm 1's
    steps. alpha now depends on the pool, so E is not unbiased for <f_t, Phi(x)>, and Theorem 1
    does not hold; what is learned is the best function of these R units, O(1 / sqrt(R)) away
    from the infinite layer's.

    Asks for random cosines with Gaussian frequencies, `GaussianFourier`.

    Parameters
    ----------
    size
        R, the number of units.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import Pool, ScaledTarget, ShrinkingGradient, WinsorisedScaler

    >>> learner = ShrinkingGradient(estimator=Pool(512), step=0.6, seed=1)
    >>> model = ScaledTarget(WinsorisedScaler() | learner)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.377...

    """

    size: int = 512

    def __post_init__(self) -> None:
        if self.size < 2:
            raise ValueError(f"size = {self.size} must be at least 2 units")

    def start(self, given: Given) -> "PoolIterate":
        """Return f_1 = 0."""
        family = as_gaussian_ridges(given.features)
        if family is None or family.activation != "cos":
            raise ValueError(f"Pool asks for random Gaussian cosines, not {given.features!r}")
        return PoolIterate(self.size, family, given.key)

    def restore(self, given: Given, state: Tree) -> "PoolIterate":
        """Return the iterate that has this state; its units are drawn again."""
        theta, alpha_l1, scale = _FORM.read(state, "theta", "alpha_l1", "scale")
        iterate = self.start(given)
        iterate._theta = theta.copy()
        iterate.alpha_l1 = alpha_l1
        if scale is not None:
            iterate._units = CosineUnits(self.size, scale, given.key)
        return iterate


class PoolIterate:
    """theta over a pool of units."""

    draws_wanted = None

    def __init__(self, size: int, family: GaussianRidgeFeatures, key: NDArray[np.uint64]) -> None:
        self._family = family
        self._key = key
        self._theta = np.zeros(size)
        self._units: CosineUnits | None = None  # drawn for the first point's number of columns
        self.alpha_l1 = 0.0
        self.n_support = 0  # the pool stands in for the support

    def noise(self, draws: int) -> float:
        """Return 0: the units are drawn once, so E is no mean of fresh draws."""
        return 0.0

    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        """Return the pool's value at x, the same at every t."""
        if self._units is None:
            return Estimate(0.0, 0.0, 0)
        size = len(self._theta)
        mean, square = self._units.mean_and_square(self._theta, x)
        return Estimate(mean, math.sqrt(max(square - mean * mean, 0.0) / (size - 1)), size)

    def hidden_layer(self, size: int | None, d: int, rng: np.random.Generator) -> HiddenLayer:
        """Return the pool itself."""
        own = len(self._theta)
        if size not in (None, own):
            raise ValueError(f"size = {size} is not the pool's, {own}, which is frozen as it is")
        units = self._units or CosineUnits(own, self._family.scale(d), self._key)
        return HiddenLayer(
            self._family, units.ridges(d), self._theta.copy(), False, np.empty((0, d))
        )

    def append(self, x: NDArray[np.float64], alpha: float) -> None:
        """theta_r += alpha psi(x; w_r)."""
        if self._units is None:
            self._units = CosineUnits(len(self._theta), self._family.scale(len(x)), self._key)
        self._units.add(self._theta, x, alpha)
        self.alpha_l1 += abs(alpha)

    def shrink(self, factor: float) -> None:
        """Multiply theta, and so every alpha_i, by `factor`."""
        self._theta *= factor
        self.alpha_l1 *= factor

    def state(self) -> Tree:
        """Return theta, and the scale that the first point's number of columns gave the units."""
        scale = None if self._units is None else self._units.scale
        return _FORM.write(theta=self._theta.copy(), alpha_l1=self.alpha_l1, scale=scale)


class CosineUnits:
    """R units cos(omega.x + b), a function of their arguments alone.

    A column's frequencies are drawn from a segment of their own, when the column is first seen, so
    the order in which columns come and the number of points looked at never matter.

    Parameters
    ----------
    size
        R.
    scale
        omega ~ N(0, scale^2 I).
    key
        Two words that seed the draws.

    """

    def __init__(self, size: int, scale: float, key: NDArray[np.uint64]) -> None:
        # Not before a pool is used: numba takes a moment to import.
        from iln_stream.kernels import cosine_pool

        self._kernels = cosine_pool
        self._arguments = size, scale, key
        self.scale = scale
        self._turns = scale / (2.0 * math.pi)
        self._omega = np.empty((0, size), np.float32)  # (d, R), in turns
        self._b = self._rng(0).random(size).astype(np.float32)  # (R,), in turns
        self._psi = np.empty(size, np.float32)
        self._psi_of = b""  # the row that _psi belongs to, as it is asked for twice an event

    def __reduce__(self) -> tuple[Any, ...]:
        return CosineUnits, self._arguments

    def mean_and_square(
        self, theta: NDArray[np.float64], x: NDArray[np.float64]
    ) -> tuple[float, float]:
        """Return the means of theta_r psi(x; w_r) and of its square."""
        mean, square = self._kernels.mean_and_square(theta, self._psi_at(x))
        return mean, square

    def add(self, theta: NDArray[np.float64], x: NDArray[np.float64], alpha: float) -> None:
        """theta_r += alpha psi(x; w_r)."""
        self._kernels.add(theta, self._psi_at(x), alpha)

    def ridges(self, d: int) -> Ridges:
        """Return the units for d columns, in radians."""
        if d > len(self._omega):
            self._widen(d)
        omega = 2.0 * math.pi * self._omega[:d].T.astype(np.float64)
        return Ridges(omega, 2.0 * math.pi * self._b.astype(np.float64))

    def _psi_at(self, x: NDArray[np.float64]) -> NDArray[np.float32]:
        content = x.tobytes()
        if content != self._psi_of or not content:
            if len(x) > len(self._omega):
                self._widen(len(x))
            self._kernels.cosines(self._omega[: len(x)], self._b, x, self._psi)
            self._psi_of = content
        return self._psi

    def _widen(self, d: int) -> None:
        size = len(self._b)
        columns = [self._rng(1 + j).standard_normal(size) for j in range(len(self._omega), d)]
        fresh = (np.stack(columns) * self._turns).astype(np.float32)
        self._omega = np.concatenate([self._omega, fresh])

    def _rng(self, segment: int) -> np.random.Generator:
        counter = np.array([0, 0, 1, segment], dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=self._arguments[2], counter=counter))
