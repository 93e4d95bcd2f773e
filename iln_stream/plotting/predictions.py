"""Draws predictions, their intervals, the labels and the errors."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from iln_stream.errors import IlnError
from iln_stream.plotting.columns import Columns, read_columns
from iln_stream.plotting.errors import mean_of_latest, mean_so_far
from iln_stream.plotting.needed import drawing

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
    and that of the latest labels, beside the error of predicting the mean of all labels so far. Of
    classes, the panels have the probability of the predicted class, and the share of wrong classes.

    Parameters
    ----------
    rows
        A file of predictions, as `iln-stream run --predictions FILE` writes it, or rows in the
        order in which they were predicted. A row is a message (`iln_stream.events.Prediction`) or a
        dict with `y_pred` and `y` (None: not known yet), and, if they are known, `intervals`
        (lower and upper end by level), `probabilities` (by class) and `time` (a `datetime` with a
        time zone, or POSIX seconds).
    level
        The intervals to draw, such as .9; by default those of the highest level.
    last
        Number of predictions in the upper panel.
    window
        Number of labels over which the error of the latest ones is a mean.
    against
        What the upper panel's horizontal axis shows: the number of the `"event"`, or its `"time"`.
    horizon
        Of a file with forecasts of several horizons, which one to draw, such as 24 or `"24h"`.
    target, unit
        Name of the target and its unit, for the axes.
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
        x = (columns.time[shown] * 1e6).astype("datetime64[us]")
        axis = "time (UTC)"
    else:
        x = shown + 1
        axis = "event"
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
    _draw_errors(kit, lower, columns, window)
    return figure


def _check(**counts: Any) -> None:
    for name, count in counts.items():
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise IlnError(f"{name} must be a number of predictions, at least 1, not {count!r}")


def _draw_numbers(kit: Any, axes: Any, columns: Columns, shown: Any, x: Any) -> None:
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


def _draw_classes(kit: Any, axes: Any, columns: Columns, shown: Any, x: Any) -> None:
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


def _draw_errors(kit: Any, axes: Any, columns: Columns, window: int) -> None:
    axes.set_xlabel("event")
    if len(columns.labelled) < 2:
        axes.text(0.5, 0.5, "no labels, so no errors", ha="center", transform=axes.transAxes)
        axes.set(xticks=[], yticks=[])
        return
    simple = "commonest class" if columns.classes else "mean"
    curves = [
        (f"over the latest {window:,}", mean_of_latest(columns.errors, window), kit.SKY, "-", 1.0),
        ("over all so far", mean_so_far(columns.errors), kit.BLUE, "-", 2.0),
        (
            f"if the {simple} so far were predicted",
            mean_so_far(columns.baseline_errors),
            kit.GREY,
            "--",
            1.4,
        ),
    ]
    begin = min(_FROM_LABEL, len(columns.labelled) // 2)
    points = np.linspace(begin, len(columns.labelled) - 1, _MOST_POINTS).astype(int)
    points = np.unique(points)
    lowest = np.inf
    for label, means, colour, dashes, width in curves:
        means = means[points]
        if not np.isnan(means).all():
            at = columns.labelled[points] + 1
            axes.plot(at, means, color=colour, linestyle=dashes, linewidth=width, label=label)
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
