"""Weighs events as the settings describe, for learners that take weights."""

import warnings
from inspect import signature
from typing import Any

from iln_stream.errors import IlnWarning
from iln_stream.prequential import LearnsLate, Weights, takes_weights
from iln_stream.service.challengers import learners_of
from iln_stream.service.learners import task_of
from iln_stream.service.settings import Settings, SettingsError


def build_weights(settings: Settings, learner: Any) -> Weights | None:
    """Return what weighs events; None if the learner takes no weights.

    Raises
    ------
    SettingsError
        When the settings ask for weights and the learner takes none; of a contest the first one.

    """
    asked = [name for name in ("weight_field", "class_weights") if getattr(settings, name)]
    learner, *challengers = learners_of(learner)
    takes = _takes(settings, learner)
    if asked and (without := [each for each in challengers if not _takes(settings, each)]):
        names = ", ".join(type(each).__name__ for each in without)
        warnings.warn(
            f"{asked[0]}: challengers that take no weights learn all events alike: {names}",
            IlnWarning,
            stacklevel=2,
        )
    if asked and not takes:
        raise SettingsError(
            f"{asked[0]}: {type(learner).__name__} takes no weights (no w in learn_one): unset it, "
            "or choose a learner that takes them, such as a logistic regression of River"
        )
    if settings.class_weights and task_of(learner).name != "classification":
        raise SettingsError(
            f"class_weights: {type(learner).__name__} learns numbers; set weight_field instead"
        )
    return Weights(settings.class_weights) if takes else None


def _takes(settings: Settings, learner: Any) -> bool:
    return takes_weights(learner) and not _learns_late_without(settings, learner)


def _learns_late_without(settings: Settings, learner: Any) -> bool:
    """Whether late labels are learned by a method that takes no weight."""
    late = settings.pending_events is not None and isinstance(learner, LearnsLate)
    return late and "w" not in signature(learner.learn_token).parameters
