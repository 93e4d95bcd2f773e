"""Filling the cache of compiled functions for all learners of a contest."""

from collections.abc import Sequence
from typing import Any, Self

from iln_stream.keyed import KeyedRegressor
from iln_stream.service.challengers import learners_of
from iln_stream.service.warming import KEYED, Warming


class Warmings:
    """Compiles what several learners need, one after the other; see `Warming`.

    Parameters
    ----------
    each
        That of each learner.

    """

    def __init__(self, each: Sequence[Warming]) -> None:
        self._each = each

    @classmethod
    def of(cls, learner: Any) -> Self:
        """Return those of a contest's learners, or of the only learner."""
        found = [each for one in learners_of(learner) for each in _of(one)]
        return cls(list({each.name: each for each in found}.values()))

    @property
    def is_done(self) -> bool:
        """Whether everything is compiled and loaded."""
        return all(each.is_done for each in self._each)

    @property
    def n_compiled(self) -> int:
        """Number of functions compiled so far."""
        return sum(each.n_compiled for each in self._each)

    def run(self) -> None:
        """Compile and load everything; return soon after `stop`."""
        for each in self._each:
            each.run()

    def stop(self) -> None:
        """End the processes that compile."""
        for each in self._each:
            each.stop()


def _of(learner: Any) -> list[Warming]:
    """Return that of a learner; of a model by key, that of its global model, and its own."""
    if not isinstance(learner, KeyedRegressor):
        return [Warming.of(learner)]
    return [*_of(learner.prior), Warming.named(KEYED)]
