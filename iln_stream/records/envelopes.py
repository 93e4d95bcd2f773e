"""Envelopes around a record's fields: change events of Debezium, and CloudEvents."""

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

from iln_stream.records.decoding import MalformedError, SkippedError, shown
from iln_stream.records.durations import DAY
from iln_stream.records.parsing import parse_json
from iln_stream.records.values import plain

Envelope = Literal["debezium", "cloudevents"]
Fields = Mapping[str, Any]

_ROW_AFTER = frozenset("cur")
"""Operations after which there is a row: created, updated, read by a snapshot."""
_NO_ROW = frozenset("dtm")
"""Deleted, truncated, and messages that are no rows."""

_UNITS = {
    **{f"io.debezium.time.{name}": unit for name, unit in (
        ("Date", DAY), ("Time", 1e-3), ("MicroTime", 1e-6), ("NanoTime", 1e-9),
        ("Timestamp", 1e-3), ("MicroTimestamp", 1e-6), ("NanoTimestamp", 1e-9),
        ("MicroDuration", 1e-6), ("NanoDuration", 1e-9),
    )},
    **{f"org.apache.kafka.connect.data.{name}": unit for name, unit in (
        ("Date", DAY), ("Time", 1e-3), ("Timestamp", 1e-3),
    )},
}  # fmt: skip
"""Seconds of a unit of each type of times and durations, by its name in a schema."""


def row_of(record: Fields) -> Fields:
    """Return the row after a change; of a schema that comes with it, its decimals and times, too.

    Raises
    ------
    SkippedError
        When there is no row after it, as after a deletion.
    MalformedError
        When it is no change event.

    Examples
    --------
    >>> from iln_stream.records.envelopes import row_of
    >>> row_of({"op": "u", "before": {"n": 1}, "after": {"n": 2}, "ts_ms": 1})
    {'n': 2}

    """
    schema, change = record.get("schema"), record
    if "payload" in record and "op" not in record:
        change = record["payload"]
        if change is None:
            raise SkippedError("a change event without a row")
    op = change.get("op") if isinstance(change, Mapping) else None
    if op in _NO_ROW:
        raise SkippedError(f"op: a change event {op!r}, after which there is no row")
    row = change.get("after") if isinstance(change, Mapping) else None
    if op not in _ROW_AFTER or not isinstance(row, Mapping):
        raise MalformedError(
            "op: a change event of Debezium has op (c, u, r or d) and after, at its top or in "
            "payload; unset envelope if these are other records"
        )
    if not isinstance(schema, Mapping):
        return row
    kinds = schema.get("fields") or ()
    return _typed(row, next((each for each in kinds if each.get("field") == "after"), {}))


def data_of(record: Fields) -> Fields:
    """Return the data of a CloudEvent, with its id as `ce_id` and its time as `ce_time`.

    Raises
    ------
    SkippedError
        When it has no data.
    MalformedError
        When it is no CloudEvent, or its data is no object.

    Examples
    --------
    >>> from iln_stream.records.envelopes import data_of
    >>> data_of({"specversion": "1.0", "id": "7", "source": "/a", "type": "b", "data": {"n": 2}})
    {'n': 2, 'ce_id': '7'}

    """
    if "specversion" not in record:
        raise MalformedError(
            "specversion: missing, and an event of CloudEvents has it in its structured mode; in "
            "binary mode the record is the data: unset envelope"
        )
    data = record.get("data")
    if isinstance(encoded := record.get("data_base64"), str):
        data = parse_json(_bytes("data_base64", encoded))
    if data is None:
        raise SkippedError("an event without data")
    if not isinstance(data, Mapping):
        raise MalformedError(f"data: expected an object, got {shown(data)}")
    own = {f"ce_{name}": record[name] for name in ("id", "time") if name in record}
    return {**data, **own}


_OPENED: dict[Envelope, Callable[[Fields], Fields]] = {
    "debezium": row_of, "cloudevents": data_of
}  # fmt: skip


class Opened:
    """Makes the fields inside an envelope of payloads.

    `parse` makes the envelope's fields.
    """

    def __init__(self, parse: Callable[[Any], Fields], envelope: Envelope) -> None:
        self._parse = parse
        self._open = _OPENED[envelope]
        self.metrics = getattr(parse, "metrics", tuple)

    def __call__(self, payload: bytes | Fields | None) -> Fields:
        """Return the fields; a record without a value, which follows a deletion, is skipped."""
        if payload is None:
            raise SkippedError("a record without a value")
        return self._open(self._parse(payload))


def envelope_of(records: Sequence[Fields]) -> Envelope | None:
    """Return the kind of envelope that all records have; None: they have none."""
    for envelope, opened in _OPENED.items():
        for record in records:
            try:
                opened(record)
            except SkippedError:
                continue
            except MalformedError:
                break
        else:
            return envelope
    return None


def _typed(row: Fields, schema: Fields) -> dict[str, Any]:
    """Return a row's values as numbers, by a schema of Kafka Connect; others as they are."""
    kinds = {each.get("field"): each for each in schema.get("fields") or ()}
    return {name: _value(name, value, kinds.get(name, {})) for name, value in row.items()}


def _value(name: str, value: Any, kind: Fields) -> Any:
    of_kind = kind.get("name")
    if isinstance(value, Mapping):
        if of_kind == "io.debezium.data.VariableScaleDecimal":
            return _decimal(name, value.get("value"), value.get("scale"))
        return _typed(value, kind)
    if of_kind == "org.apache.kafka.connect.data.Decimal" and isinstance(value, str):
        return _decimal(name, value, (kind.get("parameters") or {}).get("scale"))
    unit = _UNITS.get(of_kind or "")
    if unit is None or type(value) is not int:
        return value
    return value * unit if unit >= 1.0 else value / round(1.0 / unit)


def _decimal(name: str, value: Any, scale: Any) -> Any:
    """Return a decimal of its unscaled value, big-endian bytes in base64."""
    try:
        unscaled = int.from_bytes(_bytes(name, value), "big", signed=True)
        return plain(Decimal(unscaled).scaleb(-int(scale)))
    except (TypeError, ValueError, ArithmeticError):
        raise MalformedError(
            f"{name}: expected a decimal, got {shown(value)} with the scale {shown(scale)}"
        ) from None


def _bytes(name: str, value: str) -> bytes:
    try:
        return b64decode(value, validate=True)
    except (ValueError, TypeError):
        raise MalformedError(f"{name}: expected base64, got {shown(value)}") from None
