"""The paper's setting in full: a scalar product that is known only through an unbiased oracle."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np

from iln_stream.features.base import Array
from iln_stream.learners.estimators import Estimate, EstimatorContext
from iln_stream.learners.estimators.sampled import SampledIterate

ScalarProduct: TypeAlias = Callable[[Array, Array, np.random.Generator], Array]
"""(X (m, d), x (d,), rng) -> (m,): m independent estimates, the k-th with mean <Phi(X_k), Phi(x)>.

Values lie within [-1, 1]. All randomness comes from the rng, and no randomness is shared by two
estimates of a call.
"""


@dataclass(frozen=True)
class Oracle:
    """Algorithm 2 on an oracle of the scalar product, in place of a family of hidden units.

    Algorithm 1 uses Phi only through <Phi(x'), Phi(x)>, and Algorithm 2 uses mu and psi only
    through psi(x'; w) psi(x; w), which is an unbiased estimate of it within [-1, 1]. So any such
    estimate serves, of any Hilbert space whose ||Phi(x)|| <= 1, and Theorem 1 holds as it stands
    [1]_. Pass it to `ShrinkingGradient` as `estimator`; the learner's `features` are then unused,
    and `draws`, `variance` and `budget` apply as with `"sampled"`.

    Parameters
    ----------
    product
        The oracle, see `ScalarProduct`. A function of a module, if the learner is to be pickled.
    q
        A bound on the mean square of an estimate, in (0, 1].

    References
    ----------
    .. [1] R. Livni, D. Carmon, A. Globerson. Learning Infinite Layer Networks Without the Kernel
       Trick. ICML 2017.

    Examples
    --------
    The kernel x'.x / d of inputs within [-1, 1], from one coordinate at a time:

    >>> import numpy as np
    >>> from iln_stream import ShrinkingGradient
    >>> from iln_stream.research.related.oracle import Oracle
    >>> def one_coordinate(X, x, rng):
    ...     m, d = X.shape
    ...     j = rng.integers(d, size=m)
    ...     return X[np.arange(m), j] * x[j]
    >>> model = ShrinkingGradient(estimator=Oracle(one_coordinate), draws=100, seed=1)
    >>> model.learn_one({"a": 1.0, "b": -1.0}, 0.5)
    >>> model.predict_one({"a": 1.0, "b": -1.0})
    0.5

    """

    product: ScalarProduct
    q: float = 1.0

    def __post_init__(self) -> None:
        if not callable(self.product):
            raise ValueError(f"product = {self.product!r} must be a function of X, x and an rng")
        if not 0.0 < self.q <= 1.0:
            raise ValueError(f"q = {self.q!r} must be above 0 and at most 1")

    def start(self, given: EstimatorContext) -> "OracleIterate":
        return OracleIterate(given, self)


class OracleIterate(SampledIterate):
    """Support points with their alphas, and the oracle."""

    def __init__(self, given: EstimatorContext, oracle: Oracle) -> None:
        super().__init__(given)
        self._product, self._q = oracle.product, oracle.q

    def finite_layer(self, size: int | None, d: int, rng: np.random.Generator) -> NoReturn:
        """Refuse: an oracle has no hidden units."""
        raise ValueError(
            "an oracle of the scalar product has no hidden units to freeze: give the learner a "
            "family of hidden units (features=) and the estimator 'sampled'"
        )

    def _estimate(self, x: Array, m: int, t: int) -> Estimate:
        """Return ||alpha||_1 times the mean of sgn(alpha_i) product(x_i, x) over m draws of i."""
        alpha_l1 = self.alpha_l1
        if alpha_l1 == 0.0:
            return Estimate(0.0, 0.0, 0)
        rng = self.rng(t)
        i = self.support.sample(m, rng)
        products: Any = np.asarray(self._product(self.support.take(i, len(x)), x, rng))
        if products.shape != (m,):
            raise ValueError(f"product returned shape {products.shape} for {m} points, not ({m},)")
        if not np.abs(products).max() <= 1.0 + 1e-9:  # so that nan is rejected
            raise ValueError(
                f"product returned {np.abs(products).max():.3g}: divide it by its bound, so that "
                "it lies within [-1, 1]"
            )
        terms = alpha_l1 * np.sign(self.support.alpha)[i] * products
        if m == 1:
            return Estimate(float(terms[0]), alpha_l1, 1)
        return Estimate.from_terms(terms)
