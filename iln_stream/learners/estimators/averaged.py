"""Corollary 1's average of all iterates, kept beside f_t in O(1) time per event."""

from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.estimators.base import Estimate, Estimator, EstimatorContext, Iterate
from iln_stream.learners.estimators.sampled import Sampled
from iln_stream.learners.estimators.support import Supported
from iln_stream.state import StateDict, StateSchema

_SCHEMA = StateSchema("iln_stream.AveragedIterate", 1)

_SETTLE_ABOVE = 2.0**50
"""S / s at which the sums are reset: up to 2^53, S is an exact sum of powers of 1/4."""


_SAMPLED = Sampled()


@dataclass(frozen=True)
class Averaged:
    """Another estimator, with the average f_S = (1/T) sum_t f_t kept beside f_t.

    On independent, equally distributed events f_S is within eps of the best of ||f|| <= B once
    T = O(B^2 / eps^2) (Corollary 1 of the paper), while f_t itself keeps moving with the latest
    events. Learning and `predict_one` are unchanged; `ShrinkingGradient.estimate_average` returns
    f_S. It adds O(1) time per event (O(n) once in some twenty shrinks) and two or three numbers
    per point.

    A point's share of the average grows throughout the stream, so no point may be evicted:
    `budget` must be None. In a pool, points have no weights of their own, so it can't be averaged.

    Parameters
    ----------
    estimator
        How f_t and f_S are stored and estimated: `Sampled()`, or another that keeps all points.

    Examples
    --------
    >>> import random
    >>> from iln_stream import ShrinkingGradient
    >>> model = ShrinkingGradient(estimator="averaged", seed=1)
    >>> for _ in range(300):
    ...     a = random.Random(model.n_seen).gauss(0.0, 1.0)
    ...     model.learn_one({"a": a}, 0.5)
    >>> round(model.estimate_average({"a": 0.0}).value, 1)
    0.3

    """

    estimator: Estimator = _SAMPLED

    def start(self, given: EstimatorContext) -> "AveragedIterate":
        return AveragedIterate(self._asked(self.estimator.start(given), given))

    def _asked(self, f: Iterate, given: EstimatorContext) -> Supported:
        if given.budget is not None:
            raise ValueError(
                f"budget = {given.budget} must be None for the average of all f_t: "
                "an evicted point would still count in it"
            )
        if not isinstance(f, Supported):
            raise ValueError(
                f"estimator = {self.estimator!r} keeps no points, so it can't average all f_t: "
                "use Sampled()"
            )
        return f


class AveragedIterate:
    """f_t, and the coefficients of the average f_S as of any time.

    With s(t) the product of all shrinks before event t, point i's coefficient in f_t is a_i s(t).
    The sum of its coefficients up to event T is then a_i (S(T) - S(i)), S the prefix sums of s.
    """

    def __init__(self, f: Supported) -> None:
        self._f = f
        self._events = 0
        self._scale = 1.0  # s
        self._total = 0.0  # S
        self._a = array("d")  # a_i
        self._since = array("d")  # S(i)
        self._settled = np.zeros(0)  # the coefficients' sums as of the last reset of s

    @property
    def alpha_l1(self) -> float:
        """||alpha||_1 of f_t."""
        return self._f.alpha_l1

    @property
    def n_support(self) -> int:
        return self._f.n_support

    @property
    def draws_wanted(self) -> float | None:
        return self._f.draws_wanted

    @property
    def current(self) -> Iterate:
        """f_t alone."""
        return self._f

    def noise(self, draws: int) -> float:
        return self._f.noise(draws)

    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        """Return the estimate of f_t at x."""
        return self._f.estimate(x, t)

    def append(self, x: NDArray[np.float64], alpha: float) -> None:
        """Add f_t to the average, then x to the support."""
        self._count()
        self._f.append(x, alpha)
        self._a.append(alpha / self._scale)
        self._since.append(self._total)

    def shrink(self, factor: float) -> None:
        """Add f_t to the average, then multiply every alpha_i by `factor`."""
        self._count()
        self._f.shrink(factor)
        self._scale *= factor
        if self._total > _SETTLE_ABOVE * self._scale:
            self._settle()

    def average(self) -> Iterate:
        """Return f_S over the events so far, in O(n) time; it shares the points of f_t."""
        return self._f.reweighed(self._sums() / max(self._events, 1))

    def state(self) -> StateDict:
        """Return f_t's state and the sums."""
        return _SCHEMA.write(
            f=self._f.state(),
            events=self._events,
            scale=self._scale,
            total=self._total,
            a=np.array(self._a),
            since=np.array(self._since),
            settled=self._settled.copy(),
        )

    def restore(self, state: StateDict) -> None:
        """Take f_t and the sums of a state."""
        f, self._events, self._scale, self._total, a, since, settled = _SCHEMA.read(
            state, "f", "events", "scale", "total", "a", "since", "settled"
        )
        self._f.restore(f)
        self._a, self._since = array("d", a), array("d", since)
        self._settled = settled.copy()

    def _count(self) -> None:
        self._events += 1
        self._total += self._scale

    def _sums(self) -> NDArray[np.float64]:
        """Each point's coefficient, summed over all f_t so far."""
        sums = np.array(self._a) * (self._total - np.array(self._since))
        sums[: len(self._settled)] += self._settled
        return sums

    def _settle(self) -> None:
        """Reset S and s."""
        self._settled = self._sums()
        self._a = array("d", np.array(self._a) * self._scale)
        self._since = array("d", bytes(8 * len(self._a)))
        self._scale, self._total = 1.0, 0.0
