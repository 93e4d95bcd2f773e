"""Which events came already: the ids of the latest ones."""

from itertools import islice

from iln_stream.state import Tree


class RecentIds:
    """The ids of the last `size` distinct events, so that a sender's repeats are known as such.

    Parameters
    ----------
    size
        How many ids are remembered; a repeat that comes later is taken for a new event.

    Examples
    --------
    >>> from iln_stream.prequential import RecentIds
    >>> ids = RecentIds(2)
    >>> [ids.is_repeat(event_id) for event_id in ("a", "b", "a", "c", "a")]
    [False, False, True, False, False]

    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"size = {size} must be at least 1 id")
        self._size = size
        self._ids: dict[str, None] = {}  # in the order they came

    def is_repeat(self, event_id: str) -> bool:
        """Tell whether the id is among the remembered, and remember it if not."""
        if event_id in self._ids:
            return True
        self._ids[event_id] = None
        if len(self._ids) > self._size:
            del self._ids[next(iter(self._ids))]
        return False

    def state(self) -> Tree:
        """Return the ids, oldest first."""
        return {"ids": list(self._ids)}

    def restore(self, state: Tree) -> None:
        """Remember the ids of a `state()`."""
        ids = state["ids"]
        self._ids = dict.fromkeys(islice(ids, max(0, len(ids) - self._size), None))
