"""Inputs made of earlier records of the same series, where one stream has several."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from iln_stream.records.time_inputs import Lags, TimeFeatures
from iln_stream.reporting import MetricSpec, kept_keys_metric, key_evictions_metric
from iln_stream.state import StateDict

MOST_SERIES = 10_000
"""Series that are kept; the one whose last record came first is forgotten for a new one."""

SPAN = 50.0
"""Values that a level is a mean of, about. On `benchmarks.series`, errors are larger with 24, with
168 and with all values."""


class Level:
    """Makes an input of the level of a series: the mean size of its latest values.

    The mean is weighted exponentially: after the first values, the latest one has a weight of
    1/50. It is 0 before the first value and while all are 0.

    Parameters
    ----------
    column
        The input with the value.

    Examples
    --------
    >>> from iln_stream.records.series import Level
    >>> level = Level("sold")
    >>> for sold in (10.0, -30.0):
    ...     now = level({"sold": sold})
    ...     level.accept()
    >>> now
    {'sold.level': 20.0}

    """

    def __init__(self, column: str) -> None:
        self.column = column
        self.name = f"{column}.level"
        self.n, self.mean = 0.0, 0.0
        self._now = 0.0, 0.0

    def __call__(self, x: Mapping[str, Any]) -> dict[str, float]:
        """Return the input of an event with these present values, by name."""
        n, mean = self.n, self.mean
        if (value := x.get(self.column)) is not None:
            n = min(n + 1.0, SPAN)
            mean += abs(value) / n - mean / n  # the difference might overflow
        self._now = n, mean
        return {self.name: mean}

    def accept(self) -> None:
        """Take the values of the last call as those of the last event."""
        self.n, self.mean = self._now


class Earlier(NamedTuple):
    """What inputs of a series are made of; None: there are none."""

    time_features: TimeFeatures
    lags: Lags | None
    level: Level | None

    def fresh(self) -> "Earlier":
        """Return the same of a series without earlier records."""
        lags = None if self.lags is None else self.lags.fresh()
        level = None if self.level is None else Level(self.level.column)
        return Earlier(self.time_features.fresh(), lags, level)


class SeriesInputs:
    """Keeps what inputs are made of for each series, in bounded memory."""

    def __init__(self, empty: Earlier) -> None:  # that of a series without earlier records
        self._empty = empty
        self._kept: OrderedDict[tuple[str, ...], Earlier] = OrderedDict()
        self._now: tuple[tuple[str, ...], Earlier] | None = None
        self.n_evicted = 0

    def of(self, key: tuple[str, ...]) -> Earlier:
        """Return what a series has, which is kept once its record is accepted."""
        found = self._kept.get(key)
        if found is None:
            found = self._empty.fresh()
        self._now = key, found
        return found

    def accept(self) -> None:
        """Keep the series of the last record."""
        if self._now is None:
            return
        key, found = self._now
        self._kept[key] = found
        self._kept.move_to_end(key)
        if len(self._kept) > MOST_SERIES:
            self._kept.popitem(last=False)
            self.n_evicted += 1

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the number of series, and of those that were forgotten."""
        return (
            kept_keys_metric(lambda: {("series",): len(self._kept)}),
            key_evictions_metric(lambda: {("series",): self.n_evicted}),
        )

    def state(self) -> StateDict:
        """Return all series, the one whose last record came first at the beginning."""
        kept = self._kept.values()
        return {
            "names": [list(key) for key in self._kept],
            "lasts": [each.time_features.last for each in kept],
            "levels": [[each.level.n, each.level.mean] for each in kept if each.level is not None],
            "lags": [each.lags.state() for each in kept if each.lags is not None],
        }

    def restore(self, state: StateDict, *, levels_only: bool = False) -> None:
        """Continue from a `state()`, also one of other columns; or only with its levels."""
        self._kept.clear()
        names, lasts, levels, lags = (state[each] for each in ("names", "lasts", "levels", "lags"))
        for i, name in enumerate(names):
            self._kept[tuple(name)] = found = self._empty.fresh()
            if found.level is not None and levels:
                found.level.n, found.level.mean = levels[i]
            if levels_only:
                continue
            found.time_features.last = lasts[i]
            if found.lags is not None and lags:
                found.lags.restore(lags[i])
