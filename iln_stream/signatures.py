"""What methods of a learner take."""

from inspect import Parameter, signature
from typing import Any

_WRAPPED = ("classifier", "regressor", "model")
"""Attributes of River's wrappers with the learner to which they pass `w` on."""


def takes_weights(learner: Any) -> bool:
    """Return whether `learn_one` takes a weight `w`, also through a pipeline or a wrapper.

    Examples
    --------
    >>> from river import linear_model, naive_bayes, preprocessing
    >>> from iln_stream.signatures import takes_weights
    >>> takes_weights(preprocessing.StandardScaler() | linear_model.LogisticRegression())
    True
    >>> takes_weights(naive_bayes.MultinomialNB())
    False

    """
    parameters = signature(learner.learn_one).parameters
    takes = "w" in parameters
    if not takes and all(each.kind is not Parameter.VAR_KEYWORD for each in parameters.values()):
        return False
    if isinstance(steps := getattr(learner, "steps", None), dict):  # a River pipeline
        return takes_weights(next(reversed(steps.values())))
    inside = [getattr(learner, name) for name in _WRAPPED if hasattr(learner, name)]
    wrapped = [each for each in inside if hasattr(each, "learn_one")]
    return any(map(takes_weights, wrapped)) if wrapped else takes
