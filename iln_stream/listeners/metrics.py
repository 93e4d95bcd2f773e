"""Exports the metrics of all learners; values are read at each scrape."""

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
from iln_stream.listeners.model_metrics import ModelMetrics
from iln_stream.prequential import Regression, Task
from iln_stream.reporting import MetricSpec
from iln_stream.streams import Source

log = logging.getLogger(__name__)

LABELS = ("model", "partition")

Labels = tuple[str, str]


class Metrics(Collector):
    """Prometheus metrics of every watched learner.

    Parameters
    ----------
    registry
        Registry that exports the metrics.
    window
        Number of labelled events in the windowed metrics.

    """

    def __init__(self, registry: CollectorRegistry, window: int = 1000) -> None:
        self._window = window
        self._models: list[ModelMetrics] = []
        self._specs: dict[str, list[tuple[Labels, MetricSpec]]] = {}
        registry.register(self)

    def watch(
        self,
        learner: Any,
        source: Source,
        model: str,
        task: Task | None = None,
        levels: Sequence[float] = (),
    ) -> ModelMetrics:
        """Export a learner's metrics, and return the listener that counts them.

        Parameters
        ----------
        learner
            Any learner; metrics that it reports are exported, too.
        source
            Source of the learner.
        model
            Value of the label `model`, which identifies the learner.
        task
            Scores the steps; default: regression.
        levels
            Levels of the intervals that predictions have, if any.

        """
        watched = ModelMetrics(learner, source, model, task or Regression(), self._window, levels)
        self._models.append(watched)
        self.export(watched.labels, watched.metrics())
        return watched

    def export(self, labels: Labels, specs: Iterable[MetricSpec]) -> None:
        """Export more metrics under a learner's labels.

        Raises
        ------
        IlnError
            When a metric of this name exists with another kind or label, or for the same model.

        """
        for spec in specs:
            exported = self._specs.setdefault(spec.name, [])
            if any(_differ(other, spec) or same == labels for same, other in exported):
                raise IlnError(
                    f"metric {spec.name} of {'/'.join(labels)}: another metric has this name, with "
                    "another kind or label or for the same model; rename it"
                )
            exported.append((labels, spec))

    def of(self, labels: Labels) -> list[MetricSpec]:
        """Return all metrics that are exported under a learner's labels."""
        return [
            spec
            for labelled in list(self._specs.values())
            for same, spec in labelled
            if same == labels
        ]

    @property
    def counters_of_process(self) -> list[str]:
        """Names of the counters that began at 0 with this process."""
        specs = [spec for labelled in list(self._specs.values()) for _, spec in labelled]
        return sorted({spec.name for spec in specs if spec.of_process})

    def collect(self) -> Iterator[Metric]:
        """Yield every metric with its current values; a metric without a value has no sample."""
        for labelled in list(self._specs.values()):
            yield _family(labelled)
        yield from self._histograms()

    def _histograms(self) -> Iterator[Metric]:
        families: dict[str, HistogramMetricFamily] = {}
        for watched in self._models:
            for each in watched.histograms:
                family = families.setdefault(
                    each.name, HistogramMetricFamily(each.name, each.description, labels=LABELS)
                )
                bounds = [*(f"{bound:g}" for bound in each.bounds), "+Inf"]
                buckets = list(zip(bounds, accumulate(each.counts), strict=True))
                family.add_metric(watched.labels, buckets, each.total)
        yield from families.values()


def _family(labelled: Sequence[tuple[Labels, MetricSpec]]) -> Metric:
    """Return one metric with the samples of all learners that export it."""
    _, first = labelled[0]
    kind = CounterMetricFamily if first.kind == "counter" else GaugeMetricFamily
    names = LABELS if first.label is None else (*LABELS, first.label)
    family = kind(first.name, first.help, labels=names)
    for labels, spec in labelled:
        try:
            samples = list(_samples(spec))
        except Exception as error:  # one learner's error must not hide the metrics of others
            model, partition = labels
            log.warning(
                "can't read metric %s of %s, partition %s: %r", spec.name, model, partition, error
            )
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
