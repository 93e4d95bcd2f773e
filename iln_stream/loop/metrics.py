"""Exports the metrics of the loop and of its learner to Prometheus."""

import logging
import math
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from time import perf_counter, time
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector, CollectorRegistry

from iln_stream.errors import IlnError
from iln_stream.loop.baselines import Baselines
from iln_stream.loop.scores import Coverage, QuantileScores, Scores
from iln_stream.loop.slices import DailyRhythm, error_of
from iln_stream.loop.step import MOST_IN_A_ROW, Listener, Step
from iln_stream.loop.steps import FEW, Steps
from iln_stream.loop.task import Regression, Task
from iln_stream.records import Command, DeadLetter
from iln_stream.reporting import MetricSpec, find_metrics, find_reporter
from iln_stream.state import StateDict
from iln_stream.streams import Sequencer, Source, StreamPartition


def label_metrics(
    source: Sequencer, n_in_hand: Callable[[], int] = lambda: 0
) -> Sequence[MetricSpec]:
    """Return the metrics of a source's log of labels; none if it has no such log.

    `n_in_hand` returns how many labels were polled and are not handled yet; they belong to the lag.
    """
    labels = source.labels
    if labels is None:
        return ()
    return (
        MetricSpec(
            "iln_labels_connected",
            "gauge",
            "1 while the log of labels is connected, 0 while its broker is unreachable.",
            lambda: float(labels.connected),
        ),
        MetricSpec(
            "iln_labels_lag_records",
            "gauge",
            "Offsets from the last handled label to the end of the log of labels; the end is "
            "looked up when labels are fetched.",
            lambda: None if (lag := source.labels_lag) is None else lag + n_in_hand(),
        ),
    )


SECONDS = tuple(base * 10.0**power for power in range(-6, 1) for base in (1.0, 2.5, 5.0))
"""Upper bounds of the latency histogram's buckets: 1 microsecond to 5 seconds."""


DELAYS = (
    *(1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 3 * 3600.0, 12 * 3600.0),
    *(days * 86_400.0 for days in (1, 3, 7, 30)),
)
"""Upper bounds of the buckets of labels' delays: 1 second to 30 days."""


class Histogram:
    """Counts values by bucket.

    `bounds` are the upper bounds of the buckets, ascending; one more bucket has the values beyond.
    """

    def __init__(self, name: str, description: str, bounds: Sequence[float]) -> None:
        self.name = name
        self.description = description
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.total = 0.0

    def add_all(self, values: Sequence[float]) -> None:
        """Count values."""
        for value, n in Counter(values).items():  # of events learned in a row, all are equal
            self.counts[bisect_left(self.bounds, value)] += n
        self.total += sum(values)


_BATCH = 100
"""Steps counted together: enough to be cheap, few enough for the CPU's cache."""


class ModelMetrics(Listener):
    """Counts and scores the steps of one learner, and exports its metrics.

    It counts many steps at once. A few are stored, and counted in batches and whenever a value is
    read, which any thread may do. All other metrics are computed at each scrape.

    Parameters
    ----------
    learner
        Metrics that it reports (see `iln_stream.reporting`) are exported, too.
    source
        Source of the learner; its lag and connection are exported.
    model
        Value of the label `model`.
    task
        Scores the steps.
    window
        Number of labelled events in the windowed metrics.
    levels
        Levels of the intervals that predictions have, if any.
    quantiles
        Levels of their quantiles, if any.
    """

    most_steps = MOST_IN_A_ROW

    def __init__(
        self,
        learner: Any,
        source: Source,
        model: str,
        task: Task,
        window: int,
        levels: Sequence[float] = (),
        quantiles: Sequence[float] = (),
    ) -> None:
        # returns how many records the loop has polled and not handled yet; they belong to the lag
        self.n_in_hand: Callable[[], int] = lambda: 0
        self.n_dead_letters = 0
        self.n_repeats = 0
        self.n_skipped = 0
        self.n_forgotten = 0  # of this process: the state is that of a run which never saw them
        self.n_commands = 0
        reporter = find_reporter(learner)
        self._scores = task.scores(window, () if reporter is None else reporter.flags)
        self._baselines = task.baselines(window)
        self._coverage = Coverage(levels, window)
        self._quantiles = QuantileScores(quantiles, window)
        self._rhythm = DailyRhythm()
        self._window = window
        self._latency = Histogram(
            "iln_step_duration_seconds", "Time to predict and learn one event.", SECONDS
        )
        self._delay = Histogram(
            "iln_label_delay_seconds",
            "Time from an event to its late label, by the times of both; 0 if the label's time is "
            "the earlier one.",
            DELAYS,
        )
        self._last_progress = perf_counter()
        self._uncounted: list[Step] = []
        self._counting = threading.Lock()
        self._source = source
        self._n_partitions_before = self._n_partitions()
        self.labels = (model, partition_label(source.partitions))
        self._reported = tuple(find_metrics(learner))

    def on_step(self, step: Step) -> None:
        """Count the step."""
        self.on_steps([step])

    def on_steps(self, steps: Sequence[Step]) -> None:
        """Count the steps."""
        few = len(steps) < FEW
        if few:
            self._uncounted.extend(steps)
        if not few or len(self._uncounted) >= _BATCH:
            self._count()
        if not few:
            with self._counting:
                self._add(Steps.of(steps))

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Count the dead letter."""
        self.n_dead_letters += 1
        self._last_progress = perf_counter()

    def on_repeat(self, origin: StreamPartition, offset: int) -> None:
        """Count the repeat."""
        self.n_repeats += 1
        self._last_progress = perf_counter()

    def on_skipped(self, origin: StreamPartition, offset: int) -> None:
        """Count the record."""
        self.n_skipped += 1
        self._last_progress = perf_counter()

    def on_forgotten(self, origin: StreamPartition, offset: int) -> None:
        """Count the record."""
        self.n_forgotten += 1
        self._last_progress = perf_counter()

    def on_command(self, command: Command) -> None:
        """Count the command."""
        self.n_commands += 1
        self._last_progress = perf_counter()

    def on_idle(self) -> None:
        """Note progress: an idle loop does not hang."""
        self._last_progress = perf_counter()

    @property
    def scores(self) -> Scores:
        """Scores of all steps so far."""
        self._count()
        return self._scores

    @property
    def baselines(self) -> Baselines:
        """Scores of trivial predictors on all steps so far."""
        self._count()
        return self._baselines

    def summary(self, *, recent: bool = False) -> str:
        """Return the scores of all events, or of the window, beside those of a trivial predictor.

        So that one sees whether the learner is any good.
        """
        scores = self.scores
        if scores.n_labelled == scores.totals.n_unscored:
            return "no score, as no class was known" if scores.n_labelled else "no label"
        return self._baselines.summary(scores, recent=recent)

    def about_window(self) -> dict[str, float]:
        """Return its size, and what its error and the recent error ratio usually are by now."""
        self._count()
        usual = self._rhythm.usual
        ratio = usual(50) / (usual(1000) or 1.0)
        return {"labels": self._window, "usual": usual(self._window), "usual_ratio": ratio}

    @property
    def histograms(self) -> Sequence[Histogram]:
        """The histograms of all steps so far of this process."""
        self._count()
        return self._latency, self._delay

    @property
    def last_progress(self) -> float:
        """POSIX time at which the loop last took a record or was idle."""
        self._count()
        return time() - (perf_counter() - self._last_progress)

    def metrics(self) -> Sequence[MetricSpec]:
        """Return all metrics of this learner."""
        return (
            *self._own_metrics(),
            *self._scores.metrics(),
            *self._baselines.metrics(),
            *self._coverage.metrics(),
            *self._quantiles.metrics(),
            *self._reported,
        )

    def _own_metrics(self) -> Sequence[MetricSpec]:
        return (
            MetricSpec(
                "iln_events_total",
                "counter",
                "Events predicted, with or without a label.",
                lambda: self.scores.n_events,
            ),
            MetricSpec(
                "iln_labelled_events_total",
                "counter",
                "Events with a label, which were scored and learned.",
                lambda: self.scores.n_labelled,
            ),
            MetricSpec(
                "iln_dead_letters_total",
                "counter",
                "Malformed records, events on which the learner failed, refused labels, and events "
                "that expired with pending_expired = write.",
                lambda: self.n_dead_letters,
            ),
            MetricSpec(
                "iln_skipped_records_total",
                "counter",
                "Records skipped: repeats of a recent event or label (repeated), those that where "
                "or a decoder leaves out (no_event), and those that rebuild --forget named "
                "(forgotten).",
                lambda: {
                    "repeated": self.n_repeats,
                    "no_event": self.n_skipped,
                    "forgotten": self.n_forgotten,
                },
                "reason",
            ),
            MetricSpec(
                "iln_source_connected",
                "gauge",
                "1 while the source is connected, 0 while its broker is unreachable.",
                lambda: float(self._source.connected),
            ),
            MetricSpec(
                "iln_new_partitions",
                "gauge",
                "Partitions that the topic got since the run began, which it does not read.",
                lambda: self._n_partitions() - self._n_partitions_before,
            ),
            MetricSpec(
                "iln_consumer_lag_records",
                "gauge",
                "Records of the source that were not read yet; the end is looked up when records "
                "are fetched. Read events may wait for a label: see iln_pending_events.",
                lambda: self.lag,
            ),
            MetricSpec(
                "iln_last_progress_timestamp_seconds",
                "gauge",
                "When the learner last took a record or was idle; not updated if it hangs.",
                lambda: self.last_progress,
            ),
        )

    def _n_partitions(self) -> int:
        return getattr(self._source, "n_partitions", 0)

    @property
    def lag(self) -> int | None:
        """Records of the source that were not handled yet; None: not known."""
        lag = self._source.lag  # first: a poll in between then counts records twice, not never
        return None if lag is None else lag + self.n_in_hand()

    def state(self) -> StateDict:
        """Return all counts and scores since the learner was new."""
        quantiles = self._quantiles.state()
        return {
            **({"quantiles": quantiles} if quantiles["levels"] else {}),
            "scores": self.scores.state(),
            "baselines": self._baselines.state(),
            "coverage": self._coverage.state(),
            "hours": [[hour, *sums] for hour, sums in self._rhythm.hours.items()],
            "n_dead_letters": self.n_dead_letters,
            "n_repeats": self.n_repeats,
            "n_skipped": self.n_skipped,
            "n_commands": self.n_commands,
        }

    def restore(self, state: StateDict) -> None:
        self.scores.restore(state["scores"])
        for name, part in (("baselines", self._baselines), ("coverage", self._coverage)):
            part.restore(state[name])
        self._rhythm.hours = {hour: (n, total) for hour, n, total in state.get("hours", ())}
        if "quantiles" in state:
            self._quantiles.restore(state["quantiles"])
        self.n_dead_letters = state["n_dead_letters"]
        self.n_repeats = state["n_repeats"]
        self.n_skipped = state.get("n_skipped", 0)  # since release 0.3
        self.n_commands = state["n_commands"]

    def _count(self) -> None:
        with self._counting:
            if steps := self._uncounted[:]:
                self._add(Steps.of(steps))
                del self._uncounted[: len(steps)]  # the loop may have appended more

    def _add(self, steps: Steps) -> None:
        self._scores.update(steps)
        self._baselines.update(steps)
        self._coverage.update(steps)
        self._quantiles.update(steps)
        self._rhythm.add(
            (time, error_of(y_pred, y, loss))
            for time, y_pred, y, loss in zip(
                steps.time, steps.y_pred, steps.y, steps.loss, strict=True
            )
            if time is not None and loss is not None and math.isfinite(loss)
        )
        self._latency.add_all(steps.seconds)
        self._delay.add_all([max(each, 0.0) for each in steps.delay if each is not None])
        self._last_progress = max(self._last_progress, steps.ended[-1])


def partition_label(partitions: Sequence[int]) -> str:
    """Return the value of the label `partition`.

    Examples
    --------
    >>> from iln_stream.loop.metrics import partition_label
    >>> partition_label([3]), partition_label([0, 1, 2]), partition_label([0, 2])
    ('3', '0-2', '0,2')

    """
    first, last = min(partitions), max(partitions)
    if first == last:
        return str(first)
    whole = len(partitions) == last - first + 1
    return f"{first}-{last}" if whole else ",".join(map(str, sorted(partitions)))


log = logging.getLogger(__name__)

LABELS = ("model", "partition")

Labels = tuple[str, str]


class Metrics(Collector):
    """Prometheus metrics of every watched learner.

    Windowed metrics are over `window` labelled events.
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
        quantiles: Sequence[float] = (),
    ) -> ModelMetrics:
        """Export a learner's metrics, and return the listener that counts them.

        The task is regression by default; see `ModelMetrics`.
        """
        task = task or Regression()
        watched = ModelMetrics(learner, source, model, task, self._window, levels, quantiles)
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
            shared = isinstance(spec.label, tuple)
            if any(
                (other.kind, other.label) != (spec.kind, spec.label)
                or (same == labels and not shared)
                for same, other in exported
            ):
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
    own = first.label or ()
    names = (*LABELS, *(own if isinstance(own, tuple) else (own,)))
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
    values = found.items() if isinstance(found, Mapping) else [((), found)]
    for label, value in values:
        if value is not None and not math.isnan(number := float(value)):
            yield (str(label),) if isinstance(spec.label, str) else label, number
