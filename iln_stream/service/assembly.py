"""Assembles the loop of a learner: all of it that the settings describe."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Protocol

from prometheus_client.registry import CollectorRegistry

from iln_stream.loop import (
    Forecasts,
    Horizon,
    LateLabels,
    LatePolicy,
    Listener,
    PrequentialLoop,
    RecentIds,
    Task,
)
from iln_stream.loop.live import LiveModel
from iln_stream.loop.metrics import Metrics
from iln_stream.records import EnvelopeDecoder, MalformedError
from iln_stream.records.fields import RECORDS_KEY
from iln_stream.reporting import MetricSpec
from iln_stream.service.decoding import build_aggregates, build_decoder, build_weights, look_of
from iln_stream.service.learners import DetailsOf, PredictOnly, quantile_levels, task_of
from iln_stream.service.settings import LATE_SETTINGS, LabelSettings, LoopSettings, RecordSettings
from iln_stream.service.streams import build_label_log, forgets_of, label_stream
from iln_stream.settings import SettingsError
from iln_stream.snapshots import Checkpoint
from iln_stream.state import StateDict
from iln_stream.streams import Scheme, Source


class _Stateful(Protocol):
    def state(self) -> StateDict: ...

    def restore(self, state: StateDict) -> None: ...


class Assembly:
    """A learner with what its loop needs by the settings, and what snapshots keep of that.

    If the learner only predicts, no label is missed. `horizon` says how far ahead it forecasts;
    None: it does not.

    Attributes
    ----------
    task : Task
        Regression or classification.
    watched : ModelMetrics
        Counts and scores of the learner. A listener: the loop's listeners have to include it.
    aggregates : Aggregates or None
        Makes inputs of the earlier events of the same key; None: not used.
    mapped : MappedDecoder or None
        Makes examples of records; None: records are events.
    recent_ids : RecentIds or None
        Ids of recent events; None: not used.
    late : LateLabels, Forecasts or None
        Events and labels that wait for each other, or for later values; None: not used.
    forgets : Forgets or None
        Leaves out records that are forgotten; None: there are none.
    live : LiveModel or None
        What /live shows, if it is set.

    """

    def __init__(
        self,
        settings: LoopSettings,
        stream: Scheme,
        source: Source,
        learner: Any,
        model: str,
        metrics: Metrics | None = None,
        horizon: Horizon | None = None,
    ) -> None:
        self._settings = settings
        self.learner = learner
        self.task = task = task_of(learner)
        metrics = metrics or Metrics(CollectorRegistry(), settings.window)
        levels = settings.prediction_intervals
        quantiles = quantile_levels(learner)
        self.watched = metrics.watch(learner, source, model, task, levels, quantiles)
        n_ids = settings.recent_ids
        self.recent_ids = RecentIds(n_ids, labelled=horizon is None) if n_ids else None
        self.late: LateLabels | Forecasts | None = None
        if horizon is not None:
            self.late = Forecasts(horizon, task, levels, several=bool(settings.series))
        elif (policy := late_policy(settings, task)) is not None:
            streams = [each.name for each in (stream, label_stream(settings)) if each is not None]
            self.late = LateLabels(policy, task, streams)
        self.live: LiveModel | None = None
        self._key_name = RECORDS_KEY if settings.by_key == RECORDS_KEY else None
        self._labels = build_label_log(settings, task)
        self.aggregates = build_aggregates(settings)
        self._read(settings, stream, source)

    def _read(self, records: RecordSettings, stream: Scheme, source: Source) -> None:
        self._source = source
        labelled = self._labels is None and not isinstance(self.learner, PredictOnly)
        self.mapped = build_decoder(
            records,
            stream,
            self.task,
            labelled=labelled,
            aggregates=self.aggregates,
        )
        self._decoder = self.mapped or EnvelopeDecoder(
            self.task.event_type,
            self.task.label_type,
            look_of(records),
            as_texts=records.learner_inputs == "record",
        )
        self._weights = build_weights(self._settings, records, self.learner)
        self.forgets = forgets_of(self._settings, records, stream)
        if self.forgets is not None and isinstance(self.late, LateLabels):
            self.forgets.on_event = self.late.forget

    def reading(self, records: RecordSettings, stream: Scheme, source: Source) -> "Assembly":
        """Return the assembly in which the same learner reads a stream that has its own labels."""
        other = copy(self)
        other._labels = None
        other._read(records, stream, source)
        return other

    def loop(
        self,
        listeners: Sequence[Listener],
        checkpoint: Checkpoint | None = None,
        details: DetailsOf | None = None,
        *,
        never_learned: bool = False,
        max_failures_in_a_row: int = 100,
    ) -> PrequentialLoop:
        """Return the loop; see `PrequentialLoop`."""
        return PrequentialLoop(
            self._source, self.learner, listeners, max_failures_in_a_row, self.recent_ids,
            task=self.task, late=self.late, checkpoint=checkpoint, decoder=self._decoder,
            details=details, weights=self._weights, labels=self._labels,
            never_learned=never_learned, key_name=self._key_name, forgets=self.forgets,
        )  # fmt: skip

    def metrics(self) -> Iterator[MetricSpec]:
        """Yield the metrics of the parts that are used, except for the counts'."""
        for part in (self._decoder, self.recent_ids, self.late, self.forgets):
            if part is not None:
                yield from part.metrics()

    def warn_of_unseen(self) -> None:
        """Warn of fields that the settings name and no record had."""
        if self.mapped is not None:
            self.mapped.warn_of_unseen()
        if self._labels is not None:
            self._labels.decode.warn_of_unseen()

    @property
    def states(self) -> dict[str, Callable[[], StateDict | None]]:
        """Functions that return the state of each part, by name; None: the part is not used."""
        return {
            name: (lambda: None) if part is None else part.state
            for name, part in self._stateful.items()
        }

    def restore(self, saved: Callable[[str], StateDict | None]) -> None:
        """Restore each part from the state that `saved` returns for its name; None: none saved."""
        for name, part in self._stateful.items():
            if part is not None and (state := saved(name)) is not None:
                part.restore(state)

    @property
    def _stateful(self) -> Mapping[str, _Stateful | None]:
        return {
            "counts": self.watched,
            "recent_ids": self.recent_ids,
            "pending": self.late,
            "decoder": self.mapped,
            "live": self.live,
            "forgotten": self.forgets,
        }


EARLY_LABELS = 1000
"""Number of labels that may wait for their event."""


def late_policy(settings: LabelSettings, task: Task) -> LatePolicy | None:
    """Return how long events wait for labels; None: labels don't come in records of their own.

    Raises
    ------
    SettingsError
        When the settings contradict each other.

    """
    if settings.pending_events is None:
        given = [name for name in LATE_SETTINGS if name in settings.model_fields_set]
        if given:
            raise SettingsError(f"{given[0]}: set pending_events, too: how many events may wait")
        return None
    if settings.pending_expired == "learn":
        if settings.pending_label is None:
            raise SettingsError("pending_label: say which label pending_expired = learn assumes")
        if settings.pending_seconds is None:
            raise SettingsError("pending_seconds: say after how long the label is assumed")
    elif settings.pending_label is not None:
        raise SettingsError("pending_label: set pending_expired = learn, too")
    if settings.pending_label is not None:
        try:
            task.label(settings.pending_label)
        except MalformedError as error:
            raise SettingsError(f"pending_label: {error}") from error
    return LatePolicy(
        settings.pending_events,
        settings.pending_seconds,
        settings.pending_expired,
        settings.pending_label,
        EARLY_LABELS,
    )
