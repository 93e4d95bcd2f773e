"""Shapley values of a game, from an order of its players and the reverse order."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

P = TypeVar("P", bound=Hashable)


def antithetic(
    order: Sequence[P],
    none: float,
    along: Callable[[Sequence[P]], Iterable[float]],
    everyone: float,
) -> dict[P, float]:
    """Return what each player adds as it joins, averaged over an order and its reverse.

    The results sum to the value of all players minus that of none. They are the Shapley values of
    any game that is a sum of terms of one or two players: of two that only together add something,
    each is the later one in one of the orders. For other games, the mean over random orders is the
    Shapley value.

    Parameters
    ----------
    order
        The players.
    none, everyone
        The values of no player and of all.
    along
        From an order to the values of its first player, of its first two, and so on, but not of
        all.

    Examples
    --------
    >>> def along(order):
    ...     for n in range(1, len(order)):
    ...         yield 6.0 * ({"a", "b"} <= set(order[:n])) + ("c" in order[:n])
    >>> antithetic("abc", 0.0, along, 7.0)
    {'a': 3.0, 'b': 3.0, 'c': 1.0}

    """
    shares = dict.fromkeys(order, 0.0)
    for each in (order, order[::-1]):
        before = none
        for player, after in zip(each, (*along(each), everyone), strict=False):
            shares[player] += (after - before) / 2.0
            before = after
    return shares
