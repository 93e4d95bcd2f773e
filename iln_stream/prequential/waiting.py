"""What was predicted for events that wait for a label, until the label is scored."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from iln_stream.state import StateDict

T = TypeVar("T")


class Waiting(Generic[T]):
    """Values by event id, kept and dropped as `PendingEvents` does with the events themselves.

    Parameters
    ----------
    size
        Maximum number of waiting events; beyond it the oldest is dropped. 0: none is kept.

    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: dict[str, T] = {}

    def keep(self, event_id: str | None, value: T) -> None:
        """Keep the value of an event without a label, as the newest."""
        if not self._size or event_id is None:
            return
        self._values.pop(event_id, None)
        self._values[event_id] = value
        if len(self._values) > self._size:
            del self._values[next(iter(self._values))]

    def take(self, event_id: str | None, default: T) -> T:
        """Remove and return the value of an event whose label came; `default` if none is kept."""
        return default if event_id is None else self._values.pop(event_id, default)

    def state(self, stored: Callable[[T], Any]) -> StateDict:
        """Return ids and values, oldest first; `stored` makes a plain value of each."""
        return {"ids": list(self._values), "values": [stored(v) for v in self._values.values()]}

    def restore(self, state: StateDict, restored: Callable[[Any], T]) -> None:
        """Restore a `state()`; `restored` undoes `stored`."""
        if self._size:
            values = map(restored, state["values"])
            self._values = dict(zip(state["ids"], values, strict=True))
