"""Waiting events as bytes: small in memory, and stored once for all snapshots."""

import json
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from struct import Struct
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from iln_stream.prequential.late.pending import Pending
from iln_stream.state import Block, decode_name, encode_name

_NAN = float("nan")
_FIXED = 3
"""Numbers of every event: its time, its weight and its offset."""

_Stored: TypeAlias = tuple[int, tuple[str, ...], tuple[str, ...] | None, int, int, int | None]
"""A shape as it is stored: partition, names, classes, and how many ends of intervals, baselines and
numbers of a token there are."""


class _Shape(NamedTuple):
    """What many events have in common, and where a row has what."""

    stored: _Stored
    row: Struct
    classes: list[Any] | None  # None: the prediction is a number
    predicted: slice
    inputs: slice
    lower: range  # of the lower ends of intervals; each is followed by the upper one
    baselines: slice
    token: slice | None  # None: there is no token


@lru_cache(1024)
def _shape(*stored: Any) -> _Shape:
    _, names, classes, n_ends, n_baselines, n_token = stored
    inputs = _FIXED + (1 if classes is None else len(classes))
    ends = inputs + len(names)
    baselines = ends + n_ends
    token = baselines + n_baselines
    end = token + (n_token or 0)
    return _Shape(
        stored,
        Struct(f"{end}d"),
        None if classes is None else [decode_name(each) for each in classes],
        slice(_FIXED, inputs),
        slice(inputs, ends),
        range(ends, baselines, 2),
        slice(baselines, token),
        None if n_token is None else slice(token, end),
    )


class PackedEvent(NamedTuple):
    """A row of doubles: `_FIXED` numbers, predictions, inputs, interval ends, baselines, token."""

    row: bytes
    shape: _Shape

    @property
    def n_bytes(self) -> int:
        """Size in memory, about."""
        return len(self.row) + 4 * 8


def pack_event(event: Pending) -> PackedEvent:
    """Return an event as bytes."""
    x, y_pred, time, partition, offset, token, weight, intervals, baselines = event
    predicted: Iterable[float]
    if isinstance(y_pred, float):
        classes, predicted = None, (y_pred,)
    else:
        classes, predicted = tuple(map(encode_name, y_pred)), y_pred.values()
    n_token = None if token is None else len(token)
    shape = _shape(partition, tuple(x), classes, 2 * len(intervals), len(baselines), n_token)
    row = shape.row.pack(
        _NAN if time is None else time,
        _NAN if weight is None else weight,
        offset,
        *predicted,
        *x.values(),
        *chain.from_iterable(intervals),
        *baselines,
        *(() if token is None else token.tolist()),
    )
    return PackedEvent(row, shape)


def unpack_event(row: bytes | memoryview, shape: _Shape, at: int = 0) -> Pending:
    """Return the event whose row begins at a byte."""
    values = shape.row.unpack_from(row, at)
    time, weight, offset = values[:_FIXED]
    y_pred: float | dict[Any, float]
    if shape.classes is None:
        y_pred = values[_FIXED]
    else:
        y_pred = dict(zip(shape.classes, values[shape.predicted], strict=True))
    return Pending(
        dict(zip(shape.stored[1], values[shape.inputs], strict=True)),
        y_pred,
        time if time == time else None,
        shape.stored[0],
        int(offset),
        None if shape.token is None else np.array(values[shape.token]),
        weight if weight == weight else None,
        tuple([(values[low], values[low + 1]) for low in shape.lower]),
        values[shape.baselines],
    )


Numbered: TypeAlias = tuple[int, str, PackedEvent, float | None]
"""An event with its serial number, its id, and when it came; None: not known yet."""


class PackedEvents:
    """Events that never change, in the order in which they came.

    Names, classes and counts are kept once for all events that have the same.

    Parameters
    ----------
    packed
        What `pack_events` returned.

    """

    def __init__(self, packed: NDArray[np.uint8]) -> None:
        self.packed = packed
        # Reading a number of a memoryview takes a third of the time of reading one of an array.
        view = memoryview(np.asarray(packed).data)
        n, n_rows, n_shapes = view[:24].cast("q")
        at = 24
        self.serials = view[at : (at := at + 8 * n)].cast("q")
        self._begins = view[at : (at := at + 8 * n)].cast("q")
        self._since = view[at : (at := at + 8 * n)].cast("d")
        self._numbers = view[at : (at := at + 8 * n)].cast("q")
        self._rows = view[at : (at := at + n_rows)]
        shapes = json.loads(bytes(view[at : (at := at + n_shapes)]))
        self._shapes = [
            _shape(partition, tuple(names), None if classes is None else tuple(classes), *counts)
            for partition, names, classes, *counts in shapes
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

    def numbered(self) -> list[Numbered]:
        """Return all events, as they are packed."""
        found: list[Numbered] = []
        for row, (serial, event_id) in enumerate(zip(self.serials, self.ids(), strict=True)):
            shape, begin = self._shapes[self._numbers[row]], self._begins[row]
            event = PackedEvent(bytes(self._rows[begin : begin + shape.row.size]), shape)
            found.append((serial, event_id, event, self.since(row)))
        return found


def pack_events(events: Sequence[Numbered]) -> Block:
    """Return the bytes of events."""
    shapes: dict[_Stored, int] = {}
    begins, since, numbers = array("q"), array("d"), array("q")
    begin = 0
    for _, _, (row, shape), came in events:
        begins.append(begin)
        begin += len(row)
        since.append(_NAN if came is None else came)
        numbers.append(shapes.setdefault(shape.stored, len(shapes)))
    table = json.dumps(list(shapes)).encode()
    ids = json.dumps([event_id for _, event_id, *_ in events]).encode()
    sizes = array("q", [len(events), begin, len(table)])
    serials = array("q", [serial for serial, *_ in events])
    fixed = [each.tobytes() for each in (sizes, serials, begins, since, numbers)]
    rows = [event.row for _, _, event, _ in events]
    return Block(np.frombuffer(b"".join([*fixed, *rows, table, ids]), np.uint8))
