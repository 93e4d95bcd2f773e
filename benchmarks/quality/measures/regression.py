"""Mean absolute and root mean squared error, compared with those of the running mean."""

import math
from collections.abc import Sequence

from river import base

from benchmarks.quality.measures.clock import Clock
from benchmarks.quality.streams import Event


class ExplodedError(Exception):
    """A prediction is not a finite number."""


def finite(prediction: float, event: int) -> float:
    """Return the prediction, or raise `ExplodedError`."""
    if prediction is None or not math.isfinite(prediction):
        raise ExplodedError(f"predicts {prediction} at event {event}")
    return float(prediction)


def regression(model: base.Regressor, events: Sequence[Event]) -> dict[str, float]:
    """Predict, score and learn each event, from the second on.

    Nothing can be known before the first target, so that is only learned.
    """
    x, y = events[0]
    model.learn_one(x, y)
    mean, error, mean_error, clock = float(y), 0.0, 0.0, Clock()
    square, mean_square = 0.0, 0.0
    for t, (x, y) in enumerate(events[1:], start=2):
        with clock:
            prediction = model.predict_one(x)
            model.learn_one(x, y)
        residual = finite(prediction, t) - y
        error += abs(residual)
        mean_error += abs(mean - y)
        square += residual * residual
        mean_square += (mean - y) * (mean - y)
        mean += (y - mean) / t
    return {
        "ratio": float(f"{error / mean_error:.5g}"),
        "mae": float(f"{error / clock.n_events:.5g}"),
        "rmse_ratio": float(f"{math.sqrt(square / mean_square):.5g}"),
        "rmse": float(f"{math.sqrt(square / clock.n_events):.5g}"),
        **clock.figures(),
    }
