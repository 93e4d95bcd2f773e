"""Waiting events as bytes: small in memory, and stored once for all snapshots."""

import json
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from struct import Struct
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from iln_stream.prequential.late.pending import Pending
from iln_stream.state import Block, decode_name, encode_name

_NAN = float("nan")
_FIXED = 2
"""Numbers of every event: its time and its offset."""

_OVERHEAD = 4 * 8
"""Bytes that a row takes beside its numbers, about."""

_Stored: TypeAlias = tuple[int, tuple[str, ...], tuple[str, ...] | None, int, int, int | None, bool]
"""A shape as it is stored: partition, names, classes, how many intervals, baselines and numbers of
a token there are, and whether there is a weight."""


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
    weighted: bool  # the weight is the last number


@lru_cache(1024)
def _shape(*stored: Any) -> _Shape:
    _, names, classes, n_intervals, n_baselines, n_token, weighted = stored
    inputs = _FIXED + (1 if classes is None else len(classes))
    ends = inputs + len(names)
    baselines = ends + 2 * n_intervals
    token = baselines + n_baselines
    end = token + (n_token or 0)
    return _Shape(
        stored,
        Struct(f"{end + weighted}d"),
        None if classes is None else [decode_name(each) for each in classes],
        slice(_FIXED, inputs),
        slice(inputs, ends),
        range(ends, baselines, 2),
        slice(baselines, token),
        None if n_token is None else slice(token, end),
        weighted,
    )


PackedEvent: TypeAlias = tuple[bytes, _Shape]
"""A row of doubles: `_FIXED` numbers, predictions, inputs, ends of intervals, baselines, the token
and the weight. Making a plain tuple takes a tenth of the time of a named one."""


def size_of(event: PackedEvent) -> int:
    """Return an event's size in memory, about."""
    return len(event[0]) + _OVERHEAD


def pack_event(event: Pending) -> PackedEvent:
    """Return an event as bytes."""
    x, y_pred, time, partition, offset, token, weight, intervals, baselines = event
    predicted: Iterable[float]
    if isinstance(y_pred, float):
        classes, predicted = None, (y_pred,)
    else:
        classes, predicted = tuple(map(encode_name, y_pred)), y_pred.values()
    n_token = None if token is None else len(token)
    weighted = weight is not None
    shape = _shape(partition, tuple(x), classes, len(intervals), len(baselines), n_token, weighted)
    row = shape.row.pack(
        _NAN if time is None else time,
        offset,
        *predicted,
        *x.values(),
        *chain.from_iterable(intervals),
        *baselines,
        *(() if token is None else token.tolist()),
        *((weight,) if weighted else ()),
    )
    return row, shape


def unpack_event(row: bytes | memoryview, shape: _Shape, at: int = 0) -> Pending:
    """Return the event whose row begins at a byte."""
    stored, numbers, classes, predicted, inputs, lower, baselines, token, weighted = shape
    values = numbers.unpack_from(row, at)
    time = values[0]
    y_pred: float | dict[Any, float]
    if classes is None:
        y_pred = values[_FIXED]
    else:
        y_pred = dict(zip(classes, values[predicted], strict=True))
    return Pending(
        dict(zip(stored[1], values[inputs])),  # noqa: B905 (`strict` adds half of the time)
        y_pred,
        time if time == time else None,
        stored[0],
        int(values[1]),
        None if token is None else np.array(values[token]),
        values[-1] if weighted else None,
        tuple([(values[low], values[low + 1]) for low in lower]),
        values[baselines],
    )


Numbered: TypeAlias = tuple[int, str, PackedEvent, float | None]
"""An event with its serial number, its id, and when it came; None: not known yet."""


class PackedEvents:
    """Events that never change, in the order in which they came.

    Names, classes and counts are kept once for all events that have the same; serial numbers
    without a gap, and the places of rows of one size, by the first.

    Parameters
    ----------
    packed
        What `pack_events` returned.

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


def pack_events(events: Sequence[Numbered]) -> Block:
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
    return Block(np.frombuffer(b"".join([*columns, *rows, table, ids]), np.uint8))
