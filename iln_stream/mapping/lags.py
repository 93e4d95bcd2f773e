"""Inputs made of earlier values: lags and rolling means."""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum, nan
from typing import Any, NamedTuple

from iln_stream.state import StateDict


class _Column(NamedTuple):
    """What is made of one column: names and numbers of records; and how many records back."""

    name: str
    lags: tuple[tuple[str, int], ...]
    means: tuple[tuple[str, int], ...]
    depth: int


class Lags:
    """Makes inputs of the values of earlier records.

    `temp.lag_3` is the value of `temp` three records before; `temp.mean_24` is the mean of the last
    24 values, the present one included. A missing value has no lag and does not count in means; at
    the beginning a mean is that of the values so far.

    Parameters
    ----------
    lags, means
        Numbers of records by column.

    Examples
    --------
    >>> from iln_stream.mapping.lags import Lags
    >>> made = Lags({"temp": [1, 2]}, {"temp": [2]})
    >>> for temp in (20.0, 22.0):
    ...     first = made({"temp": temp})
    ...     made.accept()
    >>> made({"temp": 23.0})
    {'temp.lag_1': 22.0, 'temp.lag_2': 20.0, 'temp.mean_2': 22.5}

    """

    def __init__(self, lags: Mapping[str, Sequence[int]], means: Mapping[str, Sequence[int]]):
        self._columns = []
        for name in dict.fromkeys((*lags, *means)):
            of_lags = tuple((f"{name}.lag_{k}", k) for k in lags.get(name, ()))
            of_means = tuple((f"{name}.mean_{k}", k) for k in means.get(name, ()))
            depth = max([*(k for _, k in of_lags), *(k - 1 for _, k in of_means)])
            self._columns.append(_Column(name, of_lags, of_means, depth))
        self._before: dict[str, list[float]] = {each.name: [] for each in self._columns}
        self._now: dict[str, float] = {}

    @property
    def names(self) -> Iterator[tuple[str, str]]:
        """The name of each input that is made, with the setting that makes it."""
        for column in self._columns:
            yield from ((name, "lags") for name, _ in column.lags)
            yield from ((name, "rolling_means") for name, _ in column.means)

    def __call__(self, x: Mapping[str, Any]) -> dict[str, float]:
        """Return the inputs of an event with these present values, by name."""
        made: dict[str, float] = {}
        for name, lags, means, _ in self._columns:
            before = self._before[name]
            n = len(before)
            self._now[name] = now = x.get(name, nan)
            for lag, k in lags:
                if k <= n and (value := before[n - k]) == value:
                    made[lag] = value
            for mean, k in means:
                found = _mean([*before[max(0, n - k + 1) :], now])
                if found is not None:
                    made[mean] = found
        return made

    def accept(self) -> None:
        """Take the values of the last call as those of the last event."""
        for name, _, _, depth in self._columns:
            before = self._before[name]
            before.append(self._now.get(name, nan))
            if len(before) > 2 * depth + 16:
                del before[: len(before) - depth]

    def state(self) -> StateDict:
        """Return the earlier values; None: missing."""
        found = {}
        for name, _, _, depth in self._columns:
            before = self._before[name]
            latest = before[max(0, len(before) - depth) :]
            found[name] = [each if each == each else None for each in latest]
        return found

    def restore(self, state: StateDict) -> None:
        """Continue from a `state()`, also one of other columns."""
        for name in self._before.keys() & state.keys():
            self._before[name] = [nan if each is None else each for each in state[name]]


def _mean(values: Sequence[float]) -> float | None:
    """Return the mean of the values that are not missing; None: all are."""
    try:
        total = fsum(values)  # nan if one is missing
    except OverflowError:
        total = nan
    if total == total:
        return total / len(values)
    known = [each for each in values if each == each]
    return fsum(each / len(known) for each in known) if known else None


def numbers_of_records(given: Any) -> tuple[int, ...]:
    """Return the numbers in a list; of a single n, 1 to n.

    Raises
    ------
    ValueError
        When these are no positive integers.

    """
    numbers = range(1, given + 1) if type(given) is int else given
    if not isinstance(numbers, list | tuple | range) or not numbers:
        raise ValueError(f"expected a number of records, or a list, not {given!r}")
    for each in numbers:
        if type(each) is not int or each < 1:
            raise ValueError(f"a number of records is an integer from 1 on, not {each!r}")
    return tuple(dict.fromkeys(numbers))
