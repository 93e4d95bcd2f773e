"""The counters and last values of a run of Algorithm 1."""

from collections.abc import Sequence

from iln_stream.learners.estimators import Iterate
from iln_stream.learners.one_at_a_time import OneAtATime
from iln_stream.learners.preprocessing.columns import Columns
from iln_stream.learners.reports import (
    SHRUNK,
    algorithm_1_flags,
    algorithm_1_metrics,
    columns_metrics,
)
from iln_stream.learners.shrinking_gradient.update import Update
from iln_stream.learners.shrinking_gradient.watch import Watch
from iln_stream.reporting import MetricSpec, Report


class RunStatistics(OneAtATime):
    """The part of `ShrinkingGradient` that reports on its run; see `iln_stream.reporting`."""

    _columns: Columns
    _f: Iterate
    _n_seen: int
    _n_shrinks: int
    _watch: Watch
    _last: Update | None

    flags = (SHRUNK,)
    """Flags that an event may raise; see `iln_stream.reporting`."""

    @property
    def alpha_l1(self) -> float:
        """||alpha||_1: an estimate's noise is at most this times sqrt(q / m)."""
        with self._turn:
            return self._f.alpha_l1

    @property
    def n_support(self) -> int:
        """Number of support points."""
        with self._turn:
            return self._f.n_support

    @property
    def n_shrinks(self) -> int:
        """Number of events on which alpha was shrunk."""
        with self._turn:
            return self._n_shrinks

    @property
    def n_seen(self) -> int:
        """Number of labelled events learned, t."""
        with self._turn:
            return self._n_seen

    @property
    def n_capped(self) -> int:
        """Number of events on which `max_draws` was too low for the tolerated variance of E_t."""
        with self._turn:
            return self._watch.n_capped

    @property
    def n_outside(self) -> int:
        """Number of targets outside [-1, 1], which Theorem 1 does not cover."""
        with self._turn:
            return self._watch.n_outside

    @property
    def n_diverging(self) -> int:
        """Number of events on which the noise was at least as large as the targets; healthy is 0.

        See `theory.diverging`. The first one triggers a warning.
        """
        with self._turn:
            return self._watch.n_diverging

    @property
    def noise(self) -> float:
        """||alpha||_1 sqrt(q / m) of the last E_t, a bound on its standard deviation.

        0 for a pool, which takes no fresh draws, and before the first event.
        """
        with self._turn:
            return self._watch.noise

    @property
    def n_overflowed(self) -> int:
        """Number of inputs left out because `max_columns` names already had a column."""
        with self._turn:
            return self._columns.n_overflowed

    @property
    def estimate_variance(self) -> float:
        """Variance of the last E_t, estimated from its own draws; 0 before the first event."""
        with self._turn:
            last = self._last
            return 0.0 if last is None else last.estimate.standard_error**2

    @property
    def last_update(self) -> Update | None:
        """What Algorithm 1 did with the last labelled event, None before the first."""
        with self._turn:
            return self._last

    def report(self, y_pred: float, y: float) -> Report:
        """Report the loss (E_t - y_t)^2 / 2 of the last event, and whether alpha was shrunk."""
        update = self._last
        if update is None:  # a wrapper did not pass the event on
            return None, ()
        return update.loss, algorithm_1_flags(update)

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the metrics of Algorithm 1."""
        return (*algorithm_1_metrics(lambda: self), *columns_metrics(self))
