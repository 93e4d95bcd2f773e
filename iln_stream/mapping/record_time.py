"""When the event of a record happened, without decoding the rest."""

from collections.abc import Mapping
from typing import Any

from iln_stream.events import MalformedError
from iln_stream.mapping.decoder import Parse
from iln_stream.mapping.flatten import flatten
from iln_stream.mapping.parsing import parse_json
from iln_stream.mapping.values import NULLS, USUAL, Notation, as_input


class RecordTime:
    """Reads the time of a record: its own, but at most when it was written.

    An event can't be later than its record, so a time in the future is wrong. A record without a
    valid time has that of its writing.

    Parameters
    ----------
    field
        The field of the time, by dotted path if it is nested.
    parse
        Makes fields of payloads.
    null_values, notation
        As in `FieldMapping`.

    Examples
    --------
    >>> from iln_stream.mapping import RecordTime, parse_json
    >>> time_of = RecordTime("at", parse_json)
    >>> time_of(b'{"at": 60}', 90.0), time_of(b'{"at": 60e6}', 90.0), time_of(b"{}", 90.0)
    (60.0, 90.0, 90.0)

    """

    def __init__(
        self,
        field: str,
        parse: Parse,
        null_values: tuple[str, ...] = NULLS,
        notation: Notation = USUAL,
    ) -> None:
        self._field = field
        self._parse = parse
        self._nulls = frozenset(null_values)
        self._notation = notation
        # Most records without the field need not be parsed.
        key = field.rpartition(".")[2].encode()
        self._key = b'%s"' % key if parse is parse_json else None

    def __call__(
        self, payload: bytes | Mapping[str, Any] | None, written: float | None
    ) -> float | None:
        """Return the time in POSIX seconds; None if it is unknown."""
        if self._key is not None and isinstance(payload, bytes) and self._key not in payload:
            return written
        try:
            time = self._own(payload)
        except MalformedError:  # the loop makes it a dead letter
            return written
        if time is None or written is None:
            return written if time is None else time
        return min(time, written)

    def _own(self, payload: bytes | Mapping[str, Any] | None) -> float | None:
        fields = self._parse(payload)
        value = fields.get(self._field)
        if value is None:
            value = flatten(fields).get(self._field)
        if value is None or (isinstance(value, str) and value.strip() in self._nulls):
            return None
        time = as_input(self._field, value, "time", self._notation)
        return time if isinstance(time, float) else None
