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
        When the learner has no intervals, or explains nothing.

    """
    levels, n_largest = settings.prediction_intervals, settings.prediction_contributions
    if not (levels or n_largest):
        return None
    model = learner.learner if isinstance(learner, PredictOnly) else learner
    interval: Any = getattr(model, "predict_interval", None)
    if levels and interval is None:
        raise SettingsError(
            f"prediction_intervals: {type(model).__name__} has no intervals (no method "
            "predict_interval): unset it, or set learner = infinite-layer"
        )
    explain: Any = getattr(model, "explain_one", None)
    if n_largest and explain is None:
        raise SettingsError(
            f"prediction_contributions: {type(model).__name__} explains no prediction (no method "
            "explain_one): unset it, or set learner = infinite-layer or infinite-layer-classifier"
        )

    def details(x: dict[str, float]) -> Details:
        intervals = tuple(interval(x, level) for level in levels)
        if not n_largest:
            return Details(intervals)
        found = explain(x)
        return Details(intervals, (found.baseline, found.largest(n_largest)))

    return details
