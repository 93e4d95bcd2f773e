"""Finding the shrinking gradient inside a model."""

from typing import Any

from iln_stream.learners.shrinking_gradient import ShrinkingGradient


def find_shrinking_gradient(model: Any) -> ShrinkingGradient | None:
    """Return the `ShrinkingGradient` that a pipeline or wrapper ends in, None if there is none."""
    while model is not None:
        # Not isinstance: River makes a pipeline an instance of its last step's class.
        if issubclass(type(model), ShrinkingGradient):
            return model  # type: ignore[no-any-return]
        if isinstance(steps := getattr(model, "steps", None), dict):  # a River pipeline
            model = next(reversed(steps.values()), None)
        else:
            model = getattr(model, "regressor", None)  # a River or our own wrapper
    return None
