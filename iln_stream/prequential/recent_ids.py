"""Which events came already: the ids of the latest ones."""

from itertools import islice

from iln_stream.state import Tree


class RecentIds:
    """The ids of the last `size` distinct events, so that a sender's repeats are known as such.

    Asking and remembering are two things: an event that the learner failed on may be sent again.

    Parameters
    ----------
    size
        How many ids are remembered; a repeat that comes later is taken for a new event.

    Examples
    --------
    >>> from iln_stream.prequential import RecentIds
    >>> ids = RecentIds(2)
    >>> for event_id in ("a", "b", "c"):
    ...     ids.add(event_id)
    >>> "a" in ids, "b" in ids
    (False, True)

    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"size = {size} must be at least 1 id")
        self._size = size
        self._ids: dict[str, None] = {}  # in the order they came

    def __contains__(self, event_id: str) -> bool:
        """Tell whether the id is among the remembered."""
        return event_id in self._ids

    def add(self, event_id: str) -> None:
        """Remember the id, in place of the oldest where there are `size` already."""
        self._ids[event_id] = None
        if len(self._ids) > self._size:
            del self._ids[next(iter(self._ids))]

    def state(self) -> Tree:
        """Return the ids, oldest first."""
        return {"ids": list(self._ids)}

    def restore(self, state: Tree) -> None:
        """Remember the ids of a `state()`."""
        ids = state["ids"]
        self._ids = dict.fromkeys(islice(ids, max(0, len(ids) - self._size), None))
