"""Whole random networks as single hidden units."""

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import numpy as np

from iln_stream.features.base import Array, at_least_one, positive


class Layer(NamedTuple):
    """One layer of n networks: weights (n, units, inputs) and biases (n, units)."""

    weights: Array
    biases: Array


Networks: TypeAlias = tuple[Layer, ...]


@dataclass(frozen=True)
class RandomNetwork:
    """Random multi-layer networks; one draw of w is all the weights of one network.

        h_0 = x,  h_l = tanh(A_l h_{l-1} + b_l) for l = 1..layers,  psi(x; w) = tanh(a.h + b)

    Weights are N(0, scale^2 / fan-in) and biases N(0, scale^2 / 4), all independent. The kernel has
    no closed form at finite width and must be sampled, as [1]_ does.

    A draw costs width (d + 1) + (layers - 1) width (width + 1) + width + 1 normals, so this is the
    slowest of the families.

    Parameters
    ----------
    layers
        Number of hidden layers, at least 1.
    width
        Units in each hidden layer, at least 1.
    scale
        Standard deviation of a layer's weighted sums when its inputs have mean square 1, in
        (0, 1e30]. Small: nearly linear in x; large: nearly piecewise constant. The default suits
        standardised inputs.

    References
    ----------
    .. [1] R. Livni, D. Carmon, A. Globerson. Learning Infinite Layer Networks Without the Kernel
       Trick. ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import RandomNetwork
    >>> family = RandomNetwork(layers=2, width=8)
    >>> w = family.draw(10_000, d=3, rng=np.random.default_rng(0))
    >>> x, near, far = np.zeros(3), np.array([0.1, 0.0, 0.0]), np.array([2.0, -2.0, 2.0])
    >>> [round(float(np.mean(family.psi(x, w) * family.psi(x_i, w))), 1) for x_i in (near, far)]
    [0.6, 0.3]

    """

    layers: int = 2
    width: int = 8
    scale: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", at_least_one("layers", self.layers))
        object.__setattr__(self, "width", at_least_one("width", self.width))
        object.__setattr__(self, "scale", positive("scale", self.scale))

    @property
    def q(self) -> float:
        """E[tanh(s Z)^4] for Z ~ N(0, 1) and s^2 = 5/4 scale^2, within 1e-3 from above."""
        # By Cauchy-Schwarz q <= sup_x E[psi(x; w)^4]. Given the last hidden layer h in
        # [-1, 1]^width, a.h + b ~ N(0, scale^2 (|h|^2 / width + 1/4)), of variance at most s^2.
        return _mean_tanh4(math.sqrt(1.25) * self.scale)

    def draw(self, n: int, d: int, rng: np.random.Generator) -> Networks:
        """Draw n networks for inputs of d columns."""
        sizes = (d, *[self.width] * self.layers, 1)
        return tuple(
            Layer(
                rng.normal(scale=self.scale / math.sqrt(max(inputs, 1)), size=(n, units, inputs)),
                rng.normal(scale=self.scale / 2.0, size=(n, units)),
            )
            for inputs, units in pairwise(sizes)
        )

    def psi(self, x: Array, w: Networks) -> Array:
        """Evaluate the networks at x, (d,) or (n, d); shape (n,)."""
        h = np.broadcast_to(x, (len(w[0].biases), x.shape[-1]))
        for weights, biases in w:
            h = np.einsum("nij,nj->ni", weights, h)
            h += biases
            np.tanh(h, out=h)
        return h[:, 0]


@cache
def _mean_tanh4(s: float, cells: int = 1000) -> float:
    """Bound E[tanh(s Z)^4], Z ~ N(0, 1), from above; at most 1 / cells too high."""
    # tanh^4 grows with |Z|: cut |Z| into cells of equal probability, evaluate each at its upper
    # end. The last cell ends at infinity, where tanh is 1.
    normal = NormalDist()
    ends = (normal.inv_cdf(0.5 + 0.5 * k / cells) for k in range(1, cells))
    return (1.0 + sum(math.tanh(s * z) ** 4 for z in ends)) / cells
