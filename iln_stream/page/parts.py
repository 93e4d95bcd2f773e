"""Parts of the page's state, each of which knows what has changed since a revision."""

from bisect import bisect_right
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Part(Protocol):
    """One part of the state.

    Revisions are numbered from 1. A browser that has revision 0 has nothing.
    """

    def update(self, value: Any, revision: int) -> None:
        """Take the newest value, which belongs to a new revision."""
        ...

    def since(self, revision: int) -> Any:
        """Return what a browser with an older revision needs; None: nothing."""
        ...


class Whole:
    """A part that is sent whole if it has changed."""

    def __init__(self) -> None:
        self._value: Any = None
        self._changed_at = 0

    def update(self, value: Any, revision: int) -> None:
        """Take the newest value."""
        if value != self._value:
            self._value = value
            self._changed_at = revision

    def since(self, revision: int) -> Any:
        """Return the value if it is newer."""
        return self._value if self._changed_at > revision else None


class Tail:
    """The latest items of a sequence, each sent once.

    Parameters
    ----------
    most
        Number of items to keep.

    """

    def __init__(self, most: int) -> None:
        self.last = 0
        self._items: deque[tuple[int, Mapping[str, Any]]] = deque(maxlen=most)

    def update(self, value: Sequence[Mapping[str, Any]], revision: int) -> None:
        """Take further items; their `serial` numbers increase, and those known are skipped."""
        for item in value:
            if item["serial"] > self.last:
                self.last = item["serial"]
                self._items.append((revision, item))

    def since(self, revision: int) -> Any:
        """Return the newer items."""
        return [item for at, item in self._items if at > revision] or None


class Curves:
    """Curves that grow at their end, of which only new points are sent.

    When the learner thins them out, or adds a series, they are sent whole. Numbers are rounded to
    six digits, more than a screen shows.
    """

    def __init__(self) -> None:
        self._stride = 0
        self._serials: list[int] = []
        self._events: list[int] = []
        self._came_at: list[int] = []  # revision of each point
        self._series: dict[tuple[str, ...], list[float | None]] = {}
        self._whole_at = 0  # revision since which points were only added

    def update(self, value: Mapping[str, Any], revision: int) -> None:
        """Take further points; of those known, multiples of the learner's stride remain."""
        if value["stride"] != self._stride:
            self._thin_out(value["stride"])
            self._whole_at = revision
        last = self._serials[-1] if self._serials else 0
        new = [i for i, serial in enumerate(value["serials"]) if serial > last]
        series = dict(_flat(value["series"]))
        for name in series:
            if name not in self._series:
                self._series[name] = [None] * len(self._serials)
                self._whole_at = revision
        for name, points in self._series.items():
            further = series.get(name)
            points += [None if further is None else _rounded(further[i]) for i in new]
        self._serials += [value["serials"][i] for i in new]
        self._events += [value["events"][i] for i in new]
        self._came_at += [revision] * len(new)

    def since(self, revision: int) -> Any:
        """Return new points, and the number of points to keep before them; None: nothing new."""
        kept = 0 if revision < self._whole_at else bisect_right(self._came_at, revision)
        if kept == len(self._serials):
            return None
        series = [[*name, points[kept:]] for name, points in self._series.items()]
        return {"kept": kept, "events": self._events[kept:], "series": series}

    def _thin_out(self, stride: int) -> None:
        remain = [i for i, serial in enumerate(self._serials) if serial % stride == 0]
        for points in (self._serials, self._events, self._came_at, *self._series.values()):
            points[:] = [points[i] for i in remain]  # type: ignore[index]
        self._stride = stride


def _flat(series: Mapping[str, Any]) -> Any:
    """Yield the points of each series by metric, or by metric and label."""
    for metric, points in series.items():
        if isinstance(points, Mapping):
            for label, each in points.items():
                yield (metric, label), each
        else:
            yield (metric,), points


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")
