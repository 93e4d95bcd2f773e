"""The order of records of several partitions by their times."""

from collections.abc import Sequence
from itertools import accumulate, groupby
from math import inf
from operator import itemgetter


def runs_by_time(times: Sequence[Sequence[float]], more: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the order of the records at hand, as far as it is known.

    Each partition keeps its own order. A record later than the last one at hand of a partition that
    has more may come after records that are still to be read, so it is left out. Of equal times,
    that of the partition listed first comes first. A single record whose time lies in the future
    takes the time of its successor, so that it does not hold back those behind it.

    Parameters
    ----------
    times
        Times of the records at hand, by partition.
    more
        Whether a partition has more records than those.

    Returns
    -------
    list of (int, int)
        Runs: index of the partition, and how many of its next records are taken.

    Examples
    --------
    >>> from iln_stream.streams.time_order import runs_by_time
    >>> runs_by_time([[1.0, 2.0, 5.0], [2.0, 4.0]], more=[False, True])
    [(0, 2), (1, 2)]

    """
    ascending = [_ascending(each) for each in times]
    until = min(
        (each[-1] for each, has_more in zip(ascending, more, strict=True) if has_more and each),
        default=inf,
    )
    order = [
        (time, number) for number, each in enumerate(ascending) for time in each if time <= until
    ]
    order.sort(key=itemgetter(0))  # stable, which decides among equal times
    return [(number, sum(1 for _ in run)) for number, run in groupby(order, key=itemgetter(1))]


def _ascending(times: Sequence[float]) -> list[float]:
    """Return times that never decrease; a peak of one record is cut off."""
    return list(accumulate(map(min, times, [*times[1:], inf]), max))
