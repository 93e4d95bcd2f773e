"""The ids of recent events and labels, to recognise repeats."""

from itertools import islice

from iln_stream.state import StateDict


class RecentIds:
    """The ids of the last `size` events, and of the last `size` labels.

    An event and its label may come in one record or in two; a record is a repeat if it brings
    nothing new. `is_repeat` does not add the id, since an event that the learner failed on may be
    sent again.

    Parameters
    ----------
    size
        Number of ids of each kind that are kept; a repeat that comes later counts as new.

    Examples
    --------
    >>> from iln_stream.prequential import RecentIds
    >>> ids = RecentIds(2)
    >>> ids.add("a", event=True, label=False)
    >>> ids.is_repeat("a", label=False), ids.is_repeat("a", label=True)
    (True, False)

    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"size = {size} must be at least 1 id")
        self._size = size
        self._events: dict[str, None] = {}  # in order of arrival
        self._labels: dict[str, None] = {}

    def is_repeat(self, event_id: str, *, label: bool) -> bool:
        """Return whether a record with this id, with or without a label, brings nothing new."""
        return event_id in (self._labels if label else self._events)

    def add(self, event_id: str, *, event: bool, label: bool) -> None:
        """Add an id to the events, the labels or both, and drop the oldest beyond `size`."""
        for ids, came in ((self._events, event), (self._labels, label)):
            if came:
                ids[event_id] = None
                if len(ids) > self._size:
                    del ids[next(iter(ids))]

    def state(self) -> StateDict:
        """Return the ids, oldest first."""
        return {"ids": list(self._events), "labels": list(self._labels)}

    def restore(self, state: StateDict) -> None:
        """Replace the ids by those of a `state()`; release 0.1.0 stored one list for both kinds."""
        self._events = self._latest(state["ids"])
        self._labels = self._latest(state["labels"] if "labels" in state else state["ids"])

    def _latest(self, ids: list[str]) -> dict[str, None]:
        return dict.fromkeys(islice(ids, max(0, len(ids) - self._size), None))
