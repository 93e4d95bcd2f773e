"""Shapley values of a game, from an order of its players and the reverse order."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

P = TypeVar("P", bound=Hashable)

Game = Callable[[frozenset[P]], float]
"""From a coalition of players to its value."""


def antithetic(game: Game[P], order: Sequence[P]) -> dict[P, float]:
    """Return what each player adds as it joins, averaged over an order and its reverse.

    The results sum to the value of all players minus that of none. They are the Shapley values of
    any game that is a sum of terms of one or two players: of two that only together add something,
    each is the later one in one of the orders. For other games, the mean over random orders is the
    Shapley value.

    >>> antithetic(lambda players: 6.0 * ({"a", "b"} <= players) + ("c" in players), "abc")
    {'a': 3.0, 'b': 3.0, 'c': 1.0}
    """
    none, everyone = game(frozenset()), game(frozenset(order))
    shares = dict.fromkeys(order, 0.0)
    for each in (order, order[::-1]):
        before = none
        for i, player in enumerate(each, start=1):
            after = game(frozenset(each[:i])) if i < len(each) else everyone
            shares[player] += (after - before) / 2.0
            before = after
    return shares
