"""A wrapper that centres and scales the target online into [-1, 1]."""

from collections.abc import Iterator, Mapping
from typing import Any

from river import base

from iln_stream.learners.checks import weight_keyword
from iln_stream.learners.preprocessing.moments import Moments, clipped
from iln_stream.learners.restoring import RestorableLearner, restorable
from iln_stream.state import StateDict


@restorable
class ScaledTarget(RestorableLearner, base.Regressor):
    """Lets a regressor learn (y - mean) / (width sd), clipped to [-1, 1].

    Mean and sd are running and winsorised, so one wild label does no lasting harm. Predictions come
    back in y's units, within mean +- width sd. Before the first label the prediction is 0.

    The scale drifts while it is being learned, and a learner's old coefficients were formed on an
    older scale; Theorem 1 does not cover that.

    Parameters
    ----------
    regressor
        The regressor, or pipeline ending in one, that learns the scaled target.
    width
        Number of standard deviations from the mean that are scaled to 1.

    Examples
    --------
    >>> from iln_stream import ScaledTarget, ShrinkingGradient

    >>> model = ScaledTarget(ShrinkingGradient(seed=1))
    >>> for y in [10.0, 20.0, 30.0]:
    ...     model.learn_one({"a": y / 10}, y)
    >>> model.scaled(20.0), model.scaled(1e9)
    (0.0, 1.0)

    """

    state_version = 2
    always_finite = True

    def __init__(self, regressor: base.Regressor, width: float = 3.0) -> None:
        super().__init__()
        if not width > 0:
            raise ValueError(f"width = {width!r} must be a positive number of standard deviations")
        self.regressor = regressor
        self.width = width
        self._moments = Moments()

    def learn_one(self, x: Mapping[Any, float], y: float, w: float = 1.0) -> None:
        """Add y to the statistics, then train the regressor on the scaled target.

        A weight w other than 1 is passed on to the regressor, which must take one. The statistics
        are of all events alike.
        """
        weight = weight_keyword(w)
        with self._turn:
            self._moments = self._moments.updated(float(y))
            self.regressor.learn_one(x, self.scaled(y), **weight)

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return the regressor's prediction in y's units."""
        with self._turn:
            p = clipped(float(self.regressor.predict_one(x)), 1.0)
            return self._moments.mean + self.width * self._moments.sd * p

    @property
    def moments(self) -> Moments:
        """The label's statistics so far."""
        return self._moments

    def scaled(self, y: float) -> float:
        """Return y on the regressor's scale, in [-1, 1]."""
        moments = self._moments  # immutable: learning replaces them
        sd = moments.sd
        if sd == 0.0:
            return 0.0
        return clipped((y - moments.mean) / (self.width * sd), 1.0)

    def state(self) -> StateDict:
        """Return the statistics and the regressor's state; StateError if that can't be saved."""
        with self._turn:
            return self._write_state(moments=self._moments.state())

    def restore(self, state: StateDict) -> None:
        with self._turn:
            (moments,) = self._read_state(state, "moments")
            self._moments = Moments()
            self._moments.restore(moments)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model  # imports all of scipy.stats, which takes a second

        yield {"regressor": linear_model.LinearRegression()}
