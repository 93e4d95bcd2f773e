"""A wrapper that lets a forecaster learn by how much the target changes."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.learners.checks import weight_of_event
from iln_stream.learners.explaining import Explanation, explain_one
from iln_stream.learners.restoring import RestorableLearner, restorable
from iln_stream.state import StateDict


@restorable
class ChangeOfTarget(RestorableLearner, base.Regressor):
    """Lets a regressor learn y minus the present value of a series, and adds it to predictions.

    Use it to forecast a series that grows: the learner has never seen its next values, but changes
    repeat. The label y is a later value of the input `column`. If this input is missing, the last
    learned label replaces it, which in a forecast is the last known value of the series; before the
    first label it is 0.

    Intervals and explanations, if the regressor has any, are those of the later value.

    Parameters
    ----------
    regressor
        The regressor, or pipeline ending in one, that learns the change.
    column
        Name of the input with the present value.

    Examples
    --------
    >>> from river import dummy, stats
    >>> from iln_stream import ChangeOfTarget
    >>> model = ChangeOfTarget(dummy.StatisticRegressor(stats.Mean()), "load")
    >>> for load in (10.0, 20.0, 30.0):
    ...     model.learn_one({"load": load}, load + 2.0)
    >>> model.predict_one({"load": 500.0}), model.predict_one({})
    (502.0, 34.0)

    """

    always_finite = True

    def __init__(self, regressor: base.Regressor, column: str) -> None:
        super().__init__()
        self.regressor = regressor
        self.column = column
        self._last = 0.0

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return the prediction of the later value."""
        with self._turn:
            return self._present(x) + float(self.regressor.predict_one(x))

    def predict_token(self, x: Mapping[Any, float]) -> tuple[float, NDArray[np.float64]]:
        """Return the prediction, and a token for `learn_token`.

        The token has the present value and, after it, the regressor's token, if it makes any.
        """
        with self._turn:
            present, inner = self._present(x), np.zeros(0)
            if hasattr(self.regressor, "predict_token"):
                change, inner = self.regressor.predict_token(x)
            else:
                change = self.regressor.predict_one(x)
            return present + float(change), np.concatenate([[present], inner])

    def learn_one(self, x: Mapping[Any, float], y: float, w: float = 1.0) -> None:
        """Learn that y is the later value.

        Parameters
        ----------
        x, y
            The event.
        w
            Its weight, 0 to 1e6. One other than 1 is passed on to the regressor, which must take w.

        Raises
        ------
        ValueError
            When the change is not a finite number, or w is no weight; and as of the regressor.
            Nothing is learned then.

        """
        weight = _keyword(w)
        with self._turn:
            self.regressor.learn_one(x, _change(y, self._present(x)), **weight)
            self._last = float(y)

    def learn_token(self, x: Mapping[Any, float], token: Any, y: float, w: float = 1.0) -> None:
        """Learn that y is the later value, by the token of its prediction.

        Parameters
        ----------
        x
            As it was predicted.
        token
            That of its prediction.
        y
            The later value.
        w
            Its weight, as of `learn_one`.

        Raises
        ------
        ValueError
            As of `learn_one`, and when the token is that of another learner.

        """
        weight = _keyword(w)
        numbers = np.asarray(token, np.float64)
        late: Any = getattr(self.regressor, "learn_token", None)
        if numbers.ndim != 1 or not len(numbers) or (late is None and len(numbers) > 1):
            raise ValueError("the token is that of another learner")
        with self._turn:
            change = _change(y, float(numbers[0]))
            if late is None:
                self.regressor.learn_one(x, change, **weight)
            else:
                late(x, numbers[1:], change, **weight)
            self._last = float(y)

    @property
    def predict_interval(self) -> Callable[..., tuple[float, float]]:
        """The regressor's `predict_interval(x, level)`, of the later value; if it has one."""
        inner: Any = self.regressor.predict_interval

        def predict_interval(x: Mapping[Any, float], level: float = 0.9) -> tuple[float, float]:
            with self._turn:
                present = self._present(x)
                low, high = inner(x, level)
                return present + low, present + high

        return predict_interval

    @property
    def explain_one(self) -> Callable[..., Explanation]:
        """As the regressor's `explain_one(x, background)`, of the later value; if it has one."""
        inner: Any = self.regressor
        _ = inner.explain_one, inner.background

        def explain(
            x: Mapping[Any, float], background: Iterable[Mapping[Any, float]] | None = None
        ) -> Explanation:
            with self._turn:  # all predictions are of one state
                if background is None:
                    background = inner.background() or [dict(x)]
                return explain_one(self, x, background)

        return explain

    def _present(self, x: Mapping[Any, float]) -> float:
        return float(x.get(self.column, self._last))

    def state(self) -> StateDict:
        """Return the last label and the regressor's state.

        Raises
        ------
        StateError
            When the regressor's state can't be saved; see `state_of`.

        """
        with self._turn:
            return self._write_state(last=self._last)

    def restore(self, state: StateDict) -> None:
        """Go on from a state, the regressor included; see `RestorableLearner.restore`."""
        with self._turn:
            (self._last,) = self._read_state(state, "last")

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model  # imports all of scipy.stats, which takes a second

        yield {"regressor": linear_model.LinearRegression(), "column": "a"}


def _keyword(w: float) -> dict[str, float]:
    """Return the argument that passes a weight on; none for 1."""
    w = weight_of_event(w)
    return {} if w == 1.0 else {"w": w}


def _change(y: float, present: float) -> float:
    change = float(y) - present
    if not math.isfinite(change):
        raise ValueError(f"y = {y!r} minus the present value {present!r} must be a finite number")
    return change
