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

    _n_kept = 1
    """Numbers of a token before the regressor's: the origin; of 2, the regressor's prediction."""

    _moves = False
    """Whether the regressor's predictions are moved, and its intervals are not."""

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

    def _shift(self, inputs: Mapping[Any, float], value: float | None = None) -> float:
        """Return what is added to the regressor's prediction, which is this value if given."""
        return 0.0

    def _predicted(self, inputs: Mapping[Any, float], origin: float) -> float:
        """Return the prediction of the later value."""
        value = float(self.regressor.predict_one(inputs))
        return self._back(value + self._shift(inputs, value), origin)

    def _learned(self, y: float, inputs: Any, value: float, seen: float | None, w: float) -> None:
        """Note a label, for which the regressor predicted a value, and what it learned."""

    def _learn(
        self, x: Mapping[Any, float], kept: list[float], y: float, w: float, learn: Any, *token: Any
    ) -> None:
        """Learn that y is the later value, by a token: the numbers kept and the regressor's."""
        weight, inputs, seen = weight_keyword(w), self._inputs(x, kept[0]), self._seen(y, kept[0])
        if seen is not None:
            learn(inputs, *token, seen, **weight)
        self._learned(float(y), inputs, kept[-1], seen, w)

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return the prediction of the later value."""
        with self._turn:
            origin = self._origin(x)
            return self._predicted(self._inputs(x, origin), origin)

    def predict_token(self, x: Mapping[Any, float]) -> tuple[float, NDArray[np.float64]]:
        """Return the prediction, and a token for `learn_token`.

        The token has the numbers that are kept, then the regressor's token, if it makes any.
        """
        with self._turn:
            origin, inner = self._origin(x), np.zeros(0)
            inputs = self._inputs(x, origin)
            if hasattr(self.regressor, "predict_token"):
                value, inner = self.regressor.predict_token(inputs)
            else:
                value = self.regressor.predict_one(inputs)
            y_pred = self._back(float(value) + self._shift(inputs, value), origin)
            return y_pred, np.concatenate([[origin, value][: self._n_kept], inner])

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
        with self._turn:
            kept = [self._origin(x)]
            if self._n_kept > 1:
                kept.append(float(self.regressor.predict_one(self._inputs(x, kept[0]))))
            self._learn(x, kept, y, w, self.regressor.learn_one)

    def learn_token(self, x: Mapping[Any, float], token: Any, y: float, w: float = 1.0) -> None:
        """Learn that y is the later value, by the token of its prediction.

        x is as it was predicted, and w as of `learn_one`.

        Raises
        ------
        ValueError
            As of `learn_one`, and when the token is that of another learner.

        """
        numbers = np.asarray(token, np.float64)
        late: Any = getattr(self.regressor, "learn_token", None)
        surplus = numbers.size - self._n_kept
        if numbers.ndim != 1 or surplus < 0 or (late is None and surplus):
            raise ValueError("the token is that of another learner")
        inner = [] if late is None else [numbers[self._n_kept :]]
        with self._turn:
            kept = numbers[: self._n_kept].tolist()
            self._learn(x, kept, y, w, late or self.regressor.learn_one, *inner)

    @property
    def predict_interval(self) -> Callable[..., tuple[float, float]]:
        """The regressor's `predict_interval(x, level)`, of the later value; if it has one."""
        inner: Any = self.regressor.predict_interval

        def predict_interval(x: Mapping[Any, float], level: float = 0.9) -> tuple[float, float]:
            with self._turn:
                origin = self._origin(x)
                inputs = self._inputs(x, origin)
                low, high = (self._back(end, origin) for end in inner(inputs, level))
                if not self._moves:
                    return low, high
                # Ends that moved with the prediction would not contain their share.
                y_pred = self._predicted(inputs, origin)
                return min(low, y_pred), max(high, y_pred)

        return predict_interval

    @property
    def predict_quantiles_one(self) -> Callable[[Mapping[Any, float]], dict[float, float]]:
        """The regressor's `predict_quantiles_one(x)`, of the later value; if it has one."""
        inner: Any = self.regressor.predict_quantiles_one

        def predict_quantiles_one(x: Mapping[Any, float]) -> dict[float, float]:
            with self._turn:
                origin = self._origin(x)
                inputs = self._inputs(x, origin)
                found = inner(inputs).items()
                return {level: self._back(value, origin) for level, value in found}

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
        if not math.isfinite(seen := float(y) - origin):
            raise ValueError(
                f"y = {y!r} minus the present value {origin!r} must be a finite number"
            )
        return seen

    def _learned(self, y: float, *_: Any) -> None:
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

    A regressor that minimises squares, or forgets within few hours of many series, trusts last
    week's value too little. So a linear regression with Huber's weights moves predictions toward
    the present value, lags and means. Errors of the value count there, and an event counts in
    proportion to its number, as the regressor has to learn first. Intervals and quantiles are those
    of the regressor; an interval is enlarged if it does not contain the prediction.

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
    _n_kept, _moves = 2, True

    def __init__(self, regressor: base.Regressor, column: str, level: str) -> None:
        super().__init__(regressor, column)
        self.level = level
        self._n, self._unit = 0.0, 0.0  # labels learned, and about the last 1,000's mean |error|
        self._columns: list[str] = []
        self._sums = np.zeros((2, 0))  # of the regression: moments, weights, and products (k, k)

    def _origin(self, x: Mapping[Any, float]) -> float:
        return abs(float(x.get(self.level, x.get(self.column, 0.0))))

    def _inputs(self, x: Mapping[Any, float], origin: float) -> Mapping[Any, float]:
        inputs = dict(x)
        for name in filter(self._is_value, x):
            inputs[name] = _ratio(x[name], origin)
        if origin and self.level in x:
            inputs[self.level] = math.log(origin)
        return inputs

    def _is_value(self, name: Any) -> bool:
        return isinstance(name, str) and f"{name}.".startswith(f"{self.column}.")

    def _distances(self, inputs: Mapping[Any, float], value: float) -> NDArray[np.float64]:
        """Return how far the values of the past lie from a prediction; 0: missing."""
        past = np.array([inputs.get(name, value) for name in self._columns])
        return np.minimum(np.maximum((past - value) / self._unit, -_REACH), _REACH)

    def _shift(self, inputs: Mapping[Any, float], value: float | None = None) -> float:
        value = float(self.regressor.predict_one(inputs)) if value is None else value
        if not (self._unit and abs(value) <= _MOST):
            return 0.0
        return self._unit * float(self._sums[1] @ self._distances(inputs, value))

    def _learned(self, y: float, inputs: Any, value: float, seen: float | None, w: float) -> None:
        if seen is None or not abs(value) <= _MOST:
            return
        known = {self.level, *self._columns}
        new = [name for name in inputs if name not in known and self._is_value(name)]
        if new := new[: _MOST_COLUMNS - len(self._columns)]:
            self._columns += new
            self._sums = np.pad(self._sums, (0, len(new)))
        unit, error = self._unit, seen - value
        self._n += 1.0
        if unit:
            moments, weights, products = self._sums[0], self._sums[1], self._sums[2:]
            distances, target = self._distances(inputs, value), error / unit
            left = target - float(weights @ distances)
            error = unit * left
            # Cosh is sinh's derivative: errors are those of the value.
            w *= self._n * math.cosh(min(abs(seen - error), _REACH)) / max(1.0, abs(left))
            moments += w * max(-_REACH, min(_REACH, target)) * distances
            products += w * np.outer(distances, distances)
            penalty = self._n * _PENALTY
            slope = moments - products @ weights - penalty * weights
            if length := float(slope @ slope):  # a step of steepest descent
                weights += slope * (length / float(slope @ products @ slope + penalty * length))
        self._unit += (abs(error) - unit) / min(self._n, 1_000.0)

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
                value: Any = SimpleNamespace(predict_one=lambda each: self._predicted(each, origin))
                return explain_one(value, inputs, background)

        return explain

    def state(self) -> StateDict:
        """Return all that was learned; StateError if the regressor's state can't be saved."""
        with self._turn:
            columns, sums = list(self._columns), self._sums.copy()
            return self._write_state(columns=columns, n=self._n, unit=self._unit, sums=sums)

    def restore(self, state: StateDict) -> None:
        with self._turn:
            columns, n, unit, sums = self._read_state(state, "columns", "n", "unit", "sums")
            self._n, self._unit = n, unit
            self._columns, self._sums = list(columns), np.array(sums)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model

        yield {"regressor": linear_model.LinearRegression(), "column": "a", "level": "b"}


def _ratio(value: float, level: float) -> float:
    return max(-_MOST, min(_MOST, math.asinh(value / level))) if level else 0.0


_MOST = math.asinh(1_000.0)
"""A ratio is at most so large: the first values of a series may be tiny."""

_REACH, _PENALTY, _MOST_COLUMNS = 3.0, 100.0, 256
"""Distances to values of the past are at most so many ordinary errors; what squared weights cost;
and how many such values count, since the time of an event grows with their square."""
