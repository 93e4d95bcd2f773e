"""The protocol by which a learner reports its loss, its flags, and its metrics."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

Report: TypeAlias = tuple[float | None, tuple[str, ...]]
"""What a learner reports of the labelled event that it learned last.

Its loss on the learner's own scale, None: the task's loss shall be taken; and the names of what
happened, among the learner's `flags`, mostly none. A plain tuple, as one is made for each event.
"""


class FlagSpec(NamedTuple):
    """Something that happens at some events, and the metric that shows how often.

    Parameters
    ----------
    name
        As it stands in `Report.flags`.
    metric, help
        Name and help text of the metric: the share of the latest window of labelled events.

    """

    name: str
    metric: str
    help: str


class MetricSpec(NamedTuple):
    """A number that a learner, a score or a checkpoint exports.

    Parameters
    ----------
    name
        As Prometheus shall know it; counters end in `_total`.
    kind
        "counter" if it only grows, else "gauge".
    help
        One sentence.
    read
        Returns the value at this moment; None, or nan, is no sample. With `label`, values by that
        label. Called from another thread than the learner's.
    label
        Name of the label, where `read` returns several values.

    """

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    read: Callable[[], float | Mapping[Any, float] | None]
    label: str | None = None


@runtime_checkable
class Reporting(Protocol):
    """A learner that reports. Implement these three and your metrics appear beside the others.

    Examples
    --------
    >>> from river import dummy, stats
    >>> from iln_stream.reporting import MetricSpec, find_reporter
    >>> class Mean(dummy.StatisticRegressor):
    ...     flags = ()
    ...
    ...     def report(self, y_pred, y):
    ...         return abs(y_pred - y), ()
    ...
    ...     def metrics(self):
    ...         return [MetricSpec("my_mean", "gauge", "The mean.", self.statistic.get)]
    >>> mean = Mean(stats.Mean())
    >>> mean.learn_one({}, 3.0)
    >>> [(each.name, each.read()) for each in find_reporter(mean).metrics()]
    [('my_mean', 3.0)]

    """

    @property
    def flags(self) -> Sequence[FlagSpec]:
        """What may happen at an event."""
        ...

    def report(self, y_pred: Any, y: Any) -> Report:
        """Report on the event that was just learned, and predicted as y_pred before."""
        ...

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the learner's own metrics."""
        ...
