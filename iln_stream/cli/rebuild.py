"""`iln-stream rebuild`: learns the log again, optionally without some records."""

import datetime as dt
import re

from rich.console import Console

from iln_stream.cli.logs import report
from iln_stream.service import Settings, SettingsError, rebuild
from iln_stream.service.inputs import place
from iln_stream.streams import label_partition

_SKIP = re.compile(r"(labels:)?(\d+):(\d+)(?:-(\d+))?")


def rebuild_learners(
    settings: Settings, until: str | None, skip: str | None, forget: bool, console: Console
) -> None:
    """Rebuild each learner, and report its position.

    Raises
    ------
    SettingsError
        When `until` or `skip` can't be parsed.

    """
    end, left_out = read_until(until), read_skip(skip)
    for positions in rebuild(settings, end, left_out, forget=forget, console=console):
        for partition, offset in positions.items():
            report(
                console,
                f"{place(partition)}: learned again up to offset {offset}; `iln-stream run` "
                "resumes there",
            )


def read_until(text: str | None) -> int | dt.datetime | None:
    """Parse an offset or a time.

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
            f"--until {text}: give an offset, or a time with a UTC offset, like "
            "2026-01-31T12:00:00Z"
        )
    return moment


def read_skip(text: str | None) -> dict[int, list[range]]:
    """Parse the offsets to skip, by partition.

    Examples
    --------
    >>> from iln_stream.cli.rebuild import read_skip
    >>> read_skip("0:120,0:125-130,2:7")
    {0: [range(120, 121), range(125, 131)], 2: [range(7, 8)]}
    >>> read_skip("labels:0:12")  # of the log of labels
    {-1: [range(12, 13)]}

    """
    found: dict[int, list[range]] = {}
    for part in text.split(",") if text is not None else ():
        match = _SKIP.fullmatch(part.strip())
        offsets = range(int(match[3]), int(match[4] or match[3]) + 1) if match else range(0)
        if match is None or not offsets:
            raise SettingsError(
                f"--skip {text}: give PARTITION:OFFSET or PARTITION:FIRST-LAST, comma-separated, "
                "like 0:120,0:125-130, or labels:PARTITION:OFFSET"
            )
        number = int(match[2])
        found.setdefault(label_partition(number) if match[1] else number, []).append(offsets)
    return found
