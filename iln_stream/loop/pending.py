"""Predicted events that wait for their labels, small in memory and stored once."""

import json
import struct
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, compress
from struct import Struct
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from iln_stream.loop.step import Prediction, Step, Token
from iln_stream.reporting import MetricSpec
from iln_stream.state import ArrayBlock, StateDict, decode_name, encode_name


def refused_labels_metric(reason: str, read: Callable[[], int]) -> MetricSpec:
    """Return the metric of labels that became dead letters, for one reason."""
    return MetricSpec(
        "iln_labels_refused_total",
        "counter",
        "Labels that became dead letters: no event with their id waited (no_event), or another "
        "label of the event was learned (corrected).",
        lambda: {(reason,): read()},
        ("reason",),
    )


class Pending(NamedTuple):
    """What is known of an event that waits for its label."""

    x: Mapping[Any, float]  # its inputs
    y_pred: Prediction  # the prediction that was published
    time: float | None  # when it happened, in POSIX seconds; None: unknown
    # partition, offset: position of its record in the log of events
    partition: int
    offset: int
    token: Token | None = None  # what the learner computed then; None: the learner makes no tokens
    weight: float | None = None  # how much it counts when it is learned; None: not given
    intervals: tuple[tuple[float, float], ...] = ()  # lower and upper bounds that were published
    baselines: tuple[float, ...] = ()  # what trivial predictors predicted then
    quantiles: tuple[float, ...] = ()  # those that were published

    @classmethod
    def of(
        cls, step: Step, token: Token | None, weight: float | None, baselines: tuple[float, ...]
    ) -> "Pending":
        """Return an event that was just predicted in a step."""
        return cls(
            step.x, step.y_pred, step.time, step.origin.partition, step.offset, token, weight,
            step.details.intervals, baselines, step.details.quantiles,
        )  # fmt: skip


_NAN = float("nan")
_TEXT = "\0text "
"""Before the name and the value of an input that is a text, in the names of a shape."""

_FIXED = 2
"""Numbers of every event: its time and its offset."""

_OVERHEAD = 4 * 8
"""Bytes that a row takes beside its numbers, about."""

_Stored: TypeAlias = tuple[Any, ...]
"""A shape as it is stored: partition, names, classes, how many intervals, baselines and numbers of
a token there are, whether there is a weight, and how many quantiles there are, if there are any."""


class _Shape(NamedTuple):
    """What many events have in common, and where a row has what."""

    stored: _Stored
    row: Struct
    classes: list[Any] | None  # None: the prediction is a number
    predicted: slice
    inputs: slice
    lower: range  # of the lower ends of intervals; each is followed by the upper one
    quantiles: slice
    baselines: slice
    token: slice | None  # None: there is no token
    weighted: bool  # the weight is the last number
    texts: tuple[str, ...]  # names of inputs that are texts, if any is


@lru_cache(1024)
def _shape(*stored: Any) -> _Shape:
    _, names, classes, n_intervals, n_baselines, n_token, weighted, *more = stored
    inputs = _FIXED + (1 if classes is None else len(classes))
    ends = inputs + len(names)
    quantiles = ends + 2 * n_intervals
    baselines = quantiles + sum(more)
    token = baselines + n_baselines
    end = token + (n_token or 0)
    return _Shape(
        stored,
        Struct(f"{end + weighted}d"),
        None if classes is None else [decode_name(each) for each in classes],
        slice(_FIXED, inputs),
        slice(inputs, ends),
        range(ends, quantiles, 2),
        slice(quantiles, baselines),
        slice(baselines, token),
        None if n_token is None else slice(token, end),
        weighted,
        tuple(name for name in names if name.startswith(_TEXT)),
    )


PackedEvent: TypeAlias = tuple[bytes, _Shape]
"""A row of doubles: `_FIXED` numbers, predictions, inputs, ends of intervals, quantiles, baselines,
the token and the weight. Making a plain tuple takes a tenth of the time of a named one."""


def size_of(event: PackedEvent) -> int:
    """Return an event's size in memory, about."""
    return len(event[0]) + _OVERHEAD


def pack_event(event: Pending) -> PackedEvent:
    """Return an event as bytes."""
    try:
        return _packed(event)
    except struct.error:  # with learner_inputs = record an input may be a text
        x: dict[str, Any] = {}
        for name, value in event.x.items():
            if isinstance(value, str):
                x[_TEXT + json.dumps([name, value])] = 1.0
            else:
                x[name] = value
        return _packed(event._replace(x=x))


def _packed(event: Pending) -> PackedEvent:
    x, y_pred, time, partition, offset, token, weight, intervals, baselines, quantiles = event
    predicted: Iterable[float]
    if isinstance(y_pred, float):
        classes, predicted = None, (y_pred,)
    else:
        classes, predicted = tuple(map(encode_name, y_pred)), y_pred.values()
    n_token = None if token is None else len(token)
    weighted = weight is not None
    counts = len(intervals), len(baselines), n_token, weighted
    more = (len(quantiles),) if quantiles else ()
    shape = _shape(partition, tuple(x), classes, *counts, *more)
    row = shape.row.pack(
        _NAN if time is None else time,
        offset,
        *predicted,
        *x.values(),
        *chain.from_iterable(intervals),
        *quantiles,
        *baselines,
        *(() if token is None else token.tolist()),
        *((weight,) if weighted else ()),
    )
    return row, shape


def unpack_event(row: bytes | memoryview, shape: _Shape, at: int = 0) -> Pending:
    """Return the event whose row begins at a byte."""
    (
        stored, numbers, classes, predicted, inputs, lower, quantiles, baselines, token, weighted,
        texts,
    ) = shape  # fmt: skip
    values = numbers.unpack_from(row, at)
    time = values[0]
    y_pred: float | dict[Any, float]
    if classes is None:
        y_pred = values[_FIXED]
    else:
        y_pred = dict(zip(classes, values[predicted], strict=True))
    x: dict[str, Any] = dict(zip(stored[1], values[inputs]))  # noqa: B905 (`strict` adds half of it)
    if texts:
        pairs = (json.loads(n[len(_TEXT) :]) if n in texts else (n, v) for n, v in x.items())
        x = dict(pairs)
    return Pending(
        x,
        y_pred,
        time if time == time else None,
        stored[0],
        int(values[1]),
        None if token is None else np.array(values[token]),
        values[-1] if weighted else None,
        tuple([(values[low], values[low + 1]) for low in lower]),
        values[baselines],
        values[quantiles],
    )


Numbered: TypeAlias = tuple[int, str, PackedEvent, float | None]
"""An event with its serial number, its id, and when it came; None: not known yet."""


class PackedEvents:
    """Events that never change, in the order in which they came.

    Names, classes and counts are kept once for all events that have the same; serial numbers
    without a gap, and the places of rows of one size, by the first. `packed` is what `pack_events`
    returned.
    """

    def __init__(self, packed: NDArray[np.uint8]) -> None:
        self.packed = packed
        # Reading a number of a memoryview takes a third of the time of reading one of an array.
        view = memoryview(np.asarray(packed).data)
        n, n_rows, n_shapes, first, size = view[: (at := 40)].cast("q")
        self.serials: Sequence[int] = range(first, first + n)
        if first < 0:
            self.serials = view[at : (at := at + 8 * n)].cast("q")
        self._begins: Sequence[int] = range(0, n_rows, size or 1)
        if not size:
            self._begins = view[at : (at := at + 8 * n)].cast("q")
        self._since = view[at : (at := at + 8 * n)].cast("d")
        self._numbers = view[at : (at := at + 2 * n)].cast("H")
        self._rows = view[at : (at := at + n_rows)]
        shapes = json.loads(bytes(view[at : (at := at + n_shapes)]))
        self._shapes = [
            _shape(partition, tuple(names), None if classes is None else tuple(classes), *others)
            for partition, names, classes, *others in shapes
        ]
        self._ids = view[at:]

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.serials)

    @property
    def n_bytes(self) -> int:
        """Size in memory, about."""
        return self.packed.nbytes

    def ids(self) -> list[str]:
        """Return the events' ids."""
        found: list[str] = json.loads(bytes(self._ids))
        return found

    def since(self, row: int) -> float | None:
        """Return when an event came; None: not known yet."""
        since = self._since[row]
        return since if since == since else None

    def __getitem__(self, row: int) -> Pending:
        """Return an event."""
        return unpack_event(self._rows, self._shapes[self._numbers[row]], self._begins[row])

    def numbered(self, rows: Iterable[int]) -> list[Numbered]:
        """Return the events of these rows, as they are packed."""
        ids, found = self.ids(), []
        for row in rows:
            shape, begin = self._shapes[self._numbers[row]], self._begins[row]
            event = bytes(self._rows[begin : begin + shape.row.size]), shape
            found.append((self.serials[row], ids[row], event, self.since(row)))
        return found


def pack_events(events: Sequence[Numbered]) -> ArrayBlock:
    """Return the bytes of events, of which at most 65,536 have another shape."""
    serials = [serial for serial, *_ in events]
    rows = [row for _, _, (row, _), _ in events]
    since = [_NAN if came is None else came for *_, came in events]
    n, first = len(events), serials[0] if events else 0
    without_gap = serials == list(range(first, first + n))
    sizes = [len(row) for row in rows]
    of_one_size = len(set(sizes)) == 1
    shapes: dict[_Stored, int] = {}
    numbers, number, last = array("H"), 0, None
    for _, _, (_, shape), _ in events:
        if shape is not last:
            number, last = shapes.setdefault(shape.stored, len(shapes)), shape
        numbers.append(number)
    table = json.dumps(list(shapes)).encode()
    ids = json.dumps([event_id for _, event_id, *_ in events], separators=(",", ":")).encode()
    header = n, sum(sizes), len(table), first if without_gap else -1, of_one_size and sizes[0]
    columns = [array("q", header).tobytes()]
    if not without_gap:
        columns.append(array("q", serials).tobytes())
    if not of_one_size:
        columns.append(array("q", [0, *accumulate(sizes)][:n]).tobytes())
    columns += [array("d", since).tobytes(), numbers.tobytes()]
    return ArrayBlock(np.frombuffer(b"".join([*columns, *rows, table, ids]), np.uint8))


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
        serials = self.events.serials
        row = serial - serials[0]
        if row < len(serials) and serials[row] == serial:  # no gap before it
            return row
        return bisect_left(serials, serial)

    def remove(self, row: int) -> None:
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
        return self.events.numbered(compress(range(len(self.events)), self.waiting))


class PendingStore:
    """Events that wait for their labels: by id, and the oldest first.

    Each is packed as it comes, while its numbers are in the processor's cache. All but the latest
    are in blocks of those with serial numbers between two multiples of 2,048: a snapshot stores a
    block once, and then only which of its events still wait. A block of which few are left is
    packed again.

    Examples
    --------
    >>> from iln_stream.loop.pending import Pending, PendingStore
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

    def pop(self, event_id: str) -> Pending:
        """Remove and return the event with this id."""
        event = self.get(event_id)
        assert event is not None
        self.remove(event_id)
        return event

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
            self._n_bytes -= block.events.n_bytes
            if block.n_waiting:
                self._keep(number, _Sealed(PackedEvents(pack_events(block.left()))))
            else:
                del self._sealed[number]

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

    def metrics(self) -> Sequence[MetricSpec]:
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
        """Return the waiting events: those in blocks as `ArrayBlock`, and which of them wait."""
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
            events = PackedEvents(packed if isinstance(packed, ArrayBlock) else ArrayBlock(packed))
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
