"""Values of typed formats, such as Avro and Parquet, as JSON would have them."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

_AS_THEY_ARE = frozenset((str, int, float, bool, type(None), bytes))


def plain(value: Any) -> Any:
    """Return a value, and all that it contains, as numbers, texts, lists and dictionaries.

    Dates and times become POSIX seconds (in UTC if they have no offset), times of day and
    durations seconds, decimals numbers, and UUIDs texts. Bytes stay bytes.

    Examples
    --------
    >>> from datetime import date
    >>> from iln_stream.mapping.plain import plain
    >>> plain({"day": date(1970, 1, 2), "price": Decimal("2.50"), "tags": ("new",)})
    {'day': 86400.0, 'price': 2.5, 'tags': ['new']}

    """
    if type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, dt.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=dt.UTC)).timestamp()
    if isinstance(value, dt.date):
        return dt.datetime(value.year, value.month, value.day, tzinfo=dt.UTC).timestamp()
    if isinstance(value, dt.time):
        return value.hour * 3600.0 + value.minute * 60 + value.second + value.microsecond / 1e6
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    return str(value) if isinstance(value, UUID) else value


def _number(value: Decimal) -> float:
    """Return a decimal as an integer, which may be an id, or as the nearest double."""
    exponent = value.as_tuple().exponent
    return int(value) if isinstance(exponent, int) and exponent >= 0 else float(value)
