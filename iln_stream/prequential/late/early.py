"""Labels whose event has not come yet."""

from typing import NamedTuple

from iln_stream.events import Example
from iln_stream.state import StateDict, decode_name, encode_name


class EarlyLabel(NamedTuple):
    """A label, and the record that brought it.

    Parameters
    ----------
    label
        The decoded record.
    partition, offset, payload
        The record, to be written to the dead letters if no event comes.
    since
        When it came; None: not known yet (see `RecordClock`).

    """

    label: Example
    partition: int
    offset: int
    payload: bytes
    since: float | None = None


class EarlyLabels:
    """Labels by the id of the event, the oldest first.

    Parameters
    ----------
    size
        Most labels; the caller removes the oldest beyond it.

    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._labels: dict[str, EarlyLabel] = {}

    def __len__(self) -> int:
        """Return the number of labels."""
        return len(self._labels)

    @property
    def too_many(self) -> bool:
        """Whether there are more than `size`."""
        return len(self._labels) > self._size

    def get(self, event_id: str) -> EarlyLabel | None:
        """Return the label of an event, or None."""
        return self._labels.get(event_id)

    def add(self, event_id: str, label: EarlyLabel) -> None:
        """Keep a label."""
        self._labels[event_id] = label

    def settle(self, event_id: str, partition: int, offset: int, since: float) -> None:
        """Note when the label of an event came, if it is still the one of this record."""
        label = self._labels.get(event_id)
        if label is not None and (label.partition, label.offset) == (partition, offset):
            self._labels[event_id] = label._replace(since=since)

    def pop(self, event_id: str) -> None:
        """Forget the label of an event, if there is one."""
        self._labels.pop(event_id, None)

    def oldest(self) -> tuple[str, EarlyLabel] | None:
        """Return id and label that wait longest."""
        return next(iter(self._labels.items()), None)

    def state(self) -> StateDict:
        """Return the labels, oldest first."""
        return {
            "ids": list(self._labels),
            "labels": [
                {
                    "y": encode_name(each.label.y),
                    "time": each.label.time,
                    "weight": each.label.weight,
                    "partition": each.partition,
                    "offset": each.offset,
                    "payload": each.payload.decode("utf-8", errors="surrogateescape"),
                    "since": each.since,
                }
                for each in self._labels.values()
            ],
        }

    def restore(self, state: StateDict) -> None:
        """Replace the labels by those of a `state()`."""
        self._labels = {
            event_id: EarlyLabel(
                Example(None, decode_name(s["y"]), event_id, s["time"], s["weight"]),
                s["partition"],
                s["offset"],
                s["payload"].encode("utf-8", errors="surrogateescape"),
                s["since"],
            )
            for event_id, s in zip(state["ids"], state["labels"], strict=True)
        }
