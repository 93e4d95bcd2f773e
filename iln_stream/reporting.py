"""The protocol by which a learner reports its loss, flags and metrics."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

Report: TypeAlias = tuple[float | None, tuple[str, ...]]
"""A learner's report on the event that it just learned: loss and flags.

The loss is on the learner's own scale; None: use the task's loss. The flags are names among the
learner's `flags`, usually none. A plain tuple, because the learner makes one for each event.
"""


class FlagSpec(NamedTuple):
    """Something that may happen at an event, and the metric that shows how often it does.

    Parameters
    ----------
    name
        Name of the flag in a `Report`.
    metric, help
        Name and help text of the metric: the share of flagged events in the last window.

    """

    name: str
    metric: str
    help: str


class MetricSpec(NamedTuple):
    """A number that a learner, a score or a checkpoint exports.

    Parameters
    ----------
    name
        Name in Prometheus; names of counters end in `_total`.
    kind
        "counter" if it only grows, else "gauge".
    help
        One sentence.
    read
        Returns the current value, or a mapping of values if there is a `label`; None or nan for no
        sample. Called from another thread than the learner's.
    label
        Name of the label whose values are the keys of the mapping. A tuple of names: the keys are
        tuples, and others may export further samples of the same metric.
    of_process
        Whether a counter begins at 0 with each process; otherwise it is saved with the learner and
        resumes where its snapshot was.

    """

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    read: Callable[[], float | Mapping[Any, float] | None]
    label: str | tuple[str, ...] | None = None
    of_process: bool = False


Samples: TypeAlias = dict[tuple[str, ...], float]
"""Values by those of several labels."""

ESSENTIAL = (
    "iln_ready",
    "iln_events_total",
    "iln_labelled_events_total",
    "iln_consumer_lag_records",
    "iln_dead_letters_total",
    "iln_error",
    "iln_running_loss",
    "iln_interval_coverage_ratio",
    "iln_recent_error_ratio",
    "iln_snapshot_last_success_timestamp_seconds",
)
"""The ten metrics that tell whether a run is well and its predictions are good."""

_OF_RUN = (
    *("model", "running_mean", "last_value", "median", "day_before", "week_before"),
    *("class_frequencies", "majority_class"),
)


def errors_metric(read: Callable[[], Samples]) -> MetricSpec:
    """Return the metric of errors, which the model, the baselines and a contest export."""
    return MetricSpec(
        "iln_error",
        "gauge",
        "Mean error. measure: mae (|prediction - y|), loss (as iln_running_loss; of contenders "
        "half the squared error, or the log loss) or misclassification (the share of wrong "
        "classes). over: the last window of labelled events, or all since the model was created or "
        "the contender joined. of: the model, a baseline that looks at no input (running_mean, "
        "last_value, median, day_before, week_before, class_frequencies, majority_class), or a "
        "contender.",
        read,
        ("measure", "over", "of"),
    )


def contender_label(name: str) -> str:
    """Return a contender's value of the label `of`, which no baseline has.

    Examples
    --------
    >>> from iln_stream.reporting import contender_label
    >>> contender_label("linear"), contender_label("model")
    ('linear', 'model (contender)')

    """
    return f"{name} (contender)" if name in _OF_RUN else name


def kept_keys_metric(read: Callable[[], Samples]) -> MetricSpec:
    """Return the metric of keys, which models by key, aggregates and series export."""
    return MetricSpec(
        "iln_kept_keys",
        "gauge",
        "Keys that have a model (models; models_in_memory: those that are not only in the file of "
        "keys), keys that have aggregates, and series of which earlier records are kept.",
        read,
        ("of",),
    )


def key_evictions_metric(read: Callable[[], Samples]) -> MetricSpec:
    """Return the metric of keys that made room for others."""
    return MetricSpec(
        "iln_key_evictions_total",
        "counter",
        "Keys that left memory to make room for others: models and aggregates go into files if "
        "there are snapshots, series are forgotten.",
        read,
        ("of",),
    )


@runtime_checkable
class Reporting(Protocol):
    """A learner that reports: implement these three to export your metrics with the others.

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
        """The flags that a report may have."""

    def report(self, y_pred: Any, y: Any) -> Report:
        """Report on the event that was just learned; y_pred is its prediction."""

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the learner's own metrics."""


def find_reporter(model: Any) -> Reporting | None:
    """Return the outermost part of a model that reports, None if none does.

    Looks into the last step of a pipeline and into the learner that a wrapper wraps.
    """
    while model is not None:
        # Look at the type: in River a pipeline is also an instance of its last step's class.
        if all(hasattr(type(model), name) for name in ("flags", "report", "metrics")):
            return model  # type: ignore[no-any-return]
        if isinstance(steps := getattr(model, "steps", None), dict):  # a River pipeline
            model = next(reversed(steps.values()), None)
        else:
            # Not `model`: in an ensemble this is a template that never learns.
            model = getattr(model, "regressor", None)
    return None


def find_metrics(model: Any) -> Sequence[MetricSpec]:
    """Return the metrics of the model's reporter, and of the transformers before it.

    Counters of the same name are added up: in a pipeline, a scaler and a learner may each ignore
    some inputs.
    """
    by_name: dict[str, list[MetricSpec]] = {}
    for part in _with_metrics(model):
        for spec in part.metrics():
            by_name.setdefault(spec.name, []).append(spec)
    return [specs[0] if len(specs) == 1 else _sum(specs) for specs in by_name.values()]


def _with_metrics(model: Any) -> Iterator[Any]:
    """Yield the parts of a model that have metrics, in the order in which they see an event."""
    if hasattr(type(model), "metrics"):
        yield model
    elif isinstance(steps := getattr(model, "steps", None), dict):
        for step in steps.values():
            yield from _with_metrics(step)
    elif (regressor := getattr(model, "regressor", None)) is not None:
        yield from _with_metrics(regressor)


def _sum(specs: Sequence[MetricSpec]) -> MetricSpec:
    reads = [spec.read for spec in specs]

    def total() -> float:
        return sum(read() or 0.0 for read in reads)  # type: ignore[misc]

    return specs[0]._replace(read=total)
