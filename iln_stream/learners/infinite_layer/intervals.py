"""Prediction intervals that keep their coverage, and the size of the error to expect."""

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.intervals import (
    LEVELS,
    N_ROLLING,
    RATIOS,
    RIDGE,
    WINDOWS,
    IntervalState,
    expected_errors,
    has_quantile,
    intervals,
    learn_error,
    learn_interval,
)
from iln_stream.kernels.program import Call, Scalar, Step
from iln_stream.learners.infinite_layer.expert import Observation, Vector
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Part

BLOCK = 16


class FindsNearest(Protocol):
    """An expert that found the stored events nearest to the one that it last predicted.

    `nearest` are their slots in the memory, nearest first, and `n_nearest` is their number.
    """

    nearest: NDArray[np.int64]

    @property
    def n_nearest(self) -> Scalar:
        """Number of events found."""


class ErrorScale(Part):
    """Two estimates of the next |error|: that of the nearest events, and a linear function.

    The first is the mean |error| of the 32 stored events nearest in the relevant inputs. They are
    the inputs on which the prediction depends; where the noise depends on others, the second
    notices: a ridge regression on the deviations z of all inputs and on |z|, with forgetting.
    """

    kept = ("n_columns", "absolute", "record", "theta", "P", "huber")
    fixed = ("absolute", "record", "huber")

    def __init__(self, memory: Memory, finder: FindsNearest) -> None:
        self._memory = memory
        self._finder = finder
        self.sizes = np.ones(2)
        self.n_columns = 0
        self.begin()

    def begin(self) -> None:
        """Expect nothing, as before the first event; columns stay."""
        self.absolute = np.zeros(len(self._memory.y))
        self.record = np.zeros(2)
        self.huber = np.zeros(2)
        n_blocks = -(-(1 + 2 * self.n_columns) // BLOCK)
        self.theta = np.zeros(n_blocks * BLOCK)
        self.theta[0] = 1.0
        self.P = _without_data(n_blocks)
        self._make_scratch()

    def _make_scratch(self) -> None:
        self._phi = np.zeros(len(self.theta))
        self._gain = np.zeros(len(self.theta))

    def widen(self, n_columns: int) -> None:
        """Make room for new columns."""
        self.n_columns += n_columns
        more = -(-(1 + 2 * self.n_columns) // BLOCK) - len(self.P)
        self.theta = np.pad(self.theta, (0, more * BLOCK))
        self.P = np.concatenate([self.P, _without_data(more)])
        self._make_scratch()

    def expecting(self, event: Observation) -> Step:
        """Return the call that writes the |errors| expected at the event to `sizes` (2,)."""
        finder = self._finder
        arguments = (
            event.z, finder.nearest, finder.n_nearest, self.absolute, self.record, self.theta,
            self._phi, self.sizes,
        )  # fmt: skip
        return Call(expected_errors, arguments)

    def learning(self, event: Observation) -> Step:
        """Return the call that learns the |error| at the event, the last one expected."""
        at = event.at
        arguments = (
            at.prediction, at.y, at.n, self.absolute, self.record, self.theta, self.P, self.huber,
            self._phi, self._gain,
        )  # fmt: skip
        return Call(learn_error, arguments)

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._make_scratch()


def _without_data(n: int) -> NDArray[np.float64]:
    return np.tile(np.eye(BLOCK) / RIDGE, (n, 1, 1))


PRESENT = np.zeros((0, 3))
"""Stands for the ends of the present intervals."""


class Intervals(Part):
    r"""Intervals around the prediction from the errors $y - \hat y$ of the last 500 events.

    Six experts offer an interval at each of the levels .5, .8, .9, .95 and .99: conformal quantiles
    of the last 500, 100 and 20 errors, either symmetric, from |error|, or with a separate quantile
    of the error for each end. Where a `scale` tells what errors to expect at an input, two more
    offer quantiles of the last 500 errors in units of it [^3]: where noise depends on the inputs,
    so does their width. Three steps combine them into one interval:

    1. **Mixing.** ML-Poly, as in `MLPoly`, on the interval score [^1], width +
       2 / (1 - level) for each unit by which the target is missed; a discount of .999.
       One of the experts is a rolling quantile of the last 500. `MLPoly` says why no bound holds.
    2. **Coverage.** With M the misses so far in excess of (1 - level) n, discounted by .9999, and
       z = M / (its standard error), ends are moved away from the prediction by the factor
       $\exp(\pm .2 z^4)$, within e^{+-2}: nearly nothing within one standard error, a lot beyond
       two. Chance deviations of a small sample are tolerated, and the coverage of a long one is
       kept, as by conformal inference with decaying steps [^2], unless the errors grow to more
       than e^2 times those in the windows.
    3. **Range.** Where this has improved the score so far, an end is clipped to the range of the
       targets seen.

    Intervals always contain the prediction, and one of a higher level contains those of lower
    levels.

    `scale` expects errors by the inputs; None: all intervals of a time have the same width.

    References
    ----------
    [^1]: T. Gneiting, A. Raftery. Strictly proper scoring rules, prediction, and estimation.
    Journal of the American Statistical Association 102, 2007, section 6.2.
    [^2]: A. Angelopoulos, R. Barber, S. Bates. Online conformal prediction with decaying step
    sizes. ICML 2024.
    [^3]: J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani, L. Wasserman. Distribution-free predictive
    inference for regression. Journal of the American Statistical Association 113, 2018, sect. 5.2.
    """

    kept = fixed = IntervalState._fields

    def __init__(self, scale: ErrorScale | None = None) -> None:
        S, n_levels = 0 if scale is None else len(scale.sizes), len(LEVELS)
        self.scale = scale
        if scale is not None:
            self.parts = ("scale",)
        self.errors = np.zeros((1 + N_ROLLING, max(WINDOWS)))
        self.ratios = np.zeros((2 * S, RATIOS))
        self.rules = np.zeros((4, n_levels * (N_ROLLING + S)))
        self.tallies = np.zeros((n_levels, 4))
        self.record = np.zeros(3)  # events learned, the smallest and the largest target
        self._sizes = np.zeros(0) if scale is None else scale.sizes

    @property
    def plain(self) -> tuple[Vector, ...]:
        """The state for compiled functions."""
        return self.errors, self.ratios, self.rules, self.tallies, self.record

    def widen(self, n_columns: int) -> None:
        """Make room for new columns."""
        if self.scale is not None:
            self.scale.widen(n_columns)

    def around(self, prediction: float, level: float) -> tuple[float, float]:
        """Return the ends of the interval at a level in (0, 1); prediction +- 1 at first.

        Ends are interpolated between the five levels; towards 0 they approach the prediction,
        towards 1 the largest errors of the window. Those of a broken state are as at first.
        """
        learned = self.record[0] - 1.0
        if not learned >= 1.0:
            return prediction - 1.0, prediction + 1.0
        if not self.is_sound:
            return prediction - 1.0, prediction + 1.0
        n = int(min(learned, self.errors.shape[1]))
        ends = np.full((len(LEVELS) + 2, 2), prediction)
        intervals(self.plain, prediction, self._sizes, ends[1:-1])
        signed = self.errors[2]
        ends[-1, 0] = min(ends[-2, 0], prediction + signed[0])
        ends[-1, 1] = max(ends[-2, 1], prediction + signed[n - 1])
        levels = [0.0, *LEVELS, 1.0]
        low, high = (float(np.interp(level, levels, end)) for end in ends.T)
        if not math.isfinite(low + high):
            return prediction - 1.0, prediction + 1.0
        return low, high

    def learning(self, event: Observation, ends: Vector = PRESENT) -> Iterable[Step]:
        """Yield the calls that learn the event's target and prediction.

        `ends` are those that were published, if other errors were learned since, and the weight of
        a miss: see `PredictedWith.published`.
        """
        at = event.at
        yield Call(learn_interval, (self.plain, at.prediction, self._sizes, at.y, ends))
        if self.scale is not None:
            yield self.scale.learning(event)

    def expecting(self, event: Observation) -> Iterable[Step]:
        """Yield the call that computes the errors expected at the event just predicted."""
        if self.scale is not None:
            yield self.scale.expecting(event)

    @property
    def is_sound(self) -> bool:
        """Whether the errors expected are finite."""
        return all(map(math.isfinite, self._sizes.tolist()))

    def published(self, prediction: float) -> Vector:
        """Return the ends around the prediction, by level, (levels, 2), as `around` has them.

        Those of levels of which the errors so far have no quantile are nan.
        """
        ends = np.full((len(LEVELS), 2), np.nan)
        n = self.record[0] - 1.0
        if n >= 1.0:
            intervals(self.plain, prediction, self._sizes, ends)
            if not has_quantile(n, LEVELS[-1]):
                few = [not has_quantile(n, level) for level in LEVELS]
                ends[few] = np.nan
        return ends

    @property
    def sizes(self) -> Vector:
        """The errors expected at the event of the last `expecting`."""
        return self._sizes

    def expect_as_of(self, sizes: Vector) -> None:
        """Learn the next error in units of these sizes, if they are sound."""
        if np.isfinite(sizes).all() and (sizes > 0.0).all():
            self._sizes[:] = sizes

    def reinitialise(self, broken: Collection[str]) -> None:
        """Forget the weights and the misses; and the errors, if these or the record are broken.

        What is expected of errors begins anew if it is broken.
        """
        own = {name for name in broken if not name.startswith("scale.")}
        if own != set(broken):
            assert self.scale is not None
            self.scale.begin()
        if not own:
            return
        self.rules[:] = 0.0
        self.tallies[:] = 0.0
        if not {"errors", "ratios", "record"}.isdisjoint(own):
            self.errors[:] = 0.0
            self.ratios[:] = 0.0
            self.record[:] = 0.0
