"""Metrics over the events, at a bounded number of points."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from iln_stream.live.rows import cut, number
from iln_stream.reporting import MetricSpec
from iln_stream.state import StateDict

MOST_POINTS = 256
FIRST_STRIDE = 8
MOST_LABELS = 24
"""Values of a label that one metric has curves for: those that came first."""

CURVES = (
    "iln_running_loss",
    "iln_windowed_loss",
    "iln_running_mae",
    "iln_windowed_mae",
    "iln_running_accuracy",
    "iln_windowed_accuracy",
    "iln_baseline_mae",
    "iln_baseline_running_mae",
    "iln_baseline_loss",
    "iln_baseline_running_loss",
    "iln_baseline_accuracy",
    "iln_baseline_running_accuracy",
    "iln_interval_coverage",
    "iln_shrink_frequency",
    "iln_alpha_l1",
    "iln_expert_weight",
    "iln_drift",
    "iln_contender_windowed_error",
    "iln_contender_running_error",
    "iln_contender_evidence_lower",
    "iln_contender_evidence_upper",
    "iln_champion",
)
"""The metrics that have curves. Each is a function of the events alone, not of clocks."""

_Column: TypeAlias = tuple[str, Any]
_Point: TypeAlias = tuple[int, int, tuple[float, ...]]

_NAN = float("nan")


class Curves:
    """Samples metrics at every `stride`-th step; the stride doubles when there are 256 points.

    The points are a function of the steps alone: a run that resumes from `state()` goes on to
    sample at the same steps as one that was never interrupted. One thread may sample while others
    read.

    Attributes
    ----------
    stride : int
        Steps from one point to the next. After it has doubled, only points whose serial number is a
        multiple of it remain.
    due : int
        Serial number of the next step to sample.

    Examples
    --------
    >>> from iln_stream.live import Curves
    >>> from iln_stream.reporting import MetricSpec
    >>> curves = Curves()
    >>> drift = MetricSpec("iln_drift", "gauge", "Of the example.", lambda: 1.5)
    >>> curves.sample(serial=8, events=8, specs=[drift])
    >>> curves.data(after=0)["series"], curves.due
    ({'iln_drift': [1.5]}, 16)

    """

    def __init__(self) -> None:
        self.stride = FIRST_STRIDE
        self.due = FIRST_STRIDE
        # Both are only appended to, or replaced, so that other threads may read them.
        self._columns: dict[_Column, int] = {}
        self._points: list[_Point] = []

    def sample(self, serial: int, events: int, specs: Iterable[MetricSpec]) -> None:
        """Add a point.

        Parameters
        ----------
        serial
            Number of steps so far.
        events
            Number of events that the model has predicted so far.
        specs
            The metrics to read; one that fails has no value at this point.

        """
        columns = self._columns
        values = [_NAN] * len(columns)
        for spec in specs:
            found = read(spec)
            if found is None:
                continue
            name = spec.name
            labelled = {None: found} if isinstance(found, float | int) else found
            for label, value in labelled.items():
                column = columns.get((name, label))
                if column is None:
                    column = self._new_column(name, label)
                    if column is None:
                        continue
                    values += [_NAN] * (column + 1 - len(values))
                if value is not None:
                    values[column] = value
        points = self._points
        points.append((serial, events, tuple(values)))
        if len(points) >= MOST_POINTS:
            self.stride *= 2
            self._points = [point for point in points if point[0] % self.stride == 0]
        self.due = serial - serial % self.stride + self.stride

    def data(self, after: int, last: int | None = None) -> dict[str, Any]:
        """Return the points after a serial number as JSON values; null: the metric had no value.

        `last` is the greatest serial number to return; None: all.

        Whoever has the points up to `after` keeps those whose serial number is a multiple of
        `stride`, and appends these.
        """
        stride, columns = self.stride, list(self._columns)
        points = [
            point
            for point in list(self._points)
            if point[0] > after and (last is None or point[0] <= last)
        ]
        series: dict[str, Any] = {}
        for index, (name, label) in enumerate(columns):
            values = [number(v[index]) if index < len(v) else None for _, _, v in points]
            if label is None:
                series[name] = values
            else:
                series.setdefault(name, {})[cut(label)] = values
        return {
            "stride": stride,
            "serials": [serial for serial, _, _ in points],
            "events": [events for _, events, _ in points],
            "series": series,
        }

    def state(self) -> StateDict:
        """Return all points."""
        n = len(self._columns)
        table = np.full((len(self._points), n), _NAN)
        for row, (_, _, values) in zip(table, self._points, strict=True):
            row[: len(values)] = values
        return {
            "stride": self.stride,
            "due": self.due,
            "columns": [
                [name, None if label is None else str(label)] for name, label in self._columns
            ],
            "serials": [serial for serial, _, _ in self._points],
            "events": [events for _, events, _ in self._points],
            "values": table,
        }

    def restore(self, state: StateDict) -> None:
        """Restore a `state()`."""
        self.stride, self.due = state["stride"], state["due"]
        self._columns = {(name, label): i for i, (name, label) in enumerate(state["columns"])}
        rows: Sequence[Sequence[float]] = state["values"].tolist()
        self._points = [
            (serial, events, tuple(row))
            for serial, events, row in zip(state["serials"], state["events"], rows, strict=True)
        ]

    def _new_column(self, name: str, label: Any) -> int | None:
        """Return the number of a new column, None if the metric has too many."""
        columns = self._columns
        if sum(other == name for other, _ in columns) >= MOST_LABELS:
            return None
        columns[name, label] = column = len(columns)
        return column


def read(spec: MetricSpec) -> float | Mapping[Any, float] | None:
    """Return the value of a metric, None if it can't be read; a scrape warns of that."""
    try:
        return spec.read()
    except Exception:  # a learner's metrics may raise any error
        return None
