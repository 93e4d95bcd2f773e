"""Waiting events in an array of bytes: small in memory, and stored once for all snapshots."""

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.prequential.late.pending import Pending
from iln_stream.state import Block, decode_name, encode_name

_NAN = float("nan")
_FIXED = 5
"""Numbers of every event: its time, when it came, its weight, its offset, and its shape."""


class _Shape(NamedTuple):
    """What many events have in common; the counts say how many numbers follow the fixed ones."""

    partition: int
    names: list[str]
    classes: list[Any] | None  # None: the prediction is a number
    n_ends: int
    n_baselines: int
    n_token: int | None  # None: there is no token


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
        view = memoryview(np.asarray(packed).data)
        n, n_numbers, n_shapes = view[:24].cast("q")
        at = 24
        self.serials = view[at : (at := at + 8 * n)].cast("q")
        self._ends = view[at : (at := at + 8 * n)].cast("q")
        self._numbers = view[at : (at := at + 8 * n_numbers)].cast("d")
        shapes = json.loads(bytes(view[at : (at := at + n_shapes)]))
        self._shapes = [
            _Shape(partition, names, classes and [*map(decode_name, classes)], *counts)
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
        return _known(self._numbers[(self._ends[row - 1] if row else 0) + 1])

    def __getitem__(self, row: int) -> Pending:
        """Return an event."""
        begin = self._ends[row - 1] if row else 0
        values: list[float] = self._numbers[begin : self._ends[row]].tolist()  # type: ignore[assignment]
        time, _, weight, offset, number = values[:_FIXED]
        partition, names, classes, n_ends, n_baselines, n_token = self._shapes[int(number)]
        y_pred: float | dict[Any, float]
        if classes is None:
            y_pred, at = values[_FIXED], _FIXED + 1
        else:
            at = _FIXED + len(classes)
            y_pred = dict(zip(classes, values[_FIXED:at], strict=True))
        x = dict(zip(names, values[at : (at := at + len(names))], strict=True))
        ends = values[at : (at := at + n_ends)] if n_ends else ()
        baselines = tuple(values[at : (at := at + n_baselines)])
        return Pending(
            x,
            y_pred,
            time if time == time else None,
            partition,
            int(offset),
            None if n_token is None else np.array(values[at : at + n_token]),
            weight if weight == weight else None,
            tuple(zip(ends[::2], ends[1::2], strict=True)) if ends else (),
            baselines,
        )


class Numbered(NamedTuple):
    """A waiting event with its serial number, its id, and when it came; None: not known yet."""

    serial: int
    id: str
    event: Pending
    since: float | None


def pack_events(events: Sequence[Numbered]) -> Block:
    """Return the bytes of events."""
    numbers, ends = array("d"), array("q")
    shapes: dict[tuple[Any, ...], int] = {}
    extend = numbers.extend
    for _, _, event, since in events:
        x, y_pred, time, partition, offset, token, weight, intervals, baselines = event
        predicted: Iterable[float] = (y_pred,)  # type: ignore[assignment]
        classes: tuple[str, ...] | None = None
        if isinstance(y_pred, Mapping):
            classes, predicted = tuple(map(encode_name, y_pred)), y_pred.values()
        n_token = None if token is None else len(token)
        shape = (partition, tuple(x), classes, 2 * len(intervals), len(baselines), n_token)
        extend(
            (
                _NAN if time is None else time,
                _NAN if since is None else since,
                _NAN if weight is None else weight,
                offset,
                shapes.setdefault(shape, len(shapes)),
            )
        )
        extend(predicted)
        extend(x.values())
        for interval in intervals:
            extend(interval)
        extend(baselines)
        if token is not None:
            extend(token.tolist())
        ends.append(len(numbers))
    tables = json.dumps(list(shapes)).encode()
    sizes = array("q", [len(events), len(numbers), len(tables)])
    serials = array("q", [each.serial for each in events])
    ids = json.dumps([each.id for each in events]).encode()
    parts = [each.tobytes() for each in (sizes, serials, ends, numbers)]
    return Block(np.frombuffer(b"".join([*parts, tables, ids]), np.uint8))


def _known(value: float) -> float | None:
    return None if value != value else value
