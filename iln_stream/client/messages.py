"""What is sent, as JSON."""

import datetime as dt
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Input = float | bool | str | None
Inputs = Mapping[str, Input]
Label = float | bool | str
Moment = dt.datetime | float


class NewEvent(NamedTuple):
    """An event to append, or to predict.

    Parameters
    ----------
    x
        Inputs by name.
    y
        The label: a number, or a class; None: not known yet.
    id
        Your id of the event. The log keeps one event of each id, so that an event with an id can be
        sent again.
    timestamp
        When it happened: with a UTC offset, or POSIX seconds; None: unknown.
    weight
        How much it counts when it is learned, at least 0; None: 1.

    """

    x: Inputs
    y: Label | None = None
    id: str | None = None
    timestamp: Moment | None = None
    weight: float | None = None


class NewLabel(NamedTuple):
    """The label of an event, to append.

    Parameters
    ----------
    id
        Your id of the event.
    y
        The label: a number, or a class. The log keeps a label once; one that differs from the
        newest label of the event is appended as its correction.
    timestamp
        When it became known: with a UTC offset, or POSIX seconds; None: unknown.
    weight
        How much the event counts when it is learned, at least 0; None: the event's.

    """

    id: str
    y: Label
    timestamp: Moment | None = None
    weight: float | None = None


def encoded(field: str, value: Any) -> bytes:
    """Return a value as JSON; numpy's numbers are written as Python's.

    Raises
    ------
    ValueError
        When a number is not finite, or a value is none of JSON's; it names the field.

    """
    try:
        text = json.dumps(
            value, allow_nan=False, separators=(",", ":"), ensure_ascii=False, default=_plain
        )
        return text.encode()
    except (TypeError, ValueError) as error:
        for path, each in _leaves(field, value):
            if isinstance(each, float) and not math.isfinite(each):
                raise ValueError(
                    f"{path} = {each}: must be finite; leave an unknown input out, or None"
                ) from None
            if not isinstance(each, float | int | str | None):
                raise ValueError(
                    f"{path} = {each!r}: must be a number, a bool, a str or None"
                ) from None
        raise ValueError(f"{field}: {error}") from None


def inputs(x: Inputs) -> dict[str, Input]:
    """Return the inputs of an event, whose names must be text."""
    for name in x:
        if not isinstance(name, str):
            raise ValueError(f"x: the name {name!r} must be a str")
    return dict(x)


def event_fields(event: NewEvent | Inputs) -> dict[str, Any]:
    """Return the fields of an event that are known; a mapping is the inputs of one."""
    if not isinstance(event, NewEvent):
        return {"x": inputs(event)}
    return {
        "x": inputs(event.x),
        **_known(y=event.y, id=event.id, timestamp=_moment(event.timestamp), weight=event.weight),
    }


def label_fields(label: NewLabel) -> dict[str, Any]:
    """Return the fields of a label that are known."""
    more = _known(timestamp=_moment(label.timestamp), weight=label.weight)
    return {"id": label.id, "y": label.y, **more}


def in_batches(items: Sequence[bytes], most: int, most_bytes: int) -> Iterator[Sequence[bytes]]:
    """Split into batches of at most `most` items and `most_bytes` bytes, one item at least.

    Examples
    --------
    >>> from iln_stream.client.messages import in_batches
    >>> list(in_batches([b"aa", b"b", b"cc", b"dddddd"], most=2, most_bytes=5))
    [[b'aa', b'b'], [b'cc'], [b'dddddd']]

    """
    batch: list[bytes] = []
    size = 0
    for item in items:
        if batch and (len(batch) == most or size + len(item) + 1 > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += len(item) + 1  # the comma
    if batch:
        yield batch


def _known(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _moment(moment: Moment | None) -> str | float | None:
    if not isinstance(moment, dt.datetime):
        return moment
    if moment.tzinfo is None:
        raise ValueError(f"timestamp = {moment}: has no UTC offset; give tzinfo")
    return moment.isoformat()


def _plain(value: Any) -> Any:
    """Return a numpy number as one of Python's."""
    if not _is_numpy_scalar(value):
        raise TypeError(f"{value!r} is not a value of JSON")
    return value.item()


def _is_numpy_scalar(value: Any) -> bool:
    return hasattr(value, "item") and getattr(value, "shape", None) == ()


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _leaves(f"{path}.{name}" if path else str(name), each)
    else:
        yield path, value.item() if _is_numpy_scalar(value) else value
