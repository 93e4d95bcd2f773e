"""Finding our learners inside a model."""

from collections.abc import Callable
from typing import Any

from iln_stream.learners.infinite_layer import InfiniteLayerRegressor
from iln_stream.learners.keyed.regressor import KeyedRegressor
from iln_stream.learners.quantiles import QuantileRegressor
from iln_stream.learners.shrinking_gradient import ShrinkingGradient


def find_shrinking_gradient(model: Any) -> ShrinkingGradient | None:
    """Return the `ShrinkingGradient` at a model's end or among its experts, else None."""
    if (mixture := find_infinite_layer(model)) is not None:
        return mixture.first_order
    found: ShrinkingGradient | None = _last(_is_a(ShrinkingGradient), model)
    return found


def find_infinite_layer(model: Any) -> InfiniteLayerRegressor | None:
    """Return the `InfiniteLayerRegressor` at the end of a pipeline or wrapper, else None."""
    found: InfiniteLayerRegressor | None = _last(_is_a(InfiniteLayerRegressor), model)
    return found


def find_keyed(model: Any) -> KeyedRegressor | None:
    """Return a `KeyedRegressor`, or the one whose predictions have quantiles; else None."""
    inner = model.regressor if type(model) is QuantileRegressor else model
    return inner if type(inner) is KeyedRegressor else None


def find_with(attribute: str, model: Any) -> Any | None:
    """Return the learner with an attribute at the end of a pipeline or wrapper, else None."""
    return _last(
        lambda part: hasattr(type(part), attribute) or attribute in getattr(part, "__dict__", ()),
        model,
    )


def _is_a(kind: type) -> Callable[[Any], bool]:
    # Not isinstance: River makes a pipeline an instance of its last step's class.
    return lambda part: issubclass(type(part), kind)


def _last(is_wanted: Callable[[Any], bool], model: Any) -> Any | None:
    while model is not None and not is_wanted(model):
        if isinstance(steps := getattr(model, "steps", None), dict):  # a River pipeline
            model = next(reversed(steps.values()), None)
        elif (inner := getattr(model, "regressor", None)) is not None:  # River's or our wrapper
            model = inner
        else:
            model = getattr(model, "classifier", None)
    return model
