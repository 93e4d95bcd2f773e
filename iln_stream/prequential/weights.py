"""How much an event counts when it is learned."""

from collections.abc import Mapping
from typing import Any


class Weights:
    """The weight of an event: its own times that of its class.

    A learner gets it as `w` of `learn_one`, as River's learners name it.

    Parameters
    ----------
    of_class
        Weights by class, written as text (`true`, `3`, `cat`); 1 for other classes.

    Examples
    --------
    >>> from iln_stream.prequential import Weights
    >>> weigh = Weights({"true": 20.0})
    >>> weigh(True, None), weigh(True, 0.5), weigh(False, None)
    (20.0, 10.0, 1.0)

    """

    def __init__(self, of_class: Mapping[str, float] | None = None) -> None:
        self._of_class = dict(of_class or {})

    def __call__(self, y: Any, weight: float | None) -> float:
        """Return the weight of an event with this label; None: it has none of its own."""
        own = 1.0 if weight is None else weight
        return own * self._of_class.get(_text(y), 1.0) if self._of_class else own

    def keywords(self, y: Any, weight: float | None) -> dict[str, float]:
        """Return the arguments that pass the weight to `learn_one`; none where nothing sets it."""
        if weight is None and not self._of_class:
            return {}
        return {"w": self(y, weight)}


def _text(y: Any) -> str:
    return str(y).lower() if isinstance(y, bool) else str(y)
