"""What Prometheus sees: plain attributes, read when it asks."""

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import Any, NamedTuple

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector, CollectorRegistry

from iln_stream.learners import InfiniteLayerRegressor, ShrinkingGradient
from iln_stream.listeners.family import LABELS, Family
from iln_stream.listeners.watched import SECONDS, Watched
from iln_stream.streams import Source


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
        for family in _FAMILIES:
            yield family.collected((watched.labels, watched) for watched in self._watched)
        for name, help_text, label, read_all in _OF_PARTS:
            of_parts = GaugeMetricFamily(name, help_text, labels=(*LABELS, label))
            for watched in self._watched:
                if watched.mixture is not None:
                    for part, value in read_all(watched.mixture).items():
                        of_parts.add_metric((*watched.labels, str(part)), value)
            yield of_parts
        yield self._latency()

    def _latency(self) -> Metric:
        family = HistogramMetricFamily(
            "iln_step_duration_seconds", "Time to predict and learn one event.", labels=LABELS
        )
        bounds = [*(f"{bound:g}" for bound in SECONDS), "+Inf"]
        for watched in self._watched:
            counts, total_seconds = watched.latency
            buckets = list(zip(bounds, accumulate(counts), strict=True))
            family.add_metric(watched.labels, buckets, total_seconds)
        return family


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

_FAMILIES: tuple[Family[Watched], ...] = (
    Family(
        CounterMetricFamily,
        "iln_events_total",
        "Events predicted, labelled or not.",
        lambda watched: watched.scores.n_events,
    ),
    Family(
        CounterMetricFamily,
        "iln_labelled_events_total",
        "Events that had a label, and so were scored and learned.",
        lambda watched: watched.scores.n_labelled,
    ),
    Family(
        CounterMetricFamily,
        "iln_dead_letters_total",
        "Records that were no events, or that the learner failed on.",
        lambda watched: watched.n_dead_letters,
    ),
    Family(
        CounterMetricFamily,
        "iln_repeated_events_total",
        "Events passed over, as one with the same id was among the latest.",
        lambda watched: watched.n_repeats,
    ),
    Family(
        GaugeMetricFamily,
        "iln_source_connected",
        "Whether the source is there: 0 while the broker is away.",
        lambda watched: float(watched.source.connected),
    ),
    Family(
        GaugeMetricFamily,
        "iln_consumer_lag",
        "Offsets between the last poll and the end of the source, as that poll found it.",
        lambda watched: watched.source.lag,
    ),
    Family(
        GaugeMetricFamily,
        "iln_last_progress_timestamp_seconds",
        "When the learner last took a record or found none to take; it stands still in a hung one.",
        lambda watched: watched.last_progress,
    ),
    Family(
        GaugeMetricFamily,
        "iln_running_loss",
        "Mean of (E_t - y_t)^2 / 2 since the model's birth, on the learner's own target scale "
        "(in squared units of y for learners that don't tell theirs).",
        lambda watched: watched.scores.running_loss,
    ),
    Family(
        GaugeMetricFamily,
        "iln_windowed_loss",
        "Like iln_running_loss, over the latest window of labelled events.",
        lambda watched: watched.scores.window_loss.mean,
    ),
    Family(
        GaugeMetricFamily,
        "iln_running_mae",
        "Mean of |prediction - y| since the model's birth, in y's units.",
        lambda watched: watched.scores.running_mae,
    ),
    Family(
        GaugeMetricFamily,
        "iln_windowed_mae",
        "Like iln_running_mae, over the latest window of labelled events.",
        lambda watched: watched.scores.window_absolute_error.mean,
    ),
    Family(
        GaugeMetricFamily,
        "iln_drift",
        "Mean |error| of about the last 50 events over that of the last 1000; about 1 if steady.",
        _of_mixture(lambda mixture: mixture.drift),
    ),
    Family(
        CounterMetricFamily,
        "iln_shrinks_total",
        "Events on which |E_t| >= 16 B, so that alpha was divided by 4.",
        _of_algorithm_1(lambda learner: learner.n_shrinks),
    ),
    Family(
        GaugeMetricFamily,
        "iln_shrink_frequency",
        "Shrinks per labelled event, over the latest window of labelled events.",
        lambda watched: None if watched.algorithm_1 is None else watched.scores.window_shrunk.mean,
    ),
    Family(
        GaugeMetricFamily,
        "iln_alpha_l1",
        "||alpha||_1, the sum of |alpha_i|.",
        _of_algorithm_1(lambda learner: learner.alpha_l1),
    ),
    Family(
        GaugeMetricFamily,
        "iln_support_points",
        "Points x_i that carry the function.",
        _of_algorithm_1(lambda learner: learner.n_support),
    ),
    Family(
        GaugeMetricFamily,
        "iln_estimate_variance",
        "Variance of the last E_t, estimated from its own draws.",
        _of_algorithm_1(lambda learner: learner.estimate_variance),
    ),
    Family(
        GaugeMetricFamily,
        "iln_draws",
        "Draws m of the last E_t.",
        _of_algorithm_1(
            lambda learner: learner.last_update.estimate.draws if learner.last_update else 0
        ),
    ),
    Family(
        CounterMetricFamily,
        "iln_draws_capped_total",
        "Events on which max_draws kept the estimate from its tolerated variance.",
        _of_algorithm_1(lambda learner: learner.n_capped),
    ),
)
