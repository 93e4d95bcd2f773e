"""What Algorithm 1 asks of f_t: an estimate at a point, a new term, a shrink."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import Features


class Estimate(NamedTuple):
    """An estimate E of f(x) = <f, Phi(x)>.

    Parameters
    ----------
    value
        E.
    standard_error
        Standard deviation of E, estimated from its own draws; of a single draw its largest
        possible value.
    draws
        m, the number of draws it is the mean of; 0 when f = 0, where E = 0 is exact.

    """

    value: float
    standard_error: float
    draws: int


class Iterate(Protocol):
    """f_t = sum_i alpha_i Phi(x_i), in a form that can be estimated and updated.

    Estimating changes nothing that can be seen from outside: E is a function of the state, the
    point and the event's number.
    """

    @property
    def alpha_l1(self) -> float:
        """||alpha||_1."""
        ...

    @property
    def n_support(self) -> int:
        """Number of points x_i that are kept."""
        ...

    @property
    def draws_wanted(self) -> float | None:
        """Draws that the tolerated variance asks for, if they are more than the most allowed."""
        ...

    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        """Return E at x, shape (d,), with the randomness of event t."""
        ...

    def append(self, x: NDArray[np.float64], alpha: float) -> None:
        """Add alpha Phi(x)."""
        ...

    def shrink(self, factor: float) -> None:
        """Multiply every alpha_i by `factor`."""
        ...


class Estimator(Protocol):
    """A way to hold and estimate f_t; itself only parameters, as River wants them."""

    def start(self, features: Features[Any], key: NDArray[np.uint64]) -> Iterate:
        """Return f_1 = 0; `key` (two words) seeds all its randomness."""
        ...
