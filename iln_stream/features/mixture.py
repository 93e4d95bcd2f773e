"""Mixtures of families, for example over bandwidths."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from iln_stream.features.base import Array, Features, Kernel, closed_form, entries, positive
from iln_stream.features.gaussian_fourier import GaussianFourier


class Group(NamedTuple):
    """The draws of one component, and their slice among all draws."""

    family: Features[Any]
    rows: slice
    w: Any


Groups: TypeAlias = tuple[Group, ...]


@dataclass(frozen=True)
class Mixture:
    """Units of several families: w is drawn from component c with probability p_c.

        E_w[psi(x; w) psi(x'; w)] = sum_c p_c k_c(x, x'),  k_c the kernel of component c

    in closed form where every component has one; otherwise `kernel` is missing, and
    `closed_form(mixture)` is None.

    Draws are grouped by component, with multinomial counts. Learners take means over draws with
    independently chosen points, and such a mean has the same law in any order. Where the order
    matters (a point tied to its index k), shuffle the points first.

    Parameters
    ----------
    components
        The families, at least one.
    weights
        Weights of the components, each in (0, 1e30], divided by their sum to give p_c.
        None: equal weights.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import DecisionStumps, GaussianFourier, Mixture
    >>> family = Mixture((GaussianFourier(), DecisionStumps()), weights=(3.0, 1.0))
    >>> family.kernel(np.zeros((1, 2)), np.zeros(2))  # 3/4 of 1/2 and 1/4 of 1
    array([0.625])

    """

    components: tuple[Features[Any], ...]
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        components = entries("components", self.components)
        if not components:
            raise ValueError("components is empty: give at least one family")
        for i, family in enumerate(components):
            if isinstance(family, type) or not isinstance(family, Features):
                raise TypeError(
                    f"components[{i}] is {family!r}: it must be a family, with q, draw and psi"
                )
        object.__setattr__(self, "components", components)
        if self.weights is None:
            return
        given = entries("weights", self.weights)
        weights = tuple(positive(f"weights[{i}]", value) for i, value in enumerate(given))
        if len(weights) != len(components):
            raise ValueError(f"weights has {len(weights)} entries for {len(components)} components")
        object.__setattr__(self, "weights", weights)

    @classmethod
    def of_bandwidths(cls, gammas: Iterable[float]) -> "Mixture":
        """Mix Gaussian kernels of several widths, in equal parts.

        Parameters
        ----------
        gammas
            The `gamma` of each `GaussianFourier`.

        Examples
        --------
        >>> Mixture.of_bandwidths((0.1, 10.0)).components
        (GaussianFourier(gamma=0.1), GaussianFourier(gamma=10.0))

        """
        return cls(tuple(GaussianFourier(gamma) for gamma in gammas))

    @property
    def q(self) -> float:
        """sum_c p_c q_c."""
        return float(self._p() @ [family.q for family in self.components])

    def draw(self, n: int, d: int, rng: np.random.Generator) -> Groups:
        """Draw n units for inputs of d columns, grouped by component."""
        counts = rng.multinomial(n, self._p())
        ends = counts.cumsum()
        return tuple(
            Group(family, slice(end - count, end), family.draw(int(count), d, rng))
            for family, count, end in zip(self.components, counts, ends, strict=True)
            if count > 0
        )

    def psi(self, x: Array, w: Groups) -> Array:
        """Evaluate the units at x, (d,) or (n, d); shape (n,)."""
        return np.concatenate(
            [family.psi(x if x.ndim == 1 else x[rows], draws) for family, rows, draws in w]
        )

    @property
    def kernel(self) -> Kernel:
        """The kernel sum_c p_c k_c; AttributeError when a component has none."""
        kernels = []
        for family in self.components:
            k = closed_form(family)
            if k is None:
                raise AttributeError(f"no kernel in closed form: {family!r} has none")
            kernels.append(k)
        p = self._p()

        def mixed(X: Array, x: Array) -> Array:
            return np.average([k(X, x) for k in kernels], axis=0, weights=p)

        return mixed

    def _p(self) -> Array:
        if self.weights is None:
            return np.full(len(self.components), 1.0 / len(self.components))
        return np.array(self.weights) / sum(self.weights)
