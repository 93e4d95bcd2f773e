"""What a loop keeps beside its learner, and stores in snapshots."""

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from iln_stream.events import MalformedError
from iln_stream.listeners import ModelMetrics
from iln_stream.live import LiveModel
from iln_stream.mapping import MappedDecoder
from iln_stream.prequential import Forecasts, Horizon, LateLabels, LatePolicy, RecentIds, Task
from iln_stream.reporting import MetricSpec
from iln_stream.service.settings import LATE_SETTINGS, Settings, SettingsError
from iln_stream.state import StateDict


class _Stateful(Protocol):
    def state(self) -> StateDict: ...

    def restore(self, state: StateDict) -> None: ...


class LoopState:
    """The counts of a loop, the ids of its recent events, and the events that wait for labels.

    Parameters
    ----------
    settings
        `recent_ids` and `pending_events` say which of these parts are used.
    task
        Regression or classification.
    counts
        Counts and scores of the learner.
    decoder
        Makes examples of records; None: records are events.
    live
        What /live shows; None: nothing.

    Attributes
    ----------
    recent_ids : RecentIds or None
        Ids of recent events; None: not used.
    late : LateLabels, Forecasts or None
        Events and labels that wait for each other, or for later values; None: not used.

    """

    def __init__(
        self,
        settings: Settings,
        task: Task,
        counts: ModelMetrics,
        decoder: MappedDecoder | None = None,
        live: LiveModel | None = None,
    ) -> None:
        n_ids = settings.recent_ids
        self.recent_ids = RecentIds(n_ids, labelled=not settings.horizon) if n_ids else None
        self.late = _late(settings, task)
        self._stateful: Mapping[str, _Stateful | None] = {
            "counts": counts,
            "recent_ids": self.recent_ids,
            "pending": self.late,
            "decoder": decoder,
            "live": live,
        }

    def metrics(self) -> Iterator[MetricSpec]:
        """Yield the metrics of the parts that are used, except for the counts'."""
        for part in (self.recent_ids, self.late):
            if part is not None:
                yield from part.metrics()

    @property
    def parts(self) -> dict[str, Callable[[], StateDict | None]]:
        """Functions that return the state of each part, by name; None: the part is not used."""
        return {
            name: _no_state if part is None else part.state for name, part in self._stateful.items()
        }

    def restore(self, saved: Callable[[str], StateDict | None]) -> None:
        """Restore each part from the state that `saved` returns for its name; None: none saved."""
        for name, part in self._stateful.items():
            if part is not None and (state := saved(name)) is not None:
                part.restore(state)


def _late(settings: Settings, task: Task) -> LateLabels | Forecasts | None:
    if not settings.horizon:
        policy = late_policy(settings, task)
        return None if policy is None else LateLabels(policy, task)
    (horizon,) = settings.horizon
    return Forecasts(Horizon.of(horizon), task)


def late_policy(settings: Settings, task: Task) -> LatePolicy | None:
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
        settings.pending_bytes,
        settings.pending_seconds,
        settings.pending_expired,
        settings.pending_label,
        settings.early_labels,
    )


def _no_state() -> None:
    """Return None, the state of a part that is not used."""
