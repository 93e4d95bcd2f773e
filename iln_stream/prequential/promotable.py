"""Learners that are several, one of which predicts."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class Promotable(Protocol):
    """Several contenders, one of which is the champion, whose predictions are published."""

    def promote(self, name: str) -> None:
        """Make a contender the champion, from the next event on.

        Raises
        ------
        ValueError
            When there is no contender of this name; the message names them.

        """
        ...
