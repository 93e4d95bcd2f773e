"""What a loop keeps beside its learner, and stores in snapshots."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from iln_stream.listeners import ModelMetrics
from iln_stream.mapping import MappedDecoder
from iln_stream.prequential import PendingEvents, RecentIds
from iln_stream.service.settings import Settings
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
    learner
        Learns the labels of waiting events.
    counts
        Counts and scores of the learner.
    decoder
        Makes examples of records; None: records are events.

    Attributes
    ----------
    recent_ids : RecentIds or None
        Ids of recent events; None: not used.
    pending : PendingEvents or None
        Waiting events; None: not used.

    """

    def __init__(
        self,
        settings: Settings,
        learner: Any,
        counts: ModelMetrics,
        decoder: MappedDecoder | None = None,
    ) -> None:
        n_ids, n_pending = settings.recent_ids, settings.pending_events
        self.recent_ids = RecentIds(n_ids) if n_ids else None
        self.pending = PendingEvents(learner, n_pending) if n_pending else None
        self._stateful: Mapping[str, _Stateful | None] = {
            "counts": counts,
            "recent_ids": self.recent_ids,
            "pending": self.pending,
            "decoder": decoder,
        }

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


def _no_state() -> None:
    """Return None, the state of a part that is not used."""
