"""Pictures of predictions, their errors, and the shares of inputs and experts."""

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import IlnError
from iln_stream.records import Prediction, read_prediction


def drawing() -> ModuleType:
    """Return the module `figure`, which imports matplotlib.

    Raises
    ------
    ImportError
        When matplotlib is missing.

    """
    try:
        from iln_stream import figures as figure
    except ModuleNotFoundError as error:
        raise ImportError(
            "plots need matplotlib: pip install 'iln-stream[plot]'", name="matplotlib"
        ) from error
    return figure


_PERIODS = {"label of a day before": 86_400.0, "label of a week before": 7 * 86_400.0}

_KEYS = ("y_pred", "y", "intervals", "probabilities", "time")
"""What a row may have; the names are those of the service's messages."""


class Row(NamedTuple):
    """One prediction."""

    # y_pred, y: the prediction and the label: numbers or classes; None: unknown
    y_pred: Any
    y: Any
    intervals: Mapping[float, tuple[float, float]]  # lower and upper bound by level
    p: float | None  # probability of the class `y_pred`; None of a number
    time: float | None  # POSIX seconds, of the event or of what is forecast
    horizon: str | None = None  # how far ahead, of a forecast
    # stream, partition and offset of the event, if it is a message
    place: tuple[str, int, int] | None = None
    ahead: float = 0.0  # seconds from the event to what is forecast; inf if not known

    @property
    def is_class(self) -> bool:
        """Whether it predicts a class."""
        return self.p is not None or isinstance(self.y_pred, bool | str)


def read_rows(source: str | Path | Iterable[Any]) -> Iterator[Row]:
    """Yield the rows of a file (`-`: standard input), or of an iterable; a repeat only once.

    A repeat is a message with the place and horizon of an earlier one, such as a run writes after a
    crash. The last line of a file is left out if it is not complete, as while a run writes it.

    Raises
    ------
    IlnError
        When the file can't be read, or something is not a prediction.

    """
    found = _messages(source) if isinstance(source, str | Path) else map(_row, source)
    seen = set()
    for row in found:
        if row.place is not None:
            if (row.place, row.horizon) in seen:
                continue
            seen.add((row.place, row.horizon))
        yield row


def _messages(path: str | Path) -> Iterator[Row]:
    try:
        with sys.stdin.buffer if str(path) == "-" else Path(path).open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    yield _row_of_message(read_prediction(line))
                except ValueError as error:
                    if not line.endswith(b"\n"):
                        return
                    raise IlnError(
                        f"{path}, line {number} is not a prediction: give a file that a run wrote "
                        'with predictions = "FILE"'
                    ) from error
    except OSError as error:
        raise IlnError(f"can't read {path}: {error.strerror}") from error


def _row(given: Any) -> Row:
    if isinstance(given, Prediction):
        return _row_of_message(given)
    if not isinstance(given, Mapping) or "y_pred" not in given:
        raise IlnError(
            f"a row must be a dict with y_pred and y, not {given!r:.80}; it may also have "
            "intervals, probabilities and time"
        )
    if unknown := set(given) - set(_KEYS):
        raise IlnError(f"a row has {', '.join(_KEYS)}, but not {', '.join(map(str, unknown))}")
    y_pred, y, probabilities = given["y_pred"], given.get("y"), given.get("probabilities")
    return Row(
        y_pred,
        None if _is_missing(y) else y,
        {float(level): bounds for level, bounds in (given.get("intervals") or {}).items()},
        None if probabilities is None else float(probabilities.get(y_pred, 0.0)),
        _seconds(given.get("time")),
    )


def _is_missing(y: Any) -> bool:
    """Whether y is how pandas says unknown: nan, NaT or NA (whose comparisons are NA again)."""
    return type(y).__name__ == "NAType" or bool(y != y)


def _seconds(time: Any) -> float | None:
    if isinstance(time, datetime):
        if time.tzinfo is None:
            raise IlnError(
                f"time {time} has no time zone: give one, as in time.replace(tzinfo=timezone.utc)"
            )
        return time.timestamp()
    if time is None or (isinstance(time, Real) and not isinstance(time, bool)):
        return None if time is None else float(time)
    raise IlnError(f"time must be a datetime or POSIX seconds, not {time!r:.80}")


def _row_of_message(message: Prediction) -> Row:
    place = message.stream, message.partition, message.offset
    p = None
    if message.probabilities is not None:
        label = message.y_pred
        p = next((e.p for e in message.probabilities if _same(e.label, label)), 0.0)
    ahead = 0.0 if message.horizon is None else math.inf
    if message.horizon_time is not None and message.time is not None:
        ahead = message.horizon_time - message.time
    return Row(
        message.y_pred,
        message.y,
        {float(level): bounds for level, bounds in (message.intervals or {}).items()},
        p,
        message.time if message.horizon_time is None else message.horizon_time,
        message.horizon,
        place,
        ahead,
    )


def _same(a: Any, b: Any) -> bool:
    """Whether two classes are the same one: true and 1 are two."""
    return type(a) is type(b) and bool(a == b)


Vector = NDArray[np.float64]


def errors_of_running_mean(y: Vector) -> Vector:
    """Return the absolute errors (n,) of predicting each label by the mean of those before it.

    The first one is predicted as 0. No label may be nan.

    Examples
    --------
    >>> errors_of_running_mean(np.array([4.0, 6.0, 2.0])).tolist()
    [4.0, 2.0, 3.0]

    """
    means = np.cumsum(y) / np.arange(1, len(y) + 1)
    return np.abs(y - np.concatenate(([0.0], means[:-1]))[: len(y)])


def errors_of_label_before(y: Vector, time: Vector, seconds: float, otherwise: Vector) -> Vector:
    """Return the absolute errors (n,) of predicting each label by that of so many seconds before.

    Where there is none, the error is `otherwise`.

    Examples
    --------
    >>> y, time, others = np.array([4.0, 6.0, 3.0]), np.array([0.0, 60.0, 120.0]), np.full(3, 9.0)
    >>> errors_of_label_before(y, time, 120.0, others).tolist()
    [9.0, 9.0, 1.0]

    """
    found = dict(zip(time.tolist(), y.tolist(), strict=True))
    before = np.array([found.get(t - seconds, np.nan) for t in time.tolist()])
    return np.where(np.isnan(before), otherwise, np.abs(y - before))


def errors_of_commonest_class(y: Sequence[Any]) -> Vector:
    """Return 1 (n,) where a label is not the class that was most frequent before it, else 0.

    Examples
    --------
    >>> errors_of_commonest_class(["a", "a", "b", "a"]).tolist()
    [1.0, 0.0, 1.0, 0.0]

    """
    counts: Counter[tuple[type, Any]] = Counter()
    errors = np.ones(len(y))
    commonest = None
    for i, label in enumerate(y):
        key = type(label), label  # true and 1 are two classes
        errors[i] = key != commonest
        counts[key] += 1
        if commonest is None or counts[key] > counts[commonest]:
            commonest = key
    return errors


def mean_so_far(errors: Vector) -> Vector:
    """Return the mean of the errors up to each one, (n,)."""
    return np.cumsum(errors) / np.arange(1, len(errors) + 1)


def mean_of_latest(errors: Vector, window: int) -> Vector:
    """Return the mean of the last `window` errors at each one, (n,); nan before so many.

    Examples
    --------
    >>> mean_of_latest(np.array([1.0, 3.0, 5.0]), 2).tolist()
    [nan, 2.0, 4.0]

    """
    means = np.full(len(errors), np.nan)
    if len(errors) >= window:
        sums = np.lib.stride_tricks.sliding_window_view(errors, window).mean(axis=-1)
        means[window - 1 :] = sums
    return means


class PredictionColumns(NamedTuple):
    """Predictions of one stream, in the order in which they were made; nan is unknown."""

    classes: bool  # whether classes were predicted
    y_pred: Vector  # (n,), the predictions; of classes the probability of the predicted class
    y: Vector  # (n,), the labels; of classes 1 where the prediction was right, else 0
    # low, high: (n,), the ends of the intervals
    low: Vector
    high: Vector
    level: float | None  # their level; None: there are none
    time: Vector  # (n,), POSIX seconds
    labelled: Any  # (m,), the indices of the predictions with a label
    # errors, baseline_errors: (m,), the absolute errors of these and of the baseline; of classes 1
    # where the prediction, or the commonest class so far, was wrong, else 0
    errors: Vector
    baseline_errors: Vector
    # The best of: the mean so far; the last value, but not of forecasts, as it is not known; the
    # labels of the same time a day or a week before, the mean where there is none.
    baseline: str

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
) -> PredictionColumns:
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
        # The probability of the predicted class: 1 if the classifier has none.
        p = [1.0 if row.p is None else row.p for row in rows]
        y_pred = np.where([row.y_pred is None for row in rows], 0.0, p)
        y = np.array([np.nan if row.y is None else float(row.y_pred == row.y) for row in rows])
        baselines = {
            "commonest class so far": errors_of_commonest_class([rows[i].y for i in labelled])
        }
        errors = 1.0 - y[labelled]
    else:
        y_pred = _numbers([row.y_pred for row in rows], "y_pred")
        y = _numbers([row.y for row in rows], "y")
        known, at = y[labelled], time[labelled]
        baselines = {"mean so far": errors_of_running_mean(known)}
        if rows[0].horizon is None:
            baselines["last value"] = np.abs(np.diff(known, prepend=0.0))
        if len(set(at)) == len(at):  # of several series, one time has several labels
            for name, period in _PERIODS.items():
                if all(row.ahead <= period for row in rows):
                    others = baselines["mean so far"]
                    baselines[name] = errors_of_label_before(known, at, period, others)
        errors = np.abs(y - y_pred)[labelled]
    name = min(baselines, key=lambda each: baselines[each].sum())
    return PredictionColumns(
        classes, y_pred, y, low, high, used, time, labelled, errors, baselines[name], name
    )


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


def plot_relevance(model: Any, *, most: int = 12, figure: Any = None) -> Any:
    """Draw how far each input moves a model's predictions.

    Parameters
    ----------
    model
        A learner with an attribute `relevance`, such as `InfiniteLayerRegressor`, also behind
        scalers or within wrappers.
    most
        Inputs with bars of their own; the others have one bar together.
    figure
        A figure or subfigure of matplotlib to draw in; by default a new one.

    Returns
    -------
    figure
        Save it by `figure.savefig("picture.png")`; a notebook shows it.

    Raises
    ------
    IlnError
        When the model has no relevance, or has learned nothing yet.
    ImportError
        When matplotlib is missing.

    Examples
    --------
    >>> from river.datasets import synth
    >>> from iln_stream import InfiniteLayerRegressor, plot_relevance
    >>> model = InfiniteLayerRegressor("fast", seed=1)
    >>> for x, y in synth.Friedman(seed=1).take(1000):
    ...     model.learn_one(x, y)
    >>> (axes,) = plot_relevance(model, most=5).axes
    >>> [label.get_text() for label in axes.get_yticklabels()][-1]
    '5 others'

    """
    label = "share in how far inputs move predictions"
    return _plot_shares(model, "relevance", label, most, figure)


def plot_weights(model: Any, *, most: int = 12, figure: Any = None) -> Any:
    """Draw the weight of each expert in a model's prediction.

    As `plot_relevance`, of a learner with an attribute `expert_weights`.

    Examples
    --------
    >>> from iln_stream import InfiniteLayerRegressor, plot_weights
    >>> model = InfiniteLayerRegressor("fast", seed=1)
    >>> for t in range(100):
    ...     model.learn_one({"hour": t % 24}, float(t % 24))
    >>> (axes,) = plot_weights(model).axes
    >>> {label.get_text() for label in axes.get_yticklabels()} == set(model.expert_weights)
    True

    """
    return _plot_shares(model, "expert_weights", "weight in the prediction", most, figure)


def _plot_shares(model: Any, name: str, meaning: str, most: int, figure: Any) -> Any:
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise IlnError(f"most must be a number of bars, at least 1, not {most!r}")
    kit = drawing()
    shares = _shares(model, name)
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    bars = [(str(key), share, kit.BLUE) for key, share in ordered[:most]]
    if others := [share for _, share in ordered[most:]]:
        bars.append((f"{len(others)} others", sum(others), kit.GREY))
    labels, widths, colours = zip(*bars, strict=True)
    figure = kit.new_figure(7.2, 1.0 + 0.27 * len(bars)) if figure is None else figure
    axes = figure.subplots()
    drawn = axes.barh(range(len(bars)), widths, color=colours)
    axes.set_yticks(range(len(bars)), labels)
    texts = [f"{each:.2f}" if each >= 0.005 or not each else "< 0.01" for each in widths]
    axes.bar_label(drawn, texts, padding=3, fontsize="small")
    axes.set(xlabel=f"{meaning} (all sum to 1)", xlim=(0.0, 1.12 * max(widths)))
    axes.invert_yaxis()  # the largest above
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    return figure


def _shares(model: Any, name: str) -> Mapping[Any, float]:
    from iln_stream.learners.introspection import find_with  # loads the learners

    learner = find_with(name, model)
    if learner is None:
        raise IlnError(
            f"{type(model).__name__} has no {name}: give an InfiniteLayerRegressor, an "
            "InfiniteLayerClassifier, or a learner of your own that has it, a dict of shares"
        )
    shares: Mapping[Any, float] = getattr(learner, name)
    if not sum(shares.values()) > 0.0:
        raise IlnError(f"the {type(learner).__name__} has learned nothing yet, so it has no {name}")
    return shares


_FROM_LABEL = 20
"""Means of fewer errors are too noisy to show."""

_MOST_POINTS = 1000
"""Points of a curve: more would not be seen, and make a vector graphic large."""


def plot_predictions(
    rows: str | Path | Iterable[Any],
    *,
    level: float | None = None,
    last: int = 256,
    window: int = 100,
    against: str = "event",
    horizon: str | int | None = None,
    target: str = "y",
    unit: str = "",
    figure: Any = None,
) -> Any:
    """Draw predictions with intervals and labels over time, and below them the errors.

    The upper panel has the latest predictions. The lower one has the mean absolute error so far
    and that of the latest labels, beside the error of predicting the mean of all labels so far, the
    last one, or that of the same time a day or a week before, whichever is best. Of classes, the
    panels have the probability of the predicted class, and the share of wrong classes.

    Parameters
    ----------
    rows
        A file of predictions, as `iln-stream run --predictions FILE` writes it, or rows in the
        order in which they were predicted. A row is a message (`iln_stream.records.Prediction`)
        or a dict with `y_pred` and `y` (None: not known yet), and, if they are known, `intervals`
        (lower and upper end by level), `probabilities` (by class) and `time` (a `datetime` with a
        time zone, or POSIX seconds).
    level
        The intervals to draw, such as 0.9; by default those of the highest level.
    last
        Number of predictions in the upper panel.
    window
        Number of labels over which the error of the latest ones is a mean.
    against
        What the horizontal axes show: the number of the `"event"`, or its `"time"`.
    horizon
        Of a file with forecasts of several horizons, which one to draw, such as 24 or `"24h"`.
    target
        Name of the target, for the axes.
    unit
        Its unit.
    figure
        A figure or subfigure of matplotlib to draw in; by default a new one.

    Returns
    -------
    figure
        Save it by `figure.savefig("picture.png")`; a notebook shows it.

    Raises
    ------
    IlnError
        When the file can't be read, a row is no prediction, or an argument does not fit them.
    ImportError
        When matplotlib is missing.

    Examples
    --------
    >>> from river import datasets
    >>> from iln_stream import InfiniteLayerRegressor, plot_predictions
    >>> model, rows = InfiniteLayerRegressor("fast", seed=1), []
    >>> for x, y in datasets.TrumpApproval().take(300):
    ...     y_pred, interval = model.predict_one(x), model.predict_interval(x, 0.9)
    ...     rows.append({"y_pred": y_pred, "y": y, "intervals": {0.9: interval}})
    ...     model.learn_one(x, y)
    >>> figure = plot_predictions(rows, target="approval", unit="%")
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['approval (%)', 'mean absolute error (%)']

    """
    _check(last=last, window=window)
    if against not in ("event", "time"):
        raise IlnError(f'against = {against!r}: give "event" or "time"')
    kit = drawing()
    columns = read_columns(rows, level, horizon)
    if against == "time" and np.isnan(columns.time).any():
        raise IlnError('against = "time": not all predictions have a time; use "event"')
    figure = kit.new_figure(7.2, 5.0) if figure is None else figure
    upper, lower = figure.subplots(2, 1, height_ratios=(3, 2))
    shown = np.arange(max(0, len(columns.y_pred) - last), len(columns.y_pred))
    if against == "time":
        shown = shown[np.argsort(columns.time[shown], kind="stable")]
        at, axis = (columns.time * 1e6).astype("datetime64[us]"), "time (UTC)"
        for axes in (upper, lower):
            kit.short_dates(axes)
    else:
        at, axis = np.arange(1, len(columns.y_pred) + 1), "event"
    x = at[shown]
    lower.set_xlabel(axis)
    named = f"{target} ({unit})" if unit else target
    if columns.classes:
        _draw_classes(kit, upper, columns, shown, x)
        upper.set_ylabel("probability of the predicted class")
        lower.set_ylabel("share of wrong classes")
    else:
        _draw_numbers(kit, upper, columns, shown, x)
        upper.set_ylabel(named)
        lower.set_ylabel(f"mean absolute error ({unit})" if unit else "mean absolute error")
    if len(shown) < len(columns.y_pred):
        axis += f" (the latest {len(shown):,} of {len(columns.y_pred):,} predictions)"
    upper.set_xlabel(axis)
    _draw_errors(kit, lower, columns, window, at)
    return figure


def _check(**counts: Any) -> None:
    for name, count in counts.items():
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise IlnError(f"{name} must be a number of predictions, at least 1, not {count!r}")


def _draw_numbers(kit: Any, axes: Any, columns: PredictionColumns, shown: Any, x: Any) -> None:
    if columns.level is not None:
        label = f"{100 * columns.level:g} % interval"
        if not np.isnan(columns.coverage):
            label += f" (has contained {100 * columns.coverage:.1f} % of the labels)"
        low, high = columns.low[shown], columns.high[shown]
        axes.fill_between(x, low, high, color=kit.SKY, alpha=0.35, linewidth=0, label=label)
    axes.plot(x, columns.y_pred[shown], color=kit.BLUE, linewidth=1.6, label="prediction")
    marks = {"linestyle": "", "marker": "o", "markersize": 2.5, "color": kit.BLACK}
    axes.plot(x, columns.y[shown], **marks, label="label")
    _finish(axes)


def _draw_classes(kit: Any, axes: Any, columns: PredictionColumns, shown: Any, x: Any) -> None:
    right, p = columns.y[shown], columns.y_pred[shown]
    for label, which, colour, marker in (
        ("right", right == 1.0, kit.BLUE, "."),
        ("wrong", right == 0.0, kit.VERMILION, "x"),
        ("no label yet", np.isnan(right), kit.GREY, "+"),
    ):
        if which.any():
            axes.plot(x[which], p[which], linestyle="", marker=marker, color=colour, label=label)
    axes.set_ylim(-0.03, 1.03)
    _finish(axes)


def _draw_errors(kit: Any, axes: Any, columns: PredictionColumns, window: int, at: Any) -> None:
    if len(columns.labelled) < 2:
        axes.text(0.5, 0.5, "no labels, so no errors", ha="center", transform=axes.transAxes)
        axes.set(xticks=[], yticks=[])
        return
    baseline = f"if the {columns.baseline} were predicted"
    curves = [
        (f"over the latest {window:,}", mean_of_latest(columns.errors, window), kit.SKY, "-", 1.0),
        ("over all so far", mean_so_far(columns.errors), kit.BLUE, "-", 2.0),
        (baseline, mean_so_far(columns.baseline_errors), kit.GREY, "--", 1.4),
    ]
    begin = min(_FROM_LABEL, len(columns.labelled) // 2)
    points = np.unique(np.linspace(begin, len(columns.labelled) - 1, _MOST_POINTS).astype(int))
    lowest = np.inf
    for label, means, colour, dashes, width in curves:
        means = means[points]
        if not np.isnan(means).all():
            x = np.maximum.accumulate(at)[columns.labelled[points]]  # partitions come in turn
            axes.plot(x, means, color=colour, linestyle=dashes, linewidth=width, label=label)
            lowest = min(lowest, np.nanmin(means))
    if columns.classes or lowest <= 0.0:
        axes.set_ylim(bottom=0.0)
    else:
        kit.log_scale(axes)
    _finish(axes)


def _finish(axes: Any) -> None:
    axes.grid(alpha=0.3)
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, fontsize="small", frameon=False
    )
