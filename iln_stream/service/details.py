"""Computes what a prediction has beside its value, as the settings describe."""

from collections.abc import Callable
from typing import Any

from iln_stream.prequential import Details
from iln_stream.service.learners import PredictOnly
from iln_stream.service.settings import Settings, SettingsError


def build_details(settings: Settings, learner: Any) -> Callable[[dict[str, float]], Details] | None:
    """Return a function of an event's inputs; None if the settings ask for nothing.

    Raises
    ------
    SettingsError
        When the learner has no intervals.

    """
    levels = settings.prediction_intervals
    if not levels:
        return None
    model = learner.learner if isinstance(learner, PredictOnly) else learner
    interval = getattr(model, "predict_interval", None)
    if interval is None:
        raise SettingsError(
            f"prediction_intervals: {type(model).__name__} has no intervals (no method "
            "predict_interval): unset it, or set learner = infinite-layer"
        )

    def details(x: dict[str, float]) -> Details:
        return Details(tuple(interval(x, level) for level in levels))

    return details
