"""Parts of a user's own, which no state can tell of."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners import Sampled


class Signs:
    """A family: the signs of random projections."""

    q = 1.0

    def draw(self, n: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return rng.standard_normal((n, d))

    def psi(self, x: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sign(np.vecdot(w, x))


@dataclass(frozen=True)
class Mine:
    """An estimator that is `Sampled` by another name."""

    def start(self, given: Any) -> Any:
        return Sampled().start(given)
