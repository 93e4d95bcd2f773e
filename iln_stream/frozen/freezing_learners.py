"""Freezing the infinite-layer learners."""

from collections.abc import Mapping, Sequence
from typing import Any

from iln_stream.frozen.extraction import accurate, classes, fast
from iln_stream.frozen.infinite_layer.models import FrozenClassifier, FrozenRegressor
from iln_stream.learners import InfiniteLayerClassifier, InfiniteLayerRegressor
from iln_stream.learners.infinite_layer.categories.routing import OTHERS
from iln_stream.learners.infinite_layer.profiles.fast import FastEngine

_NAMED = 5
"""Fields that an error names."""


def freeze_learner(
    model: InfiniteLayerRegressor | InfiniteLayerClassifier, card: Mapping[str, Any] | None = None
) -> FrozenRegressor | FrozenClassifier:
    """Return a learner as plain arrays, which predict as it does now without compiled code.

    Parameters
    ----------
    model
        An `InfiniteLayerRegressor` of any profile, or an `InfiniteLayerClassifier`.
    card
        The model card to keep with it.

    Raises
    ------
    ValueError
        When the model is of another kind, hashes categories, or has learned nothing yet.

    """
    if type(model) not in (InfiniteLayerRegressor, InfiniteLayerClassifier):
        raise ValueError(
            f"{type(model).__name__} can't be frozen: freeze_learner takes an "
            "InfiniteLayerRegressor or an InfiniteLayerClassifier; of a pipeline, its last step: "
            'model["InfiniteLayerRegressor"]'
        )
    with model._turn:
        engine: Any = model._engine
        if engine.n == 0:
            raise ValueError("the model has learned nothing yet: let it learn before it is frozen")
        if model._categories.effects is not None:
            raise ValueError(_of_hashed(model._categories.routing.fields))
        names, kept = tuple(engine.inputs.columns.place), dict(card or {})
        if isinstance(model, InfiniteLayerClassifier):
            return FrozenClassifier(
                names=names,
                profile="classes",
                parts=classes.parts_of(engine),
                card=kept,
                classes=tuple(engine.classes),
            )
        if isinstance(engine, FastEngine):
            parts = fast.parts_of(engine)
        else:
            engine.predict({})  # experts that sleep are known after a prediction
            parts = accurate.parts_of(engine)
        return FrozenRegressor(names=names, profile=model.profile, parts=parts, card=kept)


def _of_hashed(fields: Sequence[str]) -> str:
    """Return why a model with hashed categories of these fields is not frozen."""
    named = [field for field in fields if field != OTHERS]
    more = f" and {len(fields) - _NAMED} more" if len(fields) > _NAMED else ""
    return (
        f"the model hashes categories of {', '.join(named[:_NAMED])}{more}, and a frozen model has "
        "no table of their effects, so its predictions would be others: predict with the snapshot "
        "(iln-stream predict), or with a published version (publish); or leave these fields out "
        "(ignore) and learn again (iln-stream rebuild)"
    )
