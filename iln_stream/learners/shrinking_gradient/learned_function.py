"""Accuracies, the average of all f_t, and f_t as a finite layer."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.estimators import (
    AveragedIterate,
    Estimate,
    EstimatesWithin,
    Estimator,
    FiniteLayer,
    HasFiniteLayer,
    Iterate,
)
from iln_stream.learners.one_at_a_time import OneAtATime
from iln_stream.learners.preprocessing.columns import Columns


class LearnedFunction(OneAtATime):
    """The part of `ShrinkingGradient` that depends on the abilities of its estimator."""

    estimator: Estimator | str
    _columns: Columns
    _f: Iterate
    _n_seen: int

    @property
    def iterate(self) -> Iterate:
        """f_t as the estimator stores it, not a copy; with `Averaged`, an `AveragedIterate`."""
        with self._turn:
            return self._f

    @property
    def input_names(self) -> tuple[Any, ...]:
        """Names of the inputs that have a column, in column order."""
        with self._turn:
            return tuple(self._columns.place)

    def estimate_within(self, x: Mapping[Any, float], eps: float, delta: float) -> Estimate:
        """Return an E with P(|E - f(x)| > eps) <= delta, and the draws that it took.

        `theory.draws_for` gives their number: the prediction part of Theorem 1, with the paper's
        Eq. 19 corrected and the actual ||alpha||_1. They may be many, but use bounded memory. f is
        the learned function, on the scale of the targets as they were learned.

        Parameters
        ----------
        x
            The inputs.
        eps
            Largest error, positive.
        delta
            Probability of a larger error, in (0, 1).

        Raises
        ------
        ValueError
            When eps or delta lies outside its range, or the estimator promises no accuracy.

        """
        f = self._current()
        if not isinstance(f, EstimatesWithin):
            raise ValueError(
                f"estimator = {self.estimator!r} can't guarantee an accuracy: the bound needs "
                "independent draws; use 'sampled'"
            )
        with self._turn:
            return f.estimate_within(self._columns.row(x), eps, delta, self._n_seen)

    def estimate_average(self, x: Mapping[Any, float]) -> Estimate:
        """Return the estimate of f_S(x), f_S = (1/T) sum_t f_t over all T events so far.

        This is the average of Corollary 1, which `estimator="averaged"` keeps. Besides its draws,
        each call takes O(n) time for n support points.

        Raises
        ------
        ValueError
            When the estimator does not keep the average.

        """
        with self._turn:
            return self._average().estimate(self._columns.row(x), self._n_seen)

    def finite_layer(
        self, size: int | None = None, *, seed: int = 0, average: bool = False
    ) -> tuple[FiniteLayer, NDArray[np.float64] | None]:
        """Return f over finitely many units, for `freeze`, which takes the same arguments.

        And points (n, d) at which to estimate its error, or None if the layer is f itself.

        Raises
        ------
        ValueError
            When the estimator keeps no average, or its function is not a layer of ridge units.

        """
        with self._turn:
            f = self._average() if average else self._current()
            if not isinstance(f, HasFiniteLayer):
                raise ValueError(f"estimator = {self.estimator!r} has no layer of units to freeze")
            return f.finite_layer(size, len(self._columns), np.random.default_rng(seed))

    def _current(self) -> Iterate:
        """f_t alone."""
        return self._f.current if isinstance(self._f, AveragedIterate) else self._f

    def _average(self) -> Iterate:
        """f_S."""
        if not isinstance(self._f, AveragedIterate):
            raise ValueError(
                f"estimator = {self.estimator!r} keeps no average of all f_t: use 'averaged'"
            )
        return self._f.average()
