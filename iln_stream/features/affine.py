"""Ridge families: units that depend on x only by a product, psi(x; w) = sigma(omega.x + b).

Such units are arrays and the name of an activation, so compiled code can evaluate any of these
families without special support. A family takes a few lines:

>>> import numpy as np
>>> from iln_stream.features import AffineFeatures, AffineWeights, check_features
>>> class SignedSums(AffineFeatures):
...     '''psi(x; w) = tanh(omega.x + b), the entries of omega +-1, b ~ U[-1, 1).'''
...
...     activation = "tanh"
...     q = 1.0
...
...     def draw(self, n, d, rng):
...         return AffineWeights(rng.choice([-1.0, 1.0], (n, d)), rng.uniform(-1.0, 1.0, n))
>>> check_features(SignedSums())
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from iln_stream.features.base import Array, Features, positive

Activation: TypeAlias = Literal["cos", "erf", "tanh", "sigmoid", "relu"]


class AffineWeights(NamedTuple):
    """n draws of (omega, b): shapes (n, d) and (n,)."""

    omega: Array
    b: Array


class BiasLaw(NamedTuple):
    """The law of b: N(0, scale^2) or U[0, scale)."""

    name: Literal["normal", "uniform"]
    scale: float

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n values."""
        if self.name == "normal":
            return rng.normal(scale=self.scale, size=n)
        return rng.uniform(0.0, self.scale, n)


PHASE = BiasLaw("uniform", 2.0 * math.pi)
"""The phase of a cosine, uniform over a whole turn."""


class AffineFeatures(ABC):
    """A family of units psi(x; w) = sigma(omega.x + b); subclasses set activation, q and draw."""

    activation: ClassVar[Activation]
    """The name of sigma."""

    @property
    @abstractmethod
    def q(self) -> float:
        """As in `Features`."""

    @abstractmethod
    def draw(self, n: int, d: int, rng: np.random.Generator) -> AffineWeights:
        """Draw n units for inputs of d columns."""

    def inputs(self, x: Array) -> Array:
        """Return the units' inputs for x, (d,) or (n, d), in the same shape: by default x itself.

        If overridden, psi(x; w) = sigma(omega.inputs(x) + b).
        """
        return x

    def for_columns(self, d: int) -> "AffineFeatures":
        """Return a family whose `inputs` is fixed to that for d columns: by default itself.

        Override it where `inputs` depends on the number of columns.
        """
        return self

    def psi(self, x: Array, w: AffineWeights) -> Array:
        """Evaluate the units at x, (d,) or (n, d); shape (n,)."""
        z: Array = np.vecdot(w.omega, self.inputs(x))
        z += w.b
        return activate(self.activation, z)


class GaussianAffineFeatures(AffineFeatures):
    """Ridge units with omega ~ N(0, scale(d)^2 I), independent of b ~ b_law.

    Then (omega.x, omega.x') is bivariate normal with covariances scale(d)^2 <x, x'>, so a unit
    can be sampled at two points from two normals instead of d.
    """

    @abstractmethod
    def scale(self, d: int) -> float:
        """Return the standard deviation of omega's entries for inputs of d columns."""

    @property
    @abstractmethod
    def b_law(self) -> BiasLaw:
        """The law of b."""

    def draw(self, n: int, d: int, rng: np.random.Generator) -> AffineWeights:
        omega = rng.normal(scale=self.scale(d), size=(n, d))
        return AffineWeights(omega, self.b_law.draw(n, rng))


def as_ridges(family: Features[Any]) -> AffineFeatures | None:
    """Return a family whose units are ridges, else None.

    Also None for a subclass that overrides psi: its activation does not define its units.

    Examples
    --------
    >>> from iln_stream.features import ArcCosine, DecisionStumps, as_ridges
    >>> as_ridges(ArcCosine()).activation
    'relu'
    >>> as_ridges(DecisionStumps()) is None
    True

    """
    if isinstance(family, AffineFeatures) and type(family).psi is AffineFeatures.psi:
        return family
    return None


def as_gaussian_ridges(family: Features[Any]) -> GaussianAffineFeatures | None:
    """Return a family whose units are ridges with Gaussian omega, else None.

    Also None for a subclass that overrides psi or draw. Where `inputs` is overridden, the
    covariances are those of inputs(x).

    Examples
    --------
    >>> from iln_stream.features import GaussianFourier, LaplacianFourier, as_gaussian_ridges
    >>> family = as_gaussian_ridges(GaussianFourier(gamma=0.5))
    >>> family.scale(d=3), family.b_law
    (1.0, BiasLaw(name='uniform', scale=6.283185307179586))
    >>> as_gaussian_ridges(LaplacianFourier()) is None
    True

    """
    if (
        as_ridges(family) is not None
        and isinstance(family, GaussianAffineFeatures)
        and type(family).draw is GaussianAffineFeatures.draw
    ):
        return family
    return None


def activate(activation: Activation, z: Array) -> Array:
    """Return sigma(z) for z of shape (n,), by the activation's name."""
    return _ACTIVATIONS[activation](z)


_ACTIVATIONS: dict[Activation, Callable[[Array], Array]] = {
    "cos": np.cos,
    "erf": lambda z: np.fromiter(map(math.erf, z.tolist()), np.float64, len(z)),  # numpy has none
    "tanh": np.tanh,
    "sigmoid": lambda z: 0.5 + 0.5 * np.tanh(0.5 * z),  # 1 / (1 + exp(-z)), without its overflow
    "relu": lambda z: np.maximum(z, 0.0),
}


@dataclass(frozen=True)
class Fourier(AffineFeatures):
    """psi(x; w) = cos(omega.x + b) with b ~ `PHASE`; gamma sets the width of omega."""

    gamma: float | None = None

    activation: ClassVar[Activation] = "cos"

    def __post_init__(self) -> None:
        if self.gamma is not None:
            object.__setattr__(self, "gamma", positive("gamma", self.gamma))

    @property
    def q(self) -> float:
        """3/8, reached at x = x'."""
        # With a = omega.x + b, cos(a)^2 cos(a')^2 = (1 + cos 2a)(1 + cos 2a') / 4. The phase b
        # averages this to 1/4 + cos(2 (a - a')) / 8, for any law of omega.
        return 3 / 8

    def _gamma(self, d: int) -> float:
        return 1.0 / max(d, 1) if self.gamma is None else self.gamma


@dataclass(frozen=True)
class Sigmoidal(GaussianAffineFeatures):
    """psi(x; w) = sigma(omega.x + b) with omega ~ N(0, slope^2 / d I) and b ~ N(0, bias^2)."""

    slope: float = 2.0
    bias: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "slope", positive("slope", self.slope))
        object.__setattr__(self, "bias", positive("bias", self.bias))

    @property
    def b_law(self) -> BiasLaw:
        """N(0, bias^2)."""
        return BiasLaw("normal", self.bias)

    def scale(self, d: int) -> float:
        """Return slope / sqrt(d), the standard deviation of omega's entries."""
        return self.slope / math.sqrt(max(d, 1))
