"""Waiting events in an array of bytes: small in memory, and stored once for all snapshots."""

import json
from array import array
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from struct import Struct
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from iln_stream.prequential.late.pending import Pending
from iln_stream.state import Block, decode_name, encode_name

_NAN = float("nan")
_SINCE = Struct("8xd")
_FIXED = 5
"""Numbers of every event: its time, when it came, its weight, its offset, and its shape."""


class _Shape(NamedTuple):
    """What many events have in common; the slices are those of a row."""

    partition: int
    names: list[str]
    classes: list[Any] | None  # None: the prediction is a number
    predicted: slice
    inputs: slice
    lower: range  # of the lower ends of intervals; each is followed by the upper one
    baselines: slice
    token: slice | None  # None: there is no token


def _shape(
    partition: int,
    names: list[str],
    classes: list[str] | None,
    n_ends: int,
    n_baselines: int,
    n_token: int | None,
) -> _Shape:
    """Return a shape as it is stored: the counts say how many numbers follow the fixed ones."""
    known = None if classes is None else [decode_name(each) for each in classes]
    inputs = _FIXED + (1 if known is None else len(known))
    ends = inputs + len(names)
    baselines = ends + n_ends
    token = baselines + n_baselines
    return _Shape(
        partition,
        names,
        known,
        slice(_FIXED, inputs),
        slice(inputs, ends),
        range(ends, baselines, 2),
        slice(baselines, token),
        None if n_token is None else slice(token, token + n_token),
    )


@cache
def _doubles(count: int) -> Struct:
    return Struct(f"{count}d")


class PackedEvents:
    """Events that never change, in the order in which they came.

    An event is a row of doubles: `_FIXED` numbers, then its predictions, inputs, interval ends,
    baselines and token. Names, classes and counts are kept once for all events that have the same.

    Parameters
    ----------
    packed
        What `pack_events` returned.

    """

    def __init__(self, packed: NDArray[np.uint8]) -> None:
        self.packed = packed
        # Reading a number of a memoryview takes a third of the time of reading one of an array.
        self._view = view = memoryview(np.asarray(packed).data)
        n, n_numbers, n_shapes = view[:24].cast("q")
        at = 24
        self.serials = view[at : (at := at + 8 * n)].cast("q")
        self._ends = view[at : (at := at + 8 * n)].cast("q")
        self._at = at
        at += 8 * n_numbers
        shapes = json.loads(bytes(view[at : (at := at + n_shapes)]))
        self._shapes = [_shape(*each) for each in shapes]
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
        begin = self._ends[row - 1] if row else 0
        return _known(*_SINCE.unpack_from(self._view, self._at + 8 * begin))

    def __getitem__(self, row: int) -> Pending:
        """Return an event."""
        begin = self._ends[row - 1] if row else 0
        count = self._ends[row] - begin
        values = _doubles(count).unpack_from(self._view, self._at + 8 * begin)
        time, _, weight, offset, number = values[:_FIXED]
        shape = self._shapes[int(number)]
        y_pred: float | dict[Any, float]
        if shape.classes is None:
            y_pred = values[_FIXED]
        else:
            y_pred = dict(zip(shape.classes, values[shape.predicted], strict=True))
        return Pending(
            dict(zip(shape.names, values[shape.inputs], strict=True)),
            y_pred,
            time if time == time else None,
            shape.partition,
            int(offset),
            None if shape.token is None else np.array(values[shape.token]),
            weight if weight == weight else None,
            tuple([(values[at], values[at + 1]) for at in shape.lower]),
            values[shape.baselines],
        )


Numbered: TypeAlias = tuple[int, str, Pending, float | None]
"""A waiting event with its serial number, its id, and when it came; None: not known yet."""


def pack_events(events: Sequence[Numbered]) -> Block:
    """Return the bytes of events."""
    rows: list[bytes] = []
    ends = array("q")
    end = 0
    shapes: dict[tuple[Any, ...], int] = {}
    for _, _, event, since in events:
        x, y_pred, time, partition, offset, token, weight, intervals, baselines = event
        predicted: Iterable[float]
        if isinstance(y_pred, float):
            classes, predicted = None, (y_pred,)
        else:
            classes, predicted = tuple(map(encode_name, y_pred)), y_pred.values()
        n_token = None if token is None else len(token)
        shape = (partition, tuple(x), classes, 2 * len(intervals), len(baselines), n_token)
        row = (
            _NAN if time is None else time,
            _NAN if since is None else since,
            _NAN if weight is None else weight,
            offset,
            shapes.setdefault(shape, len(shapes)),
            *predicted,
            *x.values(),
            *chain.from_iterable(intervals),
            *baselines,
            *(() if token is None else token.tolist()),
        )
        # A fifth of the time of adding them to an array.
        rows.append(_doubles(len(row)).pack(*row))
        end += len(row)
        ends.append(end)
    tables = json.dumps(list(shapes)).encode()
    sizes = array("q", [len(events), end, len(tables)])
    serials = array("q", [serial for serial, *_ in events])
    ids = json.dumps([event_id for _, event_id, *_ in events]).encode()
    parts = [each.tobytes() for each in (sizes, serials, ends)]
    return Block(np.frombuffer(b"".join([*parts, *rows, tables, ids]), np.uint8))


def _known(value: float) -> float | None:
    return None if value != value else value
