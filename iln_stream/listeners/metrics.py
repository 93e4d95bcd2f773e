"""What Prometheus sees: plain attributes, read when it asks."""

import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from time import perf_counter, time
from typing import Any, NamedTuple

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector, CollectorRegistry

from iln_stream.events import DeadLetter
from iln_stream.learners import (
    InfiniteLayerRegressor,
    ShrinkingGradient,
    find_infinite_layer,
    find_shrinking_gradient,
)
from iln_stream.prequential import Listener, Scores, Step
from iln_stream.sources import Source
from iln_stream.state import Tree

LABELS = ("model", "partition")

_SECONDS = tuple(base * 10.0**power for power in range(-6, 1) for base in (1.0, 2.5, 5.0))
"""Upper bounds of the latency histogram's buckets: 1 microsecond to 5 seconds."""


_COUNTED_AT_ONCE = 100
"""Steps: enough that counting them together is cheap, and few enough to stay in a cache."""


class Watched(Listener):
    """One learner on one source: counts its steps, and lets Prometheus read the rest.

    An event costs no more here than keeping its step. Steps are counted many at once, or when
    somebody asks, which any thread may; everything else is computed when a scrape asks.
    """

    def __init__(self, learner: Any, source: Source, model: str, window: int) -> None:
        self.n_dead_letters = 0
        self.n_repeats = 0
        self._scores = Scores(window)
        self._bucket_counts = [0] * (len(_SECONDS) + 1)
        self._total_seconds = 0.0
        self._last_progress = perf_counter()
        self._not_counted: list[Step] = []
        self._counting = threading.Lock()
        self.algorithm_1 = find_shrinking_gradient(learner)
        self.mixture = find_infinite_layer(learner)
        self.source = source
        self.labels = (model, str(source.partition))

    def on_step(self, step: Step) -> None:
        """Let the step count."""
        self._not_counted.append(step)
        if len(self._not_counted) >= _COUNTED_AT_ONCE:
            self._count()

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Let the letter count."""
        self.n_dead_letters += 1
        self._last_progress = perf_counter()

    def on_repeat(self, offset: int) -> None:
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
        """How many steps took up to each of `_SECONDS` or longer, and all their seconds."""
        self._count()
        return self._bucket_counts, self._total_seconds

    @property
    def last_progress(self) -> float:
        """When the loop last went on or had nothing to do, POSIX seconds."""
        self._count()
        return time() - (perf_counter() - self._last_progress)

    def state(self) -> Tree:
        """Return what was counted since the model's birth."""
        return {
            "scores": self.scores.state(),
            "n_dead_letters": self.n_dead_letters,
            "n_repeats": self.n_repeats,
        }

    def restore(self, state: Tree) -> None:
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
                self._bucket_counts[bisect_left(_SECONDS, step.seconds)] += 1
                self._total_seconds += step.seconds
            self._last_progress = max(self._last_progress, steps[-1].ended)
            del self._not_counted[: len(steps)]  # the loop may have appended to it meanwhile


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
        self._watched: list[Watched] = []
        registry.register(self)

    def watch(self, learner: Any, source: Source, model: str) -> Watched:
        """Return the listener through which a learner's metrics appear.

        Parameters
        ----------
        learner
            Any regressor; with a `ShrinkingGradient` inside, Algorithm 1's metrics appear, too.
        source
            What it reads; told for its lag and partition.
        model
            Value of the label `model`, which tells one learner from another.

        """
        watched = Watched(learner, source, model, self._window)
        self._watched.append(watched)
        return watched

    def collect(self) -> Iterator[Metric]:
        """Yield every metric with its values at this moment."""
        for kind, name, help_text, read in _FAMILIES:
            family = kind(name, help_text, labels=LABELS)
            for watched in self._watched:
                value = read(watched)
                if value is not None and not math.isnan(value):  # a mean of nothing: no sample
                    family.add_metric(watched.labels, value)
            yield family
        for name, help_text, label, read_all in _OF_PARTS:
            family = GaugeMetricFamily(name, help_text, labels=(*LABELS, label))
            for watched in self._watched:
                if watched.mixture is not None:
                    for part, value in read_all(watched.mixture).items():
                        family.add_metric((*watched.labels, str(part)), value)
            yield family
        yield self._latency()

    def _latency(self) -> Metric:
        family = HistogramMetricFamily(
            "iln_step_duration_seconds", "Time to predict and learn one event.", labels=LABELS
        )
        bounds = [*(f"{bound:g}" for bound in _SECONDS), "+Inf"]
        for watched in self._watched:
            counts, total_seconds = watched.latency
            buckets = list(zip(bounds, accumulate(counts), strict=True))
            family.add_metric(watched.labels, buckets, total_seconds)
        return family


class _Family(NamedTuple):
    kind: type[CounterMetricFamily] | type[GaugeMetricFamily]
    name: str
    help_text: str
    read: Callable[[Watched], float | None]


def _of_algorithm_1(
    read: Callable[[ShrinkingGradient], float],
) -> Callable[[Watched], float | None]:
    return lambda watched: None if watched.algorithm_1 is None else read(watched.algorithm_1)


def _of_mixture(
    read: Callable[[InfiniteLayerRegressor], float],
) -> Callable[[Watched], float | None]:
    return lambda watched: None if watched.mixture is None else read(watched.mixture)


class _OfParts(NamedTuple):
    name: str
    help_text: str
    label: str
    read: Callable[[InfiniteLayerRegressor], Mapping[Any, float]]


MOST_INPUTS = 20
"""Relevances are shown of so many inputs, as Prometheus keeps a series for each."""


def _most_relevant(mixture: InfiniteLayerRegressor) -> dict[Any, float]:
    shares = sorted(mixture.relevance.items(), key=lambda item: item[1], reverse=True)
    return dict(shares[:MOST_INPUTS])


_OF_PARTS = (
    _OfParts(
        "iln_expert_weight",
        "Weight of each expert in the prediction; they sum to one.",
        "expert",
        lambda mixture: mixture.expert_weights,
    ),
    _OfParts(
        "iln_input_relevance",
        "Share of an input in how the learned function varies, of the most relevant inputs.",
        "input",
        _most_relevant,
    ),
    _OfParts(
        "iln_units_redrawn_at",
        "Events learned when an expert's hidden units were last drawn.",
        "expert",
        lambda mixture: mixture.redrawn_at,
    ),
)

_FAMILIES = (
    _Family(
        CounterMetricFamily,
        "iln_events_total",
        "Events predicted, labelled or not.",
        lambda watched: watched.scores.n_events,
    ),
    _Family(
        CounterMetricFamily,
        "iln_labelled_events_total",
        "Events that had a label, and so were scored and learned.",
        lambda watched: watched.scores.n_labelled,
    ),
    _Family(
        CounterMetricFamily,
        "iln_dead_letters_total",
        "Records that were no events, or that the learner failed on.",
        lambda watched: watched.n_dead_letters,
    ),
    _Family(
        CounterMetricFamily,
        "iln_repeated_events_total",
        "Events passed over, as one with the same id was among the latest.",
        lambda watched: watched.n_repeats,
    ),
    _Family(
        GaugeMetricFamily,
        "iln_source_connected",
        "Whether the source is there: 0 while the broker is away.",
        lambda watched: float(watched.source.connected),
    ),
    _Family(
        GaugeMetricFamily,
        "iln_consumer_lag",
        "Offsets between the last poll and the end of the source, as that poll found it.",
        lambda watched: watched.source.lag,
    ),
    _Family(
        GaugeMetricFamily,
        "iln_last_progress_timestamp_seconds",
        "When the learner last took a record or found none to take; it stands still in a hung one.",
        lambda watched: watched.last_progress,
    ),
    _Family(
        GaugeMetricFamily,
        "iln_running_loss",
        "Mean of (E_t - y_t)^2 / 2 since the model's birth, on the learner's own target scale "
        "(in squared units of y for learners that don't tell theirs).",
        lambda watched: watched.scores.running_loss,
    ),
    _Family(
        GaugeMetricFamily,
        "iln_windowed_loss",
        "Like iln_running_loss, over the latest window of labelled events.",
        lambda watched: watched.scores.window_loss.mean,
    ),
    _Family(
        GaugeMetricFamily,
        "iln_running_mae",
        "Mean of |prediction - y| since the model's birth, in y's units.",
        lambda watched: watched.scores.running_mae,
    ),
    _Family(
        GaugeMetricFamily,
        "iln_windowed_mae",
        "Like iln_running_mae, over the latest window of labelled events.",
        lambda watched: watched.scores.window_absolute_error.mean,
    ),
    _Family(
        GaugeMetricFamily,
        "iln_drift",
        "Mean |error| of about the last 50 events over that of the last 1000; about 1 if steady.",
        _of_mixture(lambda mixture: mixture.drift),
    ),
    _Family(
        CounterMetricFamily,
        "iln_shrinks_total",
        "Events on which |E_t| >= 16 B, so that alpha was divided by 4.",
        _of_algorithm_1(lambda learner: learner.n_shrinks),
    ),
    _Family(
        GaugeMetricFamily,
        "iln_shrink_frequency",
        "Shrinks per labelled event, over the latest window of labelled events.",
        lambda watched: None if watched.algorithm_1 is None else watched.scores.window_shrunk.mean,
    ),
    _Family(
        GaugeMetricFamily,
        "iln_alpha_l1",
        "||alpha||_1, the sum of |alpha_i|.",
        _of_algorithm_1(lambda learner: learner.alpha_l1),
    ),
    _Family(
        GaugeMetricFamily,
        "iln_support_points",
        "Points x_i that carry the function.",
        _of_algorithm_1(lambda learner: learner.n_support),
    ),
    _Family(
        GaugeMetricFamily,
        "iln_estimate_variance",
        "Variance of the last E_t, estimated from its own draws.",
        _of_algorithm_1(lambda learner: learner.estimate_variance),
    ),
    _Family(
        GaugeMetricFamily,
        "iln_draws",
        "Draws m of the last E_t.",
        _of_algorithm_1(
            lambda learner: learner.last_update.estimate.draws if learner.last_update else 0
        ),
    ),
    _Family(
        CounterMetricFamily,
        "iln_draws_capped_total",
        "Events on which max_draws kept the estimate from its tolerated variance.",
        _of_algorithm_1(lambda learner: learner.n_capped),
    ),
)
