"""Wrappers that let a forecaster learn a change, or a multiple of the level, of its target."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.learners.checks import weight_keyword
from iln_stream.learners.explaining import Explanation, explain_one
from iln_stream.learners.restoring import RestorableLearner, restorable
from iln_stream.state import StateDict


class OtherTarget(RestorableLearner, base.Regressor):
    """Lets a regressor learn the target as seen from a number of the event, its origin.

    `column` is the input with the present value of the series.
    """

    def __init__(self, regressor: base.Regressor, column: str) -> None:
        super().__init__()
        self.regressor = regressor
        self.column = column

    def _origin(self, x: Mapping[Any, float]) -> float:
        """Return the number from which the regressor sees the target of an event."""
        raise NotImplementedError

    def _inputs(self, x: Mapping[Any, float], origin: float) -> Mapping[Any, float]:
        """Return the inputs of the regressor."""
        return x

    def _back(self, value: float, origin: float) -> float:
        """Return the target of which the regressor learns or predicts this value."""
        raise NotImplementedError

    def _seen(self, y: float, origin: float) -> float | None:
        """Return what the regressor learns of a target; None: nothing."""
        raise NotImplementedError

    def _learned(self, y: float) -> None:
        """Note a label that was learned."""

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return the prediction of the later value."""
        with self._turn:
            origin = self._origin(x)
            return self._back(float(self.regressor.predict_one(self._inputs(x, origin))), origin)

    def predict_token(self, x: Mapping[Any, float]) -> tuple[float, NDArray[np.float64]]:
        """Return the prediction, and a token for `learn_token`.

        The token has the origin and, after it, the regressor's token, if it makes any.
        """
        with self._turn:
            origin, inner = self._origin(x), np.zeros(0)
            inputs = self._inputs(x, origin)
            if hasattr(self.regressor, "predict_token"):
                value, inner = self.regressor.predict_token(inputs)
            else:
                value = self.regressor.predict_one(inputs)
            return self._back(float(value), origin), np.concatenate([[origin], inner])

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
            When what the regressor should learn is not a finite number, or w is no weight; and as
            of the regressor. Nothing is learned then.

        """
        weight = weight_keyword(w)
        with self._turn:
            origin = self._origin(x)
            if (seen := self._seen(y, origin)) is not None:
                self.regressor.learn_one(self._inputs(x, origin), seen, **weight)
            self._learned(float(y))

    def learn_token(self, x: Mapping[Any, float], token: Any, y: float, w: float = 1.0) -> None:
        """Learn that y is the later value, by the token of its prediction.

        x is as it was predicted, and w as of `learn_one`.

        Raises
        ------
        ValueError
            As of `learn_one`, and when the token is that of another learner.

        """
        weight = weight_keyword(w)
        numbers = np.asarray(token, np.float64)
        late: Any = getattr(self.regressor, "learn_token", None)
        if numbers.ndim != 1 or not len(numbers) or (late is None and len(numbers) > 1):
            raise ValueError("the token is that of another learner")
        with self._turn:
            origin = float(numbers[0])
            if (seen := self._seen(y, origin)) is not None:
                inputs = self._inputs(x, origin)
                if late is None:
                    self.regressor.learn_one(inputs, seen, **weight)
                else:
                    late(inputs, numbers[1:], seen, **weight)
            self._learned(float(y))

    @property
    def predict_interval(self) -> Callable[..., tuple[float, float]]:
        """The regressor's `predict_interval(x, level)`, of the later value; if it has one."""
        inner: Any = self.regressor.predict_interval

        def predict_interval(x: Mapping[Any, float], level: float = 0.9) -> tuple[float, float]:
            with self._turn:
                origin = self._origin(x)
                low, high = inner(self._inputs(x, origin), level)
                return self._back(low, origin), self._back(high, origin)

        return predict_interval

    @property
    def predict_quantiles_one(self) -> Callable[[Mapping[Any, float]], dict[float, float]]:
        """The regressor's `predict_quantiles_one(x)`, of the later value; if it has one."""
        inner: Any = self.regressor.predict_quantiles_one

        def predict_quantiles_one(x: Mapping[Any, float]) -> dict[float, float]:
            with self._turn:
                origin = self._origin(x)
                found = inner(self._inputs(x, origin))
                return {level: self._back(value, origin) for level, value in found.items()}

        return predict_quantiles_one


@restorable
class ChangeOfTarget(OtherTarget):
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
        super().__init__(regressor, column)
        self._last = 0.0

    @property
    def background(self) -> Callable[..., list[dict[Any, float]]]:
        """The regressor's `background(n)`; if it has one."""
        inner: Any = self.regressor
        found: Callable[..., list[dict[Any, float]]] = inner.background
        return found

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

    def _origin(self, x: Mapping[Any, float]) -> float:
        return float(x.get(self.column, self._last))

    def _back(self, value: float, origin: float) -> float:
        return origin + value

    def _seen(self, y: float, origin: float) -> float:
        return _finite(float(y) - origin, y, "minus the present value", origin)

    def _learned(self, y: float) -> None:
        self._last = y

    def state(self) -> StateDict:
        """Return the last label and the regressor's state; StateError if that can't be saved."""
        with self._turn:
            return self._write_state(last=self._last)

    def restore(self, state: StateDict) -> None:
        with self._turn:
            (self._last,) = self._read_state(state, "last")

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model  # imports all of scipy.stats, which takes a second

        yield {"regressor": linear_model.LinearRegression(), "column": "a"}


@restorable
class RatioToLevel(OtherTarget):
    """Lets a regressor learn several series in multiples of the level of each.

    A series of about 10 and one of about 1,000 are the same to it. Each event has the level of its
    series as an input, of which the regressor gets the logarithm. It gets the asinh of the values
    of the series divided by the level, at most 1,000: factors, such as those of a weekday, add up,
    and zeros do no harm. It learns the later value in the same way; predictions and intervals are
    of the value. A mean on that scale is less than that of skewed values. While the level is 0, as
    all values so far were, 0 is predicted and nothing is learned.

    Parameters
    ----------
    regressor
        The regressor, or pipeline ending in one, that learns the ratio.
    column
        Name of the input with the present value. Inputs whose name begins with it and a dot, such
        as its lags, are values of the series, too.
    level
        Name of the input with the level, at least 0. If it is missing, the size of the present
        value takes its place.

    Examples
    --------
    >>> from river import dummy, stats
    >>> from iln_stream import RatioToLevel
    >>> model = RatioToLevel(dummy.StatisticRegressor(stats.Mean()), "sold", "sold.level")
    >>> for level in (10.0, 1000.0):
    ...     model.learn_one({"sold": level, "sold.level": level}, 1.5 * level)
    >>> round(model.predict_one({"sold": 300.0, "sold.level": 200.0}), 6)
    300.0

    """

    state_version = 2

    def __init__(self, regressor: base.Regressor, column: str, level: str) -> None:
        super().__init__(regressor, column)
        self.level = level

    def _origin(self, x: Mapping[Any, float]) -> float:
        return abs(float(x.get(self.level, x.get(self.column, 0.0))))

    def _inputs(self, x: Mapping[Any, float], origin: float) -> Mapping[Any, float]:
        start = f"{self.column}."
        inputs = dict(x)
        for name, value in x.items():
            if name == self.column or (isinstance(name, str) and name.startswith(start)):
                inputs[name] = _ratio(value, origin)
        if origin and self.level in x:
            inputs[self.level] = math.log(origin)
        return inputs

    def _back(self, value: float, origin: float) -> float:
        if math.isfinite(value):  # what is broken remains so
            value = math.sinh(max(-_MOST, min(_MOST, value)))
        return value * origin

    def _seen(self, y: float, origin: float) -> float | None:
        return _ratio(float(y), origin) if origin else None

    @property
    def explain_one(self) -> Callable[..., Explanation]:
        """As the regressor's `explain_one(x, background)`, in y's units; if it has one.

        Events of a background are those of any series, by their ratios to their levels.
        """
        inner: Any = self.regressor
        _ = inner.explain_one, inner.background

        def explain(
            x: Mapping[Any, float], background: Iterable[Mapping[Any, float]] | None = None
        ) -> Explanation:
            with self._turn:
                origin = self._origin(x)
                inputs = self._inputs(x, origin)
                if background is None:
                    background = inner.background() or [inputs]
                else:
                    background = [self._inputs(each, self._origin(each)) for each in background]
                of_value: Any = SimpleNamespace(
                    predict_one=lambda each: self._back(float(inner.predict_one(each)), origin)
                )
                return explain_one(of_value, inputs, background)

        return explain

    def state(self) -> StateDict:
        """Return the regressor's state; StateError if it can't be saved."""
        with self._turn:
            return self._write_state()

    def restore(self, state: StateDict) -> None:
        with self._turn:
            self._read_state(state)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model

        yield {"regressor": linear_model.LinearRegression(), "column": "a", "level": "b"}


def _ratio(value: float, level: float) -> float:
    """Return the asinh of a value in multiples of a level."""
    return max(-_MOST, min(_MOST, math.asinh(value / level))) if level else 0.0


_MOST = math.asinh(1_000.0)
"""A ratio is at most so large: the first values of a series may be tiny."""


def _finite(seen: float, y: float, done: str, origin: float) -> float:
    if not math.isfinite(seen):
        raise ValueError(f"y = {y!r} {done} {origin!r} must be a finite number")
    return seen
