"""How much an event counts when it is learned."""

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any

_WRAPPED = ("classifier", "regressor", "model")
"""Attributes of River's wrappers with the learner to which they pass `w` on."""


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


def takes_weights(learner: Any) -> bool:
    """Return whether `learn_one` takes a weight `w`, also through a pipeline or a wrapper.

    Examples
    --------
    >>> from river import linear_model, naive_bayes, preprocessing
    >>> from iln_stream.prequential import takes_weights
    >>> takes_weights(preprocessing.StandardScaler() | linear_model.LogisticRegression())
    True
    >>> takes_weights(naive_bayes.MultinomialNB())
    False

    """
    parameters = signature(learner.learn_one).parameters
    if "w" in parameters:
        return True
    if all(each.kind is not Parameter.VAR_KEYWORD for each in parameters.values()):
        return False
    if isinstance(steps := getattr(learner, "steps", None), dict):  # a River pipeline
        return takes_weights(next(reversed(steps.values())))
    inside = [getattr(learner, name) for name in _WRAPPED if hasattr(learner, name)]
    return any(hasattr(each, "learn_one") and takes_weights(each) for each in inside)


def _text(y: Any) -> str:
    return str(y).lower() if isinstance(y, bool) else str(y)
