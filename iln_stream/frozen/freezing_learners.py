"""Freezing the infinite-layer learners."""

from collections.abc import Mapping
from typing import Any

from iln_stream.frozen.extraction import accurate, classes, fast
from iln_stream.frozen.infinite_layer.models import FrozenClassifier, FrozenRegressor
from iln_stream.learners import InfiniteLayerClassifier, InfiniteLayerRegressor
from iln_stream.learners.infinite_layer.profiles.fast import FastEngine


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
            "InfiniteLayerRegressor or an InfiniteLayerClassifier"
        )
    with model._turn:
        engine: Any = model._engine
        if engine.n == 0:
            raise ValueError("the model has learned nothing yet: let it learn before it is frozen")
        if model._categories.effects is not None:
            raise ValueError(
                "the model hashes categories, which frozen models can't: give their field to "
                "ignore, or predict with a snapshot"
            )
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
