"""Durations as people write them, in seconds."""

import datetime as dt
import re
from contextlib import suppress

from pydantic import TypeAdapter, ValidationError

DAY = 86_400.0
_CLOCK_OR_ISO = TypeAdapter(dt.timedelta)
_UNITS = {"w": 7 * DAY, "d": DAY, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 1e-3}
_PART = re.compile(
    r"(\d+(?:\.\d+)?)\s?(?:(ms|[wdhms])|(w)ks?|(w)eeks?|(d)ays?|(h)rs?|(h)ours?|(m)ins?|(m)inutes?"
    r"|(s)ecs?|(s)econds?)(?![a-z])\.?,?\s*",
    re.IGNORECASE,
)
"""Weeks, days, hours, minutes or seconds."""
_COMMA, _FRENCH = re.compile(r"(?<=\d),(?=\d)"), re.compile(r"(?<=\dh)(\d\d)$")
_LAP = re.compile(r"(\d+):(\d\d[.,]\d+)")
"""Minutes and seconds, as hours have no decimals below minutes."""
_SHORT = re.compile(r"[+-]?\d:\d\d")


def seconds_of(text: str) -> float | None:
    """Return the seconds that a text states as a duration; None: it states none.

    A clock such as `1:40` has hours and minutes.

    >>> from iln_stream.records.durations import seconds_of
    >>> seconds_of("1:40:17"), seconds_of("3 days, 00:00:30"), seconds_of("1h 40m")
    (6017.0, 259230.0, 6000.0)
    >>> seconds_of("PT1H40M"), seconds_of("90 min"), seconds_of("12"), seconds_of("5 km")
    (6000.0, 5400.0, None, None)

    """
    if lap := _LAP.fullmatch(text.strip()):
        text = f"{lap[1]}m {lap[2]}s"
    text = _FRENCH.sub(r"\1m", _COMMA.sub(".", text.strip()))
    parts = _PART.findall(text)
    if parts and not _PART.sub("", text):
        return sum(float(each[0]) * _UNITS["".join(each[1:]).lower()] for each in parts)
    if ":" in text or text[:1] in "Pp":
        if _SHORT.match(text):
            text = re.sub(r"(\d:)", r"0\1", text, count=1)
        with suppress(ValidationError):
            return _CLOCK_OR_ISO.validate_python(text).total_seconds()
    return None
