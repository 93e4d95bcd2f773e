"""A metric of many learners, each read by the same function."""

import math
from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

LABELS = ("model", "partition")

T = TypeVar("T")


class Family(NamedTuple, Generic[T]):
    """What Prometheus is told of one metric, and how its value is read off a T."""

    kind: type[CounterMetricFamily] | type[GaugeMetricFamily]
    name: str
    help_text: str
    read: Callable[[T], float | None]

    def collected(self, labelled: Iterable[tuple[tuple[str, str], T]]) -> Metric:
        """Return the metric's values at this moment; None, or a mean of nothing, is no sample."""
        family = self.kind(self.name, self.help_text, labels=LABELS)
        for labels, each in labelled:
            value = self.read(each)
            if value is not None and not math.isnan(value):
                family.add_metric(labels, value)
        return family
