"""Finding our learners inside a model."""

from typing import Any, TypeVar

from iln_stream.learners.infinite_layer import InfiniteLayerRegressor
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

L = TypeVar("L")


def find_shrinking_gradient(model: Any) -> ShrinkingGradient | None:
    """Return the `ShrinkingGradient` at a model's end or among its experts, else None."""
    if (mixture := find_infinite_layer(model)) is not None:
        return mixture.first_order
    return _last(ShrinkingGradient, model)


def find_infinite_layer(model: Any) -> InfiniteLayerRegressor | None:
    """Return the `InfiniteLayerRegressor` at the end of a pipeline or wrapper, else None."""
    return _last(InfiniteLayerRegressor, model)


def _last(kind: type[L], model: Any) -> L | None:
    while model is not None:
        # Not isinstance: River makes a pipeline an instance of its last step's class.
        if issubclass(type(model), kind):
            return model  # type: ignore[no-any-return]
        if isinstance(steps := getattr(model, "steps", None), dict):  # a River pipeline
            model = next(reversed(steps.values()), None)
        else:
            model = getattr(model, "regressor", None)  # a River or our own wrapper
    return None
