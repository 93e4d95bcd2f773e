"""Errors by segment and by decade, and times, over any number of events."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.endurance.histogram import Histogram

Array = NDArray[np.float64]

FIRST_END = 100


def segment_ends() -> list[int]:
    """Return the ends of segments: 100, 200, 500, 1,000, 2,000, ...

    Examples
    --------
    >>> segment_ends()[:5]
    [100, 200, 500, 1000, 2000]

    """
    return [m * FIRST_END * 10**k for k in range(8) for m in (1, 2, 5)]


def decade_ends() -> list[int]:
    """Return the ends of decades: 100, 1,000, 10,000, ...

    Examples
    --------
    >>> decade_ends()[:3]
    [100, 1000, 10000]

    """
    return [FIRST_END * 10**k for k in range(8)]


class Errors:
    """Absolute errors of a learner and of the running mean on the same events."""

    def __init__(self) -> None:
        self.n = 0
        self.total = np.zeros(2)
        self.histograms = Histogram(), Histogram()

    def add(self, pairs: Array) -> None:
        """Add errors of the learner and of the running mean, shape (2, n)."""
        self.n += pairs.shape[1]
        self.total += pairs.sum(axis=1)
        for histogram, errors in zip(self.histograms, pairs, strict=True):
            histogram.add(errors)

    def figures(self, end: int) -> dict[str, Any]:
        """Return means and medians of the events up to `end`; None without a finite one."""
        mean, base = self.total / self.n if self.n else (math.nan, math.nan)
        medians = [histogram.quantile(0.5) for histogram in self.histograms]
        named = {"mean": mean, "median": medians[0], "base_mean": base, "base_median": medians[1]}
        return {"end": end} | {name: figure(value) for name, value in named.items()}

    def state(self) -> dict[str, Any]:
        """Return everything, as arrays and numbers."""
        counts = np.array([histogram.counts for histogram in self.histograms])
        return {"n": self.n, "total": self.total.copy(), "counts": counts}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.n, self.total = state["n"], state["total"].copy()
        self.histograms = Histogram(state["counts"][0]), Histogram(state["counts"][1])


class Spans:
    """Errors of consecutive spans of a stream.

    Parameters
    ----------
    ends
        Ends of the spans, as numbers of events.

    """

    def __init__(self, ends: list[int]) -> None:
        self._ends = ends
        self.closed: list[dict[str, Any]] = []
        self._open = Errors()

    def add(self, first: int, pairs: Array, kept: NDArray[np.bool_]) -> None:
        """Add the errors of events `first`, `first` + 1, ...; those not kept count nowhere."""
        done, n = 0, pairs.shape[1]
        while done < n:
            end = self._ends[len(self.closed)]
            here = slice(done, min(n, end - first))
            self._open.add(pairs[:, here][:, kept[here]])
            done = here.stop
            if first + done == end:
                self.closed.append(self._open.figures(end))
                self._open = Errors()

    def figures(self, n: int) -> list[dict[str, Any]]:
        """Return the figures of each span up to event n."""
        rest = [self._open.figures(n)] if self._open.n else []
        return [*self.closed, *rest]

    def state(self) -> dict[str, Any]:
        """Return everything."""
        return {"closed": self.closed, "open": self._open.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.closed = list(state["closed"])
        self._open.restore(state["open"])


class Tally:
    """What is recorded of each event of a run."""

    def __init__(self) -> None:
        self.segments, self.decades = Spans(segment_ends()), Spans(decade_ends())
        self.n = 0
        self.n_finite = 0
        self.first_not_finite: int | None = None
        self._seconds = 0.0
        self._longest = {"cpu": [0.0, 0], "wall": [0.0, 0]}
        self._times = Histogram()

    def add(self, errors: Array, base: Array, cpu: Array, wall: Array) -> None:
        """Add the next events: errors, and seconds of processor and wall time."""
        finite = np.isfinite(errors)
        if not finite.all() and self.first_not_finite is None:
            self.first_not_finite = self.n + int(np.argmin(finite))
        pairs = np.array([errors, base])
        # The first event is only learned: nothing can be known before the first target.
        kept = finite if self.n else finite & (np.arange(len(errors)) > 0)
        self.segments.add(self.n, pairs, kept)
        self.decades.add(self.n, pairs, kept)
        self._seconds += float(cpu.sum())
        self._times.add(cpu)
        for name, times in (("cpu", cpu), ("wall", wall)):
            at = int(np.argmax(times))
            if times[at] > self._longest[name][0]:
                self._longest[name] = [float(times[at]), self.n + at]
        self.n += len(errors)
        self.n_finite += int(finite.sum())

    def figures(self) -> dict[str, Any]:
        """Return the record's figures: errors in the target's units, times in us and ms."""
        return {
            "n_finite": self.n_finite,
            "first_not_finite": self.first_not_finite,
            "us": figure(1e6 * self._seconds / self.n),
            "events_per_s": figure(self.n / self._seconds),
            "p999_ms": figure(1e3 * self._times.quantile(0.999)),
            "longest_ms": figure(1e3 * self._longest["cpu"][0]),
            "longest_at": self._longest["cpu"][1],
            "longest_wall_ms": figure(1e3 * self._longest["wall"][0]),
            "decades": self.decades.figures(self.n),
            "segments": self.segments.figures(self.n),
        }

    def state(self) -> dict[str, Any]:
        """Return everything, so that an interrupted run can go on."""
        return {
            "n": self.n,
            "n_finite": self.n_finite,
            "first_not_finite": self.first_not_finite,
            "seconds": self._seconds,
            "longest": {name: list(found) for name, found in self._longest.items()},
            "times": self._times.counts.copy(),
            "segments": self.segments.state(),
            "decades": self.decades.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.n, self.n_finite = state["n"], state["n_finite"]
        self.first_not_finite, self._seconds = state["first_not_finite"], state["seconds"]
        self._longest = {name: list(found) for name, found in state["longest"].items()}
        self._times = Histogram(state["times"])
        self.segments.restore(state["segments"])
        self.decades.restore(state["decades"])


def figure(value: float) -> float | None:
    """Return four significant digits; None for a number that is not finite, as JSON has none.

    Examples
    --------
    >>> figure(123456.0), figure(math.nan)
    (123500.0, None)

    """
    return float(f"{value:.4g}") if math.isfinite(value) else None
