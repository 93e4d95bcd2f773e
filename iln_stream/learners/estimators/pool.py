"""f_t as weights over a pool of units that persist from event to event."""

import math
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import Activation, AffineFeatures, AffineWeights, ArcCosine, as_ridges
from iln_stream.learners.estimators.base import Estimate, EstimatorContext
from iln_stream.learners.estimators.finite_layer import FiniteLayer, layer_of
from iln_stream.state import StateDict, StateSchema

_LOT = 256
"""Number of units drawn together."""

_LARGEST = 1e37
"""About the largest single; the phase of such a fast cosine is random in any case."""


class AffineUnits:
    """Units psi(x; w_r) = sigma(omega_r . inputs(x) + b_r), r = 1, 2, .., R for any R.

    Parameters that depend on the number of columns, such as gamma = 1/d, are set by the first
    learned point and then kept. Units are drawn in lots of 256, and columns in lots as wide as the
    first point, each from its own segment of the random stream. An entry of omega thus depends only
    on the family, d_first, key and its indices; trailing zeros of a point make no difference; and
    evaluating points changes nothing.

    A later lot of columns is drawn from the family's own law, independently of earlier lots. This
    is the right law if the entries of omega are independent. Of our families only `ArcCosine` is an
    exception, see `SphereUnits`; in a family of your own, dependence between columns of different
    lots is lost. The first learned point has `d_first` columns; `key`, two words, seeds the draws.
    """

    def __init__(self, family: AffineFeatures, d_first: int, key: NDArray[np.uint64]) -> None:
        # Imported with the first pool: numba takes a moment to import.
        from iln_stream.kernels import activations, supports

        self.kernels = supports
        self._code = activations.CODES[family.activation]
        self._per_radian = activations.TURNS if family.activation == "cos" else 1.0
        self._arguments = family, d_first, key
        self.d_first = d_first
        self._family = family.for_columns(d_first)
        self._sees_x_itself = type(family).inputs is AffineFeatures.inputs
        self._width = max(d_first, 1)
        self._lots = 0, 0  # of units and of columns, drawn so far
        self._omega = np.zeros((0, 0), np.float32)  # (d, R) at least, times _per_radian
        self._b = np.zeros(0, np.float32)  # (R,) at least, times _per_radian
        self._shape = 0, -1  # (R, d) of the arrays below
        self._share = self._z = np.empty(0)
        self.psi = np.empty(0, np.float32)
        self.psi_of: bytes | None = None  # the point of psi, which is evaluated twice per event

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments

    def mean_and_square(
        self, theta: NDArray[np.float64], x: NDArray[np.float64]
    ) -> tuple[float, float]:
        """Return the means of R = len(theta) terms theta_r psi(x; w_r), and of their squares."""
        if self._shape != (len(theta), len(x)):
            self._take(len(theta), len(x))
        seen = x if self._sees_x_itself else self._family.inputs(x)
        mean, square = self.kernels.mean_and_square(
            self._code, self._omega, self._b, seen, theta, self._share, self._z, self.psi
        )
        self.psi_of = x.tobytes()
        return mean, square

    def expansion(
        self, units: slice, X: NDArray[Any], alpha: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return theta_r = sum_i alpha_i psi(x_i; w_r) over the rows of X (n, d), for some r."""
        d = X.shape[1]
        self._draw_up_to(units.stop, d)
        omega = np.ascontiguousarray(self._omega[:d, units].T, np.float64)
        b = self._b[units].astype(np.float64)
        theta = np.empty(len(b))
        seen = X if self._sees_x_itself else self._family.inputs(X)
        self.kernels.expansion(self._code, omega, b, seen, alpha, theta)
        return theta

    def layer(self, theta: NDArray[np.float64], d: int) -> FiniteLayer:
        """Return f(x) = (1/R) sum_r theta_r psi(x; w_r) for points of d columns.

        Raises
        ------
        ValueError
            When the family has `inputs` of its own, so that its units are not ridges of x.

        """
        R = len(theta)
        self._draw_up_to(R, d)
        omega = self._omega[:d, :R].T.astype(np.float64) / self._per_radian
        b = self._b[:R].astype(np.float64) / self._per_radian
        weights = theta * self._shares(R, d) / R
        return layer_of(self._family, AffineWeights(omega, b), weights, d)

    def _shares(self, R: int, d: int) -> NDArray[np.float64]:
        """Factors of the terms of R units, for points of d columns."""
        return np.ones(R)

    def _take(self, R: int, d: int) -> None:
        self._draw_up_to(R, d)
        self._shape = R, d
        self._share = self._shares(R, d)
        self._z, self.psi, self.psi_of = np.empty(R), np.empty(R, np.float32), None

    def _draw_up_to(self, R: int, d: int) -> None:
        drawn = self._lots
        lots = max(drawn[0], math.ceil(R / _LOT)), max(drawn[1], math.ceil(d / self._width), 1)
        if lots == drawn:
            return
        self._make_room(lots[1] * self._width, lots[0] * _LOT)
        for i in range(lots[0]):
            units = slice(i * _LOT, (i + 1) * _LOT)
            for j in range(drawn[1] if i < drawn[0] else 0, lots[1]):
                columns = slice(j * self._width, (j + 1) * self._width)
                counter = np.array([0, i, 1, j], dtype=np.uint64)
                rng = np.random.Generator(np.random.Philox(key=self._arguments[2], counter=counter))
                omega, b = self._draw(rng)
                omega *= self._per_radian
                self._omega[columns, units] = omega.clip(-_LARGEST, _LARGEST).T
                if j == 0:
                    self._b[units] = b * self._per_radian
        self._lots = lots

    def _draw(self, rng: np.random.Generator) -> AffineWeights:
        return self._family.draw(_LOT, self._width, rng)

    def _make_room(self, d: int, R: int) -> None:
        """Make room in omega for d columns of R units; if it must grow, at least double it."""
        d_old, R_old = self._omega.shape
        d_new = d_old if d <= d_old else max(d, 2 * d_old)
        R_new = R_old if R_old >= R else max(R, 2 * R_old)
        if (d_new, R_new) != (d_old, R_old):
            old = self._omega, self._b
            self._omega, self._b = np.zeros((d_new, R_new), np.float32), np.zeros(R_new, np.float32)
            self._omega[:d_old, :R_old], self._b[:R_old] = old


class SphereUnits(AffineUnits):
    """Units of `ArcCosine`, whose directions stay uniform on the sphere when columns are added.

    Directions on spheres of d + 1 and of d + 2 dimensions can't agree in all of the first d + 1
    entries. Gaussian ones can: u = g / ||g|| is uniform for g ~ N(0, I) of any dimension. As
    max(0, u.z) = max(0, g.z) / ||g||, and as old points have zeros in new columns, theta is kept
    for g, and a term is theta_r max(0, g_r.z) / ||g_r||^2: exactly its value if all columns had
    been there from the start (except for the radius, which stays). As the family's kernel falls
    like 1 / (d + 1), so does f when a column is added, here as with every other estimator.
    """

    def _draw(self, rng: np.random.Generator) -> AffineWeights:
        g = rng.standard_normal((_LOT, self._width + 1))
        return AffineWeights(g[:, :-1], g[:, -1] * math.sqrt(0.5))

    def _shares(self, R: int, d: int) -> NDArray[np.float64]:
        """1 / ||g_r||^2."""
        omega, b = self._omega[:d, :R].astype(np.float64), self._b[:R].astype(np.float64)
        shares: NDArray[np.float64] = 1.0 / ((omega**2).sum(axis=0) + 2.0 * b**2)
        return shares


def ridge_units(family: AffineFeatures, d_first: int, key: NDArray[np.uint64]) -> AffineUnits:
    """Return the units that suit the family."""
    on_sphere = isinstance(family, ArcCosine) and type(family).draw is ArcCosine.draw
    return (SphereUnits if on_sphere else AffineUnits)(family, d_first, key)


_SCHEMA = StateSchema("iln_stream.PoolIterate", 1)


@dataclass(frozen=True)
class Pool:
    """R units drawn once, w_1..w_R ~ mu, with weights theta_r = sum_i alpha_i psi(x_i; w_r).

    E = (1/R) sum_r theta_r psi(x; w_r) takes O(R d) time and memory for streams of any length: no
    support is needed. This is the paper's baseline Fixed-Random (Section 6) with Algorithm 1's
    steps. alpha now depends on the pool, so E is a biased estimate of <f_t, Phi(x)>, and Theorem 1
    does not hold; it learns the best function of these R units, O(1 / sqrt(R)) away from the
    infinite layer's. If alpha were independent of the pool, E would be unbiased with variance at
    most ||f||^2 / R; its standard error, estimated from the R terms, refers to that case.

    It needs a family of ridge units: Gaussian, Laplacian and Cauchy Fourier features, `Erf`,
    `Tanh`, `Sigmoid`, `ArcCosine`, or an `AffineFeatures` of your own. Parameters that the family
    derives from the number of columns, such as gamma = 1/d, are fixed by the first learned event.

    Parameters
    ----------
    size
        R, the number of units, at least 2.

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

    def start(self, given: EstimatorContext) -> "PoolIterate":
        return PoolIterate(self.size, ridges_for("Pool", given), given.key)


def ridges_for(asking: str, given: EstimatorContext) -> AffineFeatures:
    """Return the family, if a pool can keep its units.

    Raises
    ------
    ValueError
        When its units are not ridges.

    """
    family = as_ridges(given.features)
    if family is None or family.activation not in get_args(Activation):
        raise ValueError(
            f"{asking} needs ridge units sigma(omega.x + b), not {given.features!r}: use "
            "GaussianFourier, LaplacianFourier, CauchyFourier, Erf, Tanh, Sigmoid, ArcCosine or an "
            f"AffineFeatures whose activation is one of {', '.join(get_args(Activation))}"
        )
    return family


class PoolIterate:
    """theta over a pool of units."""

    draws_wanted = None

    def __init__(self, size: int, family: AffineFeatures, key: NDArray[np.uint64]) -> None:
        self._family = family
        self._key = key
        self._theta = np.zeros(size)
        self._units: AffineUnits | None = None  # drawn for the first point's number of columns
        self.alpha_l1 = 0.0

    @property
    def n_support(self) -> int:
        """0: the pool replaces the support."""
        return 0

    @property
    def n_units(self) -> int:
        """R, the number of units."""
        return len(self._theta)

    def noise(self, draws: int) -> float:
        """Return 0: the units are drawn once, so E is not a mean of fresh draws."""
        return 0.0

    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        """Return the pool's value at x, the same at every t."""
        if self._units is None:
            return Estimate(0.0, 0.0, 0)
        size = len(self._theta)
        mean, square = self._units.mean_and_square(self._theta, x)
        return Estimate(mean, math.sqrt(max(square - mean * mean, 0.0) / (size - 1)), size)

    def append(self, x: NDArray[np.float64], alpha: float) -> None:
        """theta_r += alpha psi(x; w_r)."""
        if self._units is None:
            self._units = ridge_units(self._family, len(x), self._key)
        units, theta = self._units, self._theta
        if units.psi_of != x.tobytes() or len(units.psi) != len(theta):
            units.mean_and_square(theta, x)
        units.kernels.add_unit_weights(theta, units.psi, alpha)
        self.alpha_l1 += abs(alpha)

    def shrink(self, factor: float) -> None:
        """Multiply theta, and so every alpha_i, by `factor`."""
        self._theta *= factor
        self.alpha_l1 *= factor

    def finite_layer(
        self, size: int | None, d: int, rng: np.random.Generator
    ) -> tuple[FiniteLayer, None]:
        """Return the pool itself, for points of d columns, d at least the number learned."""
        if size not in (None, self.n_units):
            raise ValueError(
                f"size = {size} is not the pool's, {self.n_units}: a pool is frozen as it is, so "
                "leave size out"
            )
        units = self._units or ridge_units(self._family, d, self._key)
        return units.layer(self._theta, d), None

    def state(self) -> StateDict:
        """Return theta, and the first point's number of columns, on which the units depend."""
        d_first = None if self._units is None else self._units.d_first
        return _SCHEMA.write(theta=self._theta.copy(), alpha_l1=self.alpha_l1, d_first=d_first)

    def restore(self, state: StateDict) -> None:
        """Take theta of a state; the units are drawn again."""
        theta, self.alpha_l1, d_first = _SCHEMA.read(state, "theta", "alpha_l1", "d_first")
        self._theta = theta.copy()
        drawn = d_first is not None
        self._units = ridge_units(self._family, d_first, self._key) if drawn else None
