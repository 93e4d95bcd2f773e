"""The metrics of one learner on one source."""

import threading
from bisect import bisect_left
from collections.abc import Callable, Sequence
from time import perf_counter, time
from typing import Any

from iln_stream.events import Command, DeadLetter
from iln_stream.prequential import Baselines, Coverage, Listener, Scores, Step, Task
from iln_stream.reporting import MetricSpec, find_metrics, find_reporter
from iln_stream.state import StateDict
from iln_stream.streams import Source

SECONDS = tuple(base * 10.0**power for power in range(-6, 1) for base in (1.0, 2.5, 5.0))
"""Upper bounds of the latency histogram's buckets: 1 microsecond to 5 seconds."""


DELAYS = (
    *(1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 3 * 3600.0, 12 * 3600.0),
    *(days * 86_400.0 for days in (1, 3, 7, 30)),
)
"""Upper bounds of the buckets of labels' delays: 1 second to 30 days."""


class Histogram:
    """Counts values by bucket.

    Parameters
    ----------
    name, description
        Name in Prometheus, and one sentence.
    bounds
        Upper bounds of the buckets, ascending; one more bucket has the values beyond.

    """

    def __init__(self, name: str, description: str, bounds: Sequence[float]) -> None:
        self.name = name
        self.description = description
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.total = 0.0

    def add_all(self, values: Sequence[float]) -> None:
        """Count values."""
        counts, bounds = self.counts, self.bounds
        for value in values:
            counts[bisect_left(bounds, value)] += 1
        self.total += sum(values)


_BATCH = 100
"""Steps counted together: enough to be cheap, few enough for the CPU's cache."""


class ModelMetrics(Listener):
    """Counts and scores the steps of one learner, and exports its metrics.

    For each event it only stores the step. It counts stored steps in batches, and whenever a value
    is read, which any thread may do. All other metrics are computed at each scrape.

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

    Attributes
    ----------
    n_in_hand : callable
        Returns how many records the loop has polled and not handled yet; they belong to the lag.

    """

    def __init__(
        self,
        learner: Any,
        source: Source,
        model: str,
        task: Task,
        window: int,
        levels: Sequence[float] = (),
    ) -> None:
        self.n_in_hand: Callable[[], int] = lambda: 0
        self.n_dead_letters = 0
        self.n_repeats = 0
        self.n_commands = 0
        reporter = find_reporter(learner)
        self._scores = task.scores(window, () if reporter is None else reporter.flags)
        self._baselines = task.baselines(window)
        self._coverage = Coverage(levels, window)
        self._latency = Histogram(
            "iln_step_duration_seconds", "Time to predict and learn one event.", SECONDS
        )
        self._delay = Histogram(
            "iln_label_delay_seconds",
            "Time from an event to its label, by the times of both, for labels that came after "
            "their event in records of their own; 0 if the label's time is the earlier one.",
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
        self._uncounted.append(step)
        if len(self._uncounted) >= _BATCH:
            self._count()

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Count the dead letter."""
        self.n_dead_letters += 1
        self._last_progress = perf_counter()

    def on_repeat(self, partition: int, offset: int) -> None:
        """Count the repeat."""
        self.n_repeats += 1
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
                "Malformed records, and events on which the learner failed.",
                lambda: self.n_dead_letters,
            ),
            MetricSpec(
                "iln_repeated_events_total",
                "counter",
                "Records skipped because they repeat a recent event or label.",
                lambda: self.n_repeats,
            ),
            MetricSpec(
                "iln_commands_total",
                "counter",
                "Commands of the log that were carried out, such as promotions.",
                lambda: self.n_commands,
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
                "iln_consumer_lag",
                "gauge",
                "Offsets from the last learned record to the end of the source; the end is looked "
                "up when records are fetched.",
                lambda: self._lag,
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
    def _lag(self) -> int | None:
        lag = self._source.lag  # first: a poll in between then counts records twice, not never
        return None if lag is None else lag + self.n_in_hand()

    def state(self) -> StateDict:
        """Return all counts and scores since the learner was new."""
        return {
            "scores": self.scores.state(),
            "baselines": self._baselines.state(),
            "coverage": self._coverage.state(),
            "n_dead_letters": self.n_dead_letters,
            "n_repeats": self.n_repeats,
            "n_commands": self.n_commands,
        }

    def restore(self, state: StateDict) -> None:
        """Continue from a `state()`."""
        self.scores.restore(state["scores"])
        for name, part in (("baselines", self._baselines), ("coverage", self._coverage)):
            if (saved := state.get(name)) is not None:  # older snapshots don't have them
                part.restore(saved)
        self.n_dead_letters = state["n_dead_letters"]
        self.n_repeats = state["n_repeats"]
        self.n_commands = state.get("n_commands", 0)  # snapshots of 0.1.0 have no such entry

    def _count(self) -> None:
        """Count the stored steps."""
        with self._counting:
            steps = self._uncounted[:]
            if not steps:
                return
            self._scores.update(steps)
            self._baselines.update(steps)
            self._coverage.update(steps)
            self._latency.add_all([step.seconds for step in steps])
            self._delay.add_all(
                [max(step.delay, 0.0) for step in steps if step.late and step.delay is not None]
            )
            self._last_progress = max(self._last_progress, steps[-1].ended)
            del self._uncounted[: len(steps)]  # the loop may have appended more


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
