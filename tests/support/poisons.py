"""What is done to the arrays of a learner's state, to see it heal."""

from collections.abc import Iterable, Iterator

import numpy as np

Poison = tuple[str, float, bool]
"""Field of an array, value, and whether all its numbers get it or only the first."""


def poisons(fields: Iterable[str]) -> Iterator[Poison]:
    """Yield a nan for each array, and infinities for a whole array of each part."""
    fields = list(fields)
    yield from ((field, np.nan, False) for field in fields)
    yield from ((field, np.inf, True) for field in one_of_each_part(fields))


def one_of_each_part(fields: Iterable[str]) -> list[str]:
    """Return the first array of each part."""
    firsts: dict[str, str] = {}
    for field in fields:
        firsts.setdefault(field.rpartition(".")[0], field)
    return list(firsts.values())
