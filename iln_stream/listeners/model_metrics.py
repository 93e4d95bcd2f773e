"""One learner on one source, counted as it goes."""

import threading
from bisect import bisect_left
from collections.abc import Sequence
from time import perf_counter, time
from typing import Any

from iln_stream.events import DeadLetter
from iln_stream.prequential import Listener, Scores, Step, Task
from iln_stream.reporting import MetricSpec, find_reporter
from iln_stream.state import StateDict
from iln_stream.streams import Source

SECONDS = tuple(base * 10.0**power for power in range(-6, 1) for base in (1.0, 2.5, 5.0))
"""Upper bounds of the latency histogram's buckets: 1 microsecond to 5 seconds."""


_COUNTED_AT_ONCE = 100
"""Steps: enough that counting them together is cheap, and few enough to stay in a cache."""


class ModelMetrics(Listener):
    """One learner on one source: counts its steps, and lets Prometheus read the rest.

    An event costs no more here than keeping its step. Steps are counted many at once, or when
    somebody asks, which any thread may; everything else is computed when a scrape asks.

    Parameters
    ----------
    learner
        What it reports (see `iln_stream.reporting`) appears, too.
    source
        What it reads; asked for its lag, its partitions, and whether it is connected.
    model
        Value of the label `model`.
    task
        Scores the steps.
    window
        Labelled events in the windowed metrics.

    """

    def __init__(self, learner: Any, source: Source, model: str, task: Task, window: int) -> None:
        self.n_dead_letters = 0
        self.n_repeats = 0
        reporter = find_reporter(learner)
        self._scores = task.scores(window, () if reporter is None else reporter.flags)
        self._bucket_counts = [0] * (len(SECONDS) + 1)
        self._total_seconds = 0.0
        self._last_progress = perf_counter()
        self._not_counted: list[Step] = []
        self._counting = threading.Lock()
        self._source = source
        self.labels = (model, partition_label(source.partitions))
        self._reported = () if reporter is None else tuple(reporter.metrics())

    def on_step(self, step: Step) -> None:
        """Let the step count."""
        self._not_counted.append(step)
        if len(self._not_counted) >= _COUNTED_AT_ONCE:
            self._count()

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Let the letter count."""
        self.n_dead_letters += 1
        self._last_progress = perf_counter()

    def on_repeat(self, partition: int, offset: int) -> None:
        """Let the repeat count."""
        self.n_repeats += 1
        self._last_progress = perf_counter()

    def on_idle(self) -> None:
        """Having nothing to do is no hanging."""
        self._last_progress = perf_counter()

    @property
    def scores(self) -> Scores:
        """Running means, of all steps so far."""
        self._count()
        return self._scores

    @property
    def latency(self) -> tuple[list[int], float]:
        """How many steps took up to each of `SECONDS` or longer, and all their seconds."""
        self._count()
        return self._bucket_counts, self._total_seconds

    @property
    def last_progress(self) -> float:
        """When the loop last went on or had nothing to do, POSIX seconds."""
        self._count()
        return time() - (perf_counter() - self._last_progress)

    def metrics(self) -> Sequence[MetricSpec]:
        """Return all that is exported of this learner."""
        return (*self._own_metrics(), *self._scores.metrics(), *self._reported)

    def _own_metrics(self) -> Sequence[MetricSpec]:
        return (
            MetricSpec(
                "iln_events_total",
                "counter",
                "Events predicted, labelled or not.",
                lambda: self.scores.n_events,
            ),
            MetricSpec(
                "iln_labelled_events_total",
                "counter",
                "Events that had a label, and so were scored and learned.",
                lambda: self.scores.n_labelled,
            ),
            MetricSpec(
                "iln_dead_letters_total",
                "counter",
                "Records that were no events, or that the learner failed on.",
                lambda: self.n_dead_letters,
            ),
            MetricSpec(
                "iln_repeated_events_total",
                "counter",
                "Records passed over, as what they bring was among the latest.",
                lambda: self.n_repeats,
            ),
            MetricSpec(
                "iln_source_connected",
                "gauge",
                "Whether the source is there: 0 while the broker is away.",
                lambda: float(self._source.connected),
            ),
            MetricSpec(
                "iln_consumer_lag",
                "gauge",
                "Offsets between the last poll and the end of the source, as that poll found it.",
                lambda: self._source.lag,
            ),
            MetricSpec(
                "iln_last_progress_timestamp_seconds",
                "gauge",
                "When the learner last took a record or found none to take; it stands still in a "
                "hung one.",
                lambda: self.last_progress,
            ),
        )

    def state(self) -> StateDict:
        """Return what was counted since the model's birth."""
        return {
            "scores": self.scores.state(),
            "n_dead_letters": self.n_dead_letters,
            "n_repeats": self.n_repeats,
        }

    def restore(self, state: StateDict) -> None:
        """Go on counting from a `state()`."""
        self.scores.restore(state["scores"])
        self.n_dead_letters = state["n_dead_letters"]
        self.n_repeats = state["n_repeats"]

    def _count(self) -> None:
        """Count the steps that were only kept so far."""
        with self._counting:
            steps = self._not_counted[:]
            if not steps:
                return
            self._scores.update(steps)
            for step in steps:
                self._bucket_counts[bisect_left(SECONDS, step.seconds)] += 1
                self._total_seconds += step.seconds
            self._last_progress = max(self._last_progress, steps[-1].ended)
            del self._not_counted[: len(steps)]  # the loop may have appended to it meanwhile


def partition_label(partitions: Sequence[int]) -> str:
    """Return the value of the label `partition`.

    Examples
    --------
    >>> from iln_stream.listeners.model_metrics import partition_label
    >>> partition_label([3]), partition_label([0, 1, 2]), partition_label([0, 2])
    ('3', '0-2', '0,2')

    """
    first, last = min(partitions), max(partitions)
    if first == last:
        return str(first)
    whole = len(partitions) == last - first + 1
    return f"{first}-{last}" if whole else ",".join(map(str, sorted(partitions)))
