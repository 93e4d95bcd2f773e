"""Predictions as columns, ready to draw."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iln_stream.errors import IlnError
from iln_stream.plotting.errors import Vector, errors_of_commonest_class, errors_of_running_mean
from iln_stream.plotting.rows import Row, read_rows


class Columns(NamedTuple):
    """Predictions of one stream, in the order in which they were made; nan is unknown.

    Parameters
    ----------
    classes
        Whether classes were predicted.
    y_pred
        (n,), the predictions; of classes the probability of the predicted class.
    y
        (n,), the labels; of classes 1 where the prediction was right, else 0.
    low, high
        (n,), the ends of the intervals.
    level
        Their level; None: there are none.
    time
        (n,), POSIX seconds.
    labelled
        (m,), the indices of the predictions with a label.
    errors, baseline_errors
        (m,), the absolute errors of these, and of the running mean; of classes 1 where the
        prediction, or the commonest class so far, was wrong, else 0.

    """

    classes: bool
    y_pred: Vector
    y: Vector
    low: Vector
    high: Vector
    level: float | None
    time: Vector
    labelled: Any
    errors: Vector
    baseline_errors: Vector

    @property
    def coverage(self) -> float:
        """Share of the labels that their intervals contain; nan without any."""
        known = self.labelled[~np.isnan(self.low[self.labelled])]
        if self.classes or not len(known):
            return float("nan")
        y = self.y[known]
        return float(((self.low[known] <= y) & (y <= self.high[known])).mean())


def read_columns(
    source: str | Path | Iterable[Any], level: float | None, horizon: str | int | None
) -> Columns:
    """Return the predictions of a file or of rows as columns; arguments as of `plot_predictions`.

    Raises
    ------
    IlnError
        When there are none, or they can't be drawn as one series.

    """
    rows = _of_horizon(list(read_rows(source)), horizon)
    if not rows:
        raise IlnError("there are no predictions to draw: the file or the list of rows is empty")
    classes = any(row.is_class for row in rows)
    used = _level(rows, level)
    low, high = _interval_ends(rows, used)
    time = _numbers([row.time for row in rows], "time")
    labelled = np.array([i for i, row in enumerate(rows) if row.y is not None], dtype=np.intp)
    if classes:
        y_pred = np.array([_probability(row) for row in rows])
        y = np.array([np.nan if row.y is None else float(_is_right(row)) for row in rows])
        baseline = errors_of_commonest_class([rows[i].y for i in labelled])
        errors = 1.0 - y[labelled]
    else:
        y_pred = _numbers([row.y_pred for row in rows], "y_pred")
        y = _numbers([row.y for row in rows], "y")
        baseline = errors_of_running_mean(y[labelled])
        errors = np.abs(y - y_pred)[labelled]
    return Columns(classes, y_pred, y, low, high, used, time, labelled, errors, baseline)


def _of_horizon(rows: Sequence[Row], horizon: str | int | None) -> Sequence[Row]:
    found = sorted({row.horizon for row in rows if row.horizon is not None})
    if horizon is None:
        if len(found) > 1:
            raise IlnError(
                f"these are forecasts of the horizons {', '.join(found)}: choose one by horizon"
            )
        return rows
    if str(horizon) not in found:
        there = f"of the horizons {', '.join(found)}" if found else "that are no forecasts"
        raise IlnError(f"horizon = {horizon}: these are predictions {there}")
    return [row for row in rows if row.horizon == str(horizon)]


def _level(rows: Sequence[Row], level: float | None) -> float | None:
    """Return the level of the intervals to draw; by default the highest."""
    found = sorted({each for row in rows for each in row.intervals})
    if level is None:
        return found[-1] if found else None
    if level not in found:
        there = f"of the levels {', '.join(f'{each:g}' for each in found)}" if found else "missing"
        raise IlnError(
            f"level = {level:g}: the predictions' intervals are {there}; a run writes those of the "
            f"setting prediction_intervals = [{level:g}]"
        )
    return level


def _interval_ends(rows: Sequence[Row], level: float | None) -> tuple[Vector, Vector]:
    unknown = float("nan"), float("nan")
    ends = [unknown if level is None else row.intervals.get(level, unknown) for row in rows]
    try:
        low, high = np.array(ends, dtype=float).T
    except (TypeError, ValueError) as error:
        raise IlnError("an interval must be two numbers: its lower and its upper end") from error
    return low, high


def _numbers(values: Sequence[Any], name: str) -> Vector:
    for value in values:
        if isinstance(value, str):
            raise IlnError(
                f"{name} is {value!r:.80}, which is no number; of classes, give y_pred as a class, "
                "and its probabilities"
            )
    try:
        return np.array([np.nan if value is None else float(value) for value in values])
    except (TypeError, ValueError) as error:
        raise IlnError(f"{name} must be numbers: {error}") from error


def _probability(row: Row) -> float:
    """Return the probability of the predicted class: 1 if the classifier has none."""
    if row.y_pred is None:
        return 0.0
    return 1.0 if row.p is None else row.p


def _is_right(row: Row) -> bool:
    return bool(row.y_pred == row.y)
