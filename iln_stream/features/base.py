"""The interface of a family of hidden units.

A family takes about ten lines:

>>> import numpy as np
>>> from iln_stream.features import check_features
>>> class Ridges:
...     '''psi(x; w) = tanh(w.x), w ~ N(0, I / d).'''
...
...     q = 1.0
...
...     def draw(self, n, d, rng):
...         return rng.standard_normal((n, d)) / np.sqrt(max(d, 1))
...
...     def psi(self, x, w):
...         return np.tanh(np.vecdot(w, x))
>>> check_features(Ridges())

`numpy.vecdot` handles both forms of x, and inputs without columns. `Exact` also needs a method
`kernel`, see `Kernel`; pools need units of the form of `AffineFeatures`. A family that is saved
with a learner is a dataclass with `iln_stream.learners.restorable`.
"""

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

Array: TypeAlias = NDArray[np.float64]

_LARGEST = 1e30
"""Far beyond any use, and small enough that products with inputs stay finite."""


def positive(field: str, value: float) -> float:
    """Return `value` as a float in (0, 1e30]."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{field} is {value!r}: it must be a number")
    if not 0.0 < value <= _LARGEST:
        raise ValueError(f"{field} is {value!r}: it must be positive and at most {_LARGEST:g}")
    return float(value)


def at_least_one(field: str, value: int) -> int:
    """Return `value` as an int, 1 or more."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{field} is {value!r}: it must be an integer")
    if value < 1:
        raise ValueError(f"{field} is {value!r}: it must be at least 1")
    return int(value)


def entries(field: str, values: Iterable[T]) -> tuple[T, ...]:
    """Return `values` as a tuple."""
    if not isinstance(values, Iterable):
        raise TypeError(f"{field} is {values!r}: it must be a tuple")
    return tuple(values)


LARGEST_INPUT = 1e15
"""psi is finite for inputs up to this size; the learners clip theirs to it."""

W = TypeVar("W")

Kernel: TypeAlias = Callable[[Array, Array], Array]
"""(X, x) -> E_w[psi(X_i; w) psi(x; w)], with X of shape (n, d), x (d,) and the result (n,)."""


@runtime_checkable
class Features(Protocol[W]):
    """A law mu over w that can be sampled, and an activation psi(x; w) with |psi| <= 1.

    They span the infinite-layer networks f(x) = E_{w ~ mu}[psi(x; w) f(w)] [1]_. `W` holds n draws
    of w in any form that suits the family; learners only pass it from `draw` to `psi`.

    Instances keep no state: the same rng gives the same draws. Learners are copied and pickled
    with their family inside. `check_features` checks whether a family satisfies all this.

    References
    ----------
    .. [1] R. Livni, D. Carmon, A. Globerson. Learning Infinite Layer Networks Without the Kernel
       Trick. ICML 2017.

    """

    @property
    def q(self) -> float:
        """A bound on sup_{x, x'} E_w[psi(x; w)^2 psi(x'; w)^2], in (0, 1].

        The variance of a mean of m draws is at most ||alpha||_1^2 q / m, so a family with a smaller
        bound needs fewer draws. 1 always holds.
        """

    def draw(self, n: int, d: int, rng: np.random.Generator) -> W:
        """Draw n >= 1 independent w ~ mu for inputs of d >= 0 columns."""

    def psi(self, x: Array, w: W) -> Array:
        """Evaluate the units, without changing `x`.

        Parameters
        ----------
        x
            Shape (d,): this one point under every draw. Shape (n, d): the k-th point under the
            k-th draw. Entries lie within +-`LARGEST_INPUT`.
        w
            n draws made for d columns.

        Returns
        -------
        Array of shape (n,), values in [-1, 1].

        """


class ClosedForm(Features[W], Protocol[W]):
    """A family that can integrate w out.

    This may depend on the family's arguments, so call `closed_form` rather than test its type.
    """

    def kernel(self, X: Array, x: Array) -> Array:
        """Return E_w[psi(X_i; w) psi(x; w)] for every row of X (n, d), shape (n,)."""


def closed_form(family: Features[W]) -> Kernel | None:
    """Return the kernel of a family that has one in closed form, else None.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import DecisionStumps, RandomNetwork, closed_form
    >>> kernel = closed_form(DecisionStumps(span=2.0))
    >>> kernel(np.array([[0.0], [1.0]]), np.array([1.0]))
    array([0.5, 1. ])
    >>> closed_form(RandomNetwork()) is None
    True

    """
    kernel: Kernel | None = getattr(family, "kernel", None)
    return kernel
