"""The number that is explained: a predicted target, or a class's probability."""

from collections.abc import Callable, Mapping
from typing import Any

from river import base

Outcome = Callable[[Mapping[Any, float]], float]


def outcome_of(model: base.Estimator, x: Mapping[Any, float], label: Any = None) -> Outcome:
    """Return a function from inputs to a number.

    Parameters
    ----------
    model
        A River regressor, or a River classifier that predicts probabilities.
    x
        The inputs of the prediction.
    label
        The class whose probability is wanted; None: the most probable class at x.

    """
    if not isinstance(model, base.Classifier):  # a pipeline is an instance of its last step's class
        predict_one = model.predict_one
        return lambda inputs: float(predict_one(inputs))
    predict_proba_one = model.predict_proba_one
    if label is None:
        probabilities = predict_proba_one(x)
        label = max(probabilities, key=probabilities.__getitem__, default=None)
    return lambda inputs: float(predict_proba_one(inputs).get(label, 0.0))
