"""`iln-stream rebuild`: learning again from the log, without what should not have been learned."""

import datetime as dt
import re

from rich.console import Console

from iln_stream.cli.logs import say
from iln_stream.service import Settings, SettingsError, rebuild

_SKIP = re.compile(r"(\d+):(\d+)(?:-(\d+))?")


def learn_again(settings: Settings, until: str | None, skip: str | None, console: Console) -> None:
    """Rebuild each learner, and say up to where.

    Raises
    ------
    SettingsError
        When `until` or `skip` can't be read.

    """
    for positions in rebuild(settings, read_until(until), read_skip(skip)):
        for partition, offset in positions.items():
            say(
                console,
                f"partition {partition}: learned again up to offset {offset}; `iln-stream run` "
                "goes on from there",
            )


def read_until(text: str | None) -> int | dt.datetime | None:
    """Return an offset or a time.

    Examples
    --------
    >>> from iln_stream.cli.rebuild import read_until
    >>> read_until("120")
    120
    >>> read_until("2026-01-31T12:00:00Z")
    datetime.datetime(2026, 1, 31, 12, 0, tzinfo=datetime.timezone.utc)

    """
    if text is None:
        return None
    if text.isdecimal():
        return int(text)
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise SettingsError(
            f"--until {text}: give an offset, or a time with its offset from UTC, like "
            "2026-01-31T12:00:00Z"
        )
    return moment


def read_skip(text: str | None) -> dict[int, list[range]]:
    """Return the offsets to leave out, by partition.

    Examples
    --------
    >>> from iln_stream.cli.rebuild import read_skip
    >>> read_skip("0:120,0:125-130,2:7")
    {0: [range(120, 121), range(125, 131)], 2: [range(7, 8)]}

    """
    found: dict[int, list[range]] = {}
    for part in text.split(",") if text is not None else ():
        match = _SKIP.fullmatch(part.strip())
        offsets = range(int(match[2]), int(match[3] or match[2]) + 1) if match else range(0)
        if match is None or not offsets:
            raise SettingsError(
                f"--skip {text}: give PARTITION:OFFSET or PARTITION:FIRST-LAST, comma-separated, "
                "like 0:120,0:125-130"
            )
        found.setdefault(int(match[1]), []).append(offsets)
    return found
