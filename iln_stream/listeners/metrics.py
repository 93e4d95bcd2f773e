"""What Prometheus sees: plain attributes, read when it asks."""

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector, CollectorRegistry

from iln_stream.errors import IlnError
from iln_stream.listeners.model_metrics import SECONDS, ModelMetrics
from iln_stream.prequential import Regression, Task
from iln_stream.reporting import MetricSpec
from iln_stream.streams import Source

log = logging.getLogger(__name__)

LABELS = ("model", "partition")

Labels = tuple[str, str]


class Metrics(Collector):
    """Every watched learner, as Prometheus metrics.

    Parameters
    ----------
    registry
        Where the metrics appear.
    window
        Number of labelled events in the windowed metrics.

    """

    def __init__(self, registry: CollectorRegistry, window: int = 1000) -> None:
        self._window = window
        self._models: list[ModelMetrics] = []
        self._specs: dict[str, list[tuple[Labels, MetricSpec]]] = {}
        registry.register(self)

    def watch(
        self, learner: Any, source: Source, model: str, task: Task | None = None
    ) -> ModelMetrics:
        """Return the listener through which a learner's metrics appear.

        Parameters
        ----------
        learner
            Any; what it reports of itself appears, too.
        source
            What it reads.
        model
            Value of the label `model`, which tells one learner from another.
        task
            By default regression.

        """
        watched = ModelMetrics(learner, source, model, task or Regression(), self._window)
        self._models.append(watched)
        self.export(watched.labels, watched.metrics())
        return watched

    def export(self, labels: Labels, specs: Iterable[MetricSpec]) -> None:
        """Let more metrics appear, of whatever belongs to a learner."""
        for spec in specs:
            there = self._specs.setdefault(spec.name, [])
            if any(_differ(other, spec) or same == labels for same, other in there):
                raise IlnError(
                    f"metric {spec.name} of {'/'.join(labels)}: one of this name is exported "
                    "already, with another kind or label or for the same model; rename it"
                )
            there.append((labels, spec))

    def collect(self) -> Iterator[Metric]:
        """Yield every metric with its values at this moment; what is not yet has no sample."""
        for labelled in list(self._specs.values()):
            yield _family(labelled)
        yield self._latency()

    def _latency(self) -> Metric:
        family = HistogramMetricFamily(
            "iln_step_duration_seconds", "Time to predict and learn one event.", labels=LABELS
        )
        bounds = [*(f"{bound:g}" for bound in SECONDS), "+Inf"]
        for watched in self._models:
            counts, total_seconds = watched.latency
            buckets = list(zip(bounds, accumulate(counts), strict=True))
            family.add_metric(watched.labels, buckets, total_seconds)
        return family


def _family(labelled: Sequence[tuple[Labels, MetricSpec]]) -> Metric:
    """Return one metric of all learners that export it."""
    _, first = labelled[0]
    kind = CounterMetricFamily if first.kind == "counter" else GaugeMetricFamily
    names = LABELS if first.label is None else (*LABELS, first.label)
    family = kind(first.name, first.help, labels=names)
    for labels, spec in labelled:
        try:
            samples = list(_samples(spec))
        except Exception as error:  # one learner's fault must not hide all the others
            log.warning("metric %s of %s can't be read: %r", spec.name, "/".join(labels), error)
            continue
        for more, value in samples:
            family.add_metric((*labels, *more), value)
    return family


def _samples(spec: MetricSpec) -> Iterator[tuple[tuple[str, ...], float]]:
    found = spec.read()
    values = found.items() if isinstance(found, Mapping) else [(None, found)]
    for label, value in values:
        if value is not None and not math.isnan(number := float(value)):
            yield () if spec.label is None else (str(label),), number


def _differ(one: MetricSpec, other: MetricSpec) -> bool:
    return (one.kind, one.label) != (other.kind, other.label)
