"""Coverage: how often prediction intervals contain the label."""

from collections.abc import Iterable, Mapping, Sequence

from iln_stream.prequential.scores import Window
from iln_stream.prequential.step import Step
from iln_stream.reporting import MetricSpec
from iln_stream.state import StateDict


class Coverage:
    """Share of labels that their intervals contain, over the last `window` of each level.

    A label that comes late is compared with the interval that was published.

    Parameters
    ----------
    levels
        Levels of the intervals that steps have, in this order.
    window
        Labelled events in the share.

    """

    def __init__(self, levels: Sequence[float], window: int) -> None:
        self._levels = tuple(levels)
        self._size = window
        self._windows = tuple(Window(window) for _ in self._levels)

    def update(self, steps: Sequence[Step]) -> None:
        """Add the labelled ones of these steps."""
        if not self._levels:
            return
        hits: tuple[list[float], ...] = tuple([] for _ in self._levels)
        for step in steps:
            if step.loss is None:
                continue
            y = step.y
            # A step without intervals counts for no level.
            for of_level, (low, high) in zip(hits, step.details.intervals, strict=False):
                of_level.append(1.0 if low <= y <= high else 0.0)
        for window, of_level in zip(self._windows, hits, strict=True):
            window.extend(of_level)

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the exported metrics; none without levels."""
        if not self._levels:
            return ()
        return (
            MetricSpec(
                "iln_interval_coverage",
                "gauge",
                "Share of labels that the interval of this level contained, over the last window "
                "of labelled events.",
                self._shares,
                "level",
            ),
            MetricSpec(
                "iln_interval_coverage_error",
                "gauge",
                "iln_interval_coverage minus the level; no sample before the window is full.",
                self._errors,
                "level",
            ),
        )

    def _shares(self) -> Mapping[str, float]:
        return {repr(level): window.mean for level, window in self._by_level()}

    def _errors(self) -> Mapping[str, float]:
        return {
            repr(level): window.mean - level
            for level, window in self._by_level()
            if len(window.values()) == self._size
        }

    def _by_level(self) -> Iterable[tuple[float, Window]]:
        return zip(self._levels, self._windows, strict=True)

    def state(self) -> StateDict:
        """Return hits and misses."""
        return {
            "levels": list(self._levels),
            "windows": [window.values() for window in self._windows],
        }

    def restore(self, state: StateDict) -> None:
        """Restore a `state()`; levels that it does not have begin empty."""
        saved = dict(zip(state["levels"], state["windows"], strict=True))
        for level, window in self._by_level():
            window.extend(saved.get(level, ()))
