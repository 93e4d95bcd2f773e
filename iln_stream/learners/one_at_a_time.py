"""Learners that several threads may ask while one of them learns."""

from threading import RLock
from typing import Any


class OneAtATime:
    """A learner with a lock: its methods run one at a time, whatever threads call them.

    So a prediction that is served, or a scrape of what is known, falls between two steps of the
    thread that learns. It may overwrite what the last prediction left for learning, which is then
    worked out again, to the same bits.

    The lock is no part of what a learner is: copies, pickles and clones have their own.
    """

    def __init__(self) -> None:
        # Reentrant, for what is called within a turn may ask the learner something in its turn.
        self._turn = RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_turn"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # One by one, which interns the names as pickle does: equal learners are pickled alike.
        for name, value in state.items():
            setattr(self, name, value)
        self._turn = RLock()
