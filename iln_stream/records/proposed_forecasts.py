"""Settings of forecasts, proposed from records: which fields tell series apart, and which lags."""

from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from math import ceil
from statistics import mode
from typing import Any

from iln_stream.records.durations import DAY
from iln_stream.records.inspected import Field
from iln_stream.records.time_spans import step_of
from iln_stream.records.values import as_text

_REPEATED = 0.3
"""Share of records whose time came before, from which a stream has several series."""

_APART = 0.99
"""Share of records whose time is new in their series, if fields tell the series apart."""

_MOST_FIELDS = 3

_SEASONS = (("hour", DAY), ("weekday", 7 * DAY), ("day_of_year", 365.25 * DAY))
"""Time features, and the seconds after which each comes again."""

_LEAST, _MOST = 2, 1_000
"""Records of a season that has lags."""

_LATEST = (1, 2, 3)
"""The lags of any forecast."""


def series_of(
    records: Sequence[Mapping[str, Any]], times: Sequence[Any], fields: Iterable[Field]
) -> tuple[str, ...]:
    """Return the fields that tell the series of a stream apart; none: it has one series.

    They are the fewest categories whose values come once with each of the times, where times, of
    any form, repeat.

    >>> from iln_stream.records.inspection import inspect_fields
    >>> from iln_stream.records.proposed_forecasts import series_of
    >>> found = [{"day": i // 2, "shop": "ab"[i % 2], "sold": i % 7} for i in range(40)]
    >>> series_of(found, [each["day"] for each in found], inspect_fields(found))
    ('shop',)

    """
    if len(times) - len(set(times)) < _REPEATED * len(times):
        return ()
    names = sorted(
        (e for e in fields if e.role == "input" and not e.is_number and not e.n_missing),
        key=lambda each: each.n_distinct,
    )
    for n in range(1, _MOST_FIELDS + 1):
        for chosen in combinations((each.name for each in names), n):
            keys = (
                (time, *(as_text(each[name]) for name in chosen))
                for time, each in zip(times, records, strict=True)
            )
            if len(set(keys)) >= _APART * len(times):
                return chosen
    return ()


def lags_of(
    times: Sequence[float], features: Iterable[str], ahead: Iterable[tuple[int | None, float]]
) -> tuple[list[int], list[int]]:
    """Return the lags and the numbers of records in means from which values ahead are forecast.

    A lag is one or two seasons before the time of the forecast, and one record beside it. A season
    is what a time feature stands for, where it has 2 to 1,000 records. Times are POSIX seconds;
    `ahead` says of each forecast how many records ahead it is, or None and how many seconds.

    >>> from iln_stream.records.proposed_forecasts import lags_of
    >>> hours = [3_600.0 * i for i in range(400)]
    >>> lags_of(hours, ["hour", "weekday"], [(6, 0.0)])
    ([1, 2, 3, 17, 18, 19, 41, 42, 43, 161, 162, 163, 329, 330, 331], [24, 168])

    """
    step = step_of(times)
    seasons = [round(period / step) for name, period in _SEASONS if step and name in features]
    seasons = [season for season in seasons if _LEAST <= season <= _MOST]
    lags = set(_LATEST)
    for steps, seconds in ahead:
        n = steps or max(1, round(seconds / step)) if step else 1
        for season in seasons:
            first = season * ceil(n / season) - n
            lags |= {first + k * season + beside for k in (0, 1) for beside in (-1, 0, 1)}
    return sorted(lag for lag in lags if lag > 0), seasons


def differ(times: Sequence[float]) -> bool:
    """Whether the steps between times differ, and not only by nights, weekends and holidays."""
    ordered = sorted({*times[:1_000]})  # then gaps
    step = step_of(ordered)
    n_odd = sum(abs(b - a - step) > step / 2 for a, b in pairwise(ordered))
    weeks = [bisect(ordered, time + 7 * DAY) - at for at, time in enumerate(ordered)]
    return n_odd > len(ordered) / 20 and weeks.count(mode(weeks)) < 0.7 * len(weeks)
