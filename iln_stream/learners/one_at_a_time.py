"""Learners that several threads may query while one of them learns."""

from threading import RLock
from typing import Any


class OneAtATime:
    """A learner with a lock: its methods run one at a time, whatever threads call them.

    A served prediction, or a scrape of metrics, runs between two steps of the learning thread. It
    may overwrite the values that the last prediction kept for learning; learning then recomputes
    them, to the same bits.

    The lock is not part of a learner's state: copies, pickles and clones have their own.
    """

    def __init__(self) -> None:
        # Reentrant: code called while the lock is held may query the learner again.
        self._turn = RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_turn"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # One by one, which interns the names as pickle does: equal learners pickle identically.
        for name, value in state.items():
            setattr(self, name, value)
        self._turn = RLock()
