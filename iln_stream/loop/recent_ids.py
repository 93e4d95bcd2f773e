"""The ids of recent events and labels, to recognise repeats."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from iln_stream.loop.pending import refused_labels_metric
from iln_stream.records import Example, MalformedError
from iln_stream.reporting import MetricSpec
from iln_stream.state import StateDict, decode_name, encode_name


class RecentIds:
    """The ids of the last `size` events, and the last `size` labels by id.

    An event and its label may come in one record or in two; a record is a repeat if it brings
    nothing new. A second label that differs from the first is no repeat: it can't be learned, since
    the first can't be unlearned. Ids are added when their record is done, since an event that the
    learner failed on may be sent again.

    Parameters
    ----------
    size
        Number of ids of each kind that are kept; a repeat that comes later counts as new.
    labelled
        Whether labels are those of their records' events. False, as in forecasts: a record with the
        id of an earlier one is a repeat, whatever its label.

    Examples
    --------
    >>> from iln_stream.records import Example
    >>> from iln_stream.loop import RecentIds
    >>> ids = RecentIds(2)
    >>> ids.add_event("a")
    >>> ids.is_repeat(Example({}, None, "a", None)), ids.is_repeat(Example({}, 7.0, "a", None))
    (True, False)

    """

    def __init__(self, size: int, *, labelled: bool = True) -> None:
        if size < 1:
            raise ValueError(f"size = {size} must be at least 1 id")
        self._size = size
        self._labelled = labelled
        self._events: dict[str, None] = {}  # in order of arrival
        self._labels: dict[str, Any] = {}
        self.n_corrected = 0  # second labels that differed from the first

    def is_repeat(self, example: Example) -> bool:
        """Return whether an example brings nothing new.

        Raises
        ------
        MalformedError
            When another label was learned for the same event.

        """
        event_id, y = example.id, example.y
        if event_id is None:
            return False
        if y is None or not self._labelled:
            return event_id in self._events
        if event_id not in self._labels:
            return False
        if (first := self._labels[event_id]) != y:
            self.n_corrected += 1
            raise MalformedError(
                f"y: event {event_id!r} was learned with the label {first!r}, which can't be "
                f"changed to {y!r}"
            )
        return True

    def knows(self, event_id: str) -> bool:
        """Return whether an event or a label of this id was added, and not dropped since."""
        return event_id in self._events or event_id in self._labels

    def add_event(self, event_id: str) -> None:
        """Add the id of an event, and drop the oldest beyond `size`."""
        self._events[event_id] = None
        if len(self._events) > self._size:
            del self._events[next(iter(self._events))]

    def add_label(self, event_id: str, y: Any) -> None:
        """Add the label of an event, and drop the oldest beyond `size`."""
        if not self._labelled:
            return
        self._labels[event_id] = y
        if len(self._labels) > self._size:
            del self._labels[next(iter(self._labels))]

    def metrics(self) -> Sequence[MetricSpec]:
        return (refused_labels_metric("corrected", lambda: self.n_corrected),)

    def state(self) -> StateDict:
        """Return ids and labels, oldest first."""
        return {
            "ids": list(self._events),
            "labels": list(self._labels),
            "values": [encode_name(y) for y in self._labels.values()],
            "n_corrected": self.n_corrected,
        }

    def restore(self, state: StateDict) -> None:
        """Replace all by a `state()`."""
        values = map(decode_name, state["values"])
        self._events = self._latest(dict.fromkeys(state["ids"]))
        self._labels = self._latest(dict(zip(state["labels"], values, strict=True)))
        self.n_corrected = state["n_corrected"]

    def _latest(self, ids: dict[str, Any]) -> dict[str, Any]:
        return dict(islice(ids.items(), max(0, len(ids) - self._size), None))
