"""Waiting events, by id and in order of arrival."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import compress

import numpy as np

from iln_stream.prequential.late.packed import (
    Numbered,
    PackedEvent,
    PackedEvents,
    pack_event,
    pack_events,
    size_of,
    unpack_event,
)
from iln_stream.prequential.late.pending import Pending
from iln_stream.reporting import MetricSpec
from iln_stream.state import Block, StateDict

BLOCK = 2048
"""Events that arrive from one packed block to the next."""

_UNSETTLED = 32
"""Latest events that are not packed, as it is not known yet when they came."""

_SPARSE = 4
"""A block of which this part is left is packed again."""

_ENTRY = 200
"""Bytes that the index takes for an event beside its id, about."""


def _numbered(
    events: dict[int, tuple[str, PackedEvent]], since: dict[int, float]
) -> list[Numbered]:
    """Return open events as they are packed."""
    when = since.get
    return [(serial, event_id, event, when(serial)) for serial, (event_id, event) in events.items()]


class _Sealed:
    """A block of packed events, and which of them still wait."""

    def __init__(self, events: PackedEvents, waiting: bytes | None = None) -> None:
        self.events = events
        self.waiting = bytearray(b"\1" * len(events) if waiting is None else waiting)
        self.n_waiting = sum(self.waiting)
        self.first = 0  # no row before it waits
        self._ids: list[str] | None = None

    def row(self, serial: int) -> int:
        """Return the row of an event."""
        serials = self.events.serials
        row = serial - serials[0]
        if row < len(serials) and serials[row] == serial:  # no gap before it
            return row
        return bisect_left(serials, serial)

    def remove(self, row: int) -> None:
        """Note that an event no longer waits."""
        self.waiting[row] = 0
        self.n_waiting -= 1

    def oldest(self) -> tuple[str, int]:
        """Return id and row of the first event that waits."""
        while not self.waiting[self.first]:
            self.first += 1
        if self._ids is None:
            self._ids = self.events.ids()
        return self._ids[self.first], self.first

    def left(self) -> list[Numbered]:
        """Return the events that still wait."""
        return self.events.numbered(compress(range(len(self.events)), self.waiting))


class PendingStore:
    """Events that wait for their labels: by id, and the oldest first.

    Each is packed as it comes, while its numbers are in the processor's cache. All but the latest
    are in blocks of those with serial numbers between two multiples of 2,048: a snapshot stores a
    block once, and then only which of its events still wait. A block of which few are left is
    packed again.

    Examples
    --------
    >>> from iln_stream.prequential.late import Pending, PendingStore
    >>> store = PendingStore()
    >>> for name, a in (("e1", 1.0), ("e2", 2.0)):
    ...     _ = store.add(name, Pending({"a": a}, 0.5, None, 0, 17))
    >>> store.remove("e1")
    >>> store.get("e2").x, store.oldest(), len(store)
    ({'a': 2.0}, ('e2', None), 1)

    """

    def __init__(self) -> None:
        self._next = 0
        self._serials: dict[str, int] = {}
        self._open: dict[int, tuple[str, PackedEvent]] = {}
        self._since: dict[int, float] = {}  # of open events
        self._sealed: dict[int, _Sealed] = {}
        self._n_bytes = 0  # of blocks and of the open events

    def __len__(self) -> int:
        """Return the number of waiting events."""
        return len(self._serials)

    def __contains__(self, event_id: object) -> bool:
        """Return whether an event with this id waits."""
        return event_id in self._serials

    @property
    def n_bytes(self) -> int:
        """Memory that the events take, about."""
        return self._n_bytes + _ENTRY * len(self._serials)

    def add(self, event_id: str, event: Pending) -> int:
        """Add an event, as the newest; none with this id may wait. Return its serial number."""
        serial = self._next
        packed = pack_event(event)
        self._serials[event_id] = serial
        self._open[serial] = (event_id, packed)
        self._n_bytes += size_of(packed)
        self._next = serial + 1
        if self._next % BLOCK == _UNSETTLED and self._next > BLOCK:
            self._seal(self._next // BLOCK - 1)
        return serial

    def settle(self, serial: int, since: float) -> None:
        """Note when one of the latest events came, if it still waits."""
        if serial in self._open:
            self._since[serial] = since

    def get(self, event_id: str) -> Pending | None:
        """Return the waiting event with this id, or None."""
        serial = self._serials.get(event_id)
        if serial is None:
            return None
        if (found := self._open.get(serial)) is not None:
            return unpack_event(*found[1])
        block = self._sealed[serial // BLOCK]
        return block.events[block.row(serial)]

    def remove(self, event_id: str) -> None:
        """Remove the event with this id."""
        serial = self._serials.pop(event_id)
        if (found := self._open.pop(serial, None)) is not None:
            self._since.pop(serial, None)
            self._n_bytes -= size_of(found[1])
            return
        number = serial // BLOCK
        block = self._sealed[number]
        block.remove(block.row(serial))
        if _SPARSE * block.n_waiting <= len(block.events):
            self._pack_again(number, block)

    def items(self) -> Iterator[tuple[str, Pending]]:
        """Yield the ids and events that wait, in order of arrival."""
        for block in self._sealed.values():
            yield from ((event_id, unpack_event(*event)) for _, event_id, event, _ in block.left())
        yield from ((event_id, unpack_event(*event)) for event_id, event in self._open.values())

    def oldest(self) -> tuple[str, float | None] | None:
        """Return the id of the event that waits longest, and when it came; None: not known yet."""
        if self._sealed:
            block = next(iter(self._sealed.values()))
            event_id, row = block.oldest()
            return event_id, block.events.since(row)
        for serial, (event_id, _) in self._open.items():
            return event_id, self._since.get(serial)
        return None

    def _seal(self, number: int) -> None:
        """Pack the open events of a block."""
        end = (number + 1) * BLOCK
        events, since = self._open, self._since
        self._open = {serial: each for serial, each in events.items() if serial >= end}
        self._since = {serial: when for serial, when in since.items() if serial >= end}
        for serial in self._open:
            del events[serial]
        self._n_bytes -= sum([size_of(event) for _, event in events.values()])
        if events:
            self._keep(number, _Sealed(PackedEvents(pack_events(_numbered(events, since)))))

    def _keep(self, number: int, block: _Sealed) -> None:
        self._sealed[number] = block
        self._n_bytes += block.events.n_bytes

    def _pack_again(self, number: int, block: _Sealed) -> None:
        """Replace a block by one of the events that are left, or remove it."""
        self._n_bytes -= block.events.n_bytes
        if not block.n_waiting:
            del self._sealed[number]
            return
        self._keep(number, _Sealed(PackedEvents(pack_events(block.left()))))

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the exported metrics."""
        return (
            MetricSpec(
                "iln_pending_events",
                "gauge",
                "Predicted events that wait for their label.",
                lambda: len(self),
            ),
            MetricSpec(
                "iln_pending_bytes",
                "gauge",
                "Approximate memory of the events that wait for their label.",
                lambda: self.n_bytes,
            ),
        )

    def state(self) -> StateDict:
        """Return the waiting events: those in blocks as `Block`, and which of them wait."""
        return {
            "next": self._next,
            "latest": np.array(pack_events(_numbered(self._open, self._since))),
            "numbers": list(self._sealed),
            "blocks": [block.events.packed for block in self._sealed.values()],
            "waiting": [
                np.packbits(np.frombuffer(block.waiting, np.uint8))
                for block in self._sealed.values()
            ],
        }

    def restore(self, state: StateDict) -> None:
        """Replace the events by those of a `state()`."""
        self._next, self._n_bytes = state["next"], 0
        self._serials, self._open, self._sealed, self._since = {}, {}, {}, {}
        for number, packed, waiting in zip(
            state["numbers"], state["blocks"], state["waiting"], strict=True
        ):
            events = PackedEvents(packed if isinstance(packed, Block) else Block(packed))
            bits = np.unpackbits(waiting, count=len(events)).tobytes()
            self._keep(number, _Sealed(events, bits))
            for event_id, serial, waits in zip(events.ids(), events.serials, bits, strict=True):
                if waits:
                    self._serials[event_id] = serial
        latest = PackedEvents(state["latest"])
        for serial, event_id, event, since in latest.numbered(range(len(latest))):
            self._serials[event_id] = serial
            self._open[serial] = (event_id, event)
            if since is not None:
                self._since[serial] = since
            self._n_bytes += size_of(event)
