"""Accuracy, log-loss and calibration error."""

import math
from collections.abc import Sequence

import numpy as np
from river import base

from benchmarks.quality.measures.clock import Clock
from benchmarks.quality.measures.regression import ExplodedError
from benchmarks.quality.streams import Event

LEAST_PROBABILITY = 1e-3
"""A class that was ruled out and came costs no more than this: a learner that says 0 once would
otherwise have no finite log-loss."""
N_BINS = 10


def classification(model: base.Classifier, events: Sequence[Event]) -> dict[str, float]:
    """Learn the first event; predict probabilities of, score and learn each later one."""
    x, y = events[0]
    model.learn_one(x, y)
    correct, log_loss, clock = 0, 0.0, Clock()
    confidences, hits = [], []
    for t, (x, y) in enumerate(events[1:], start=2):
        with clock:
            probabilities = model.predict_proba_one(x)
            model.learn_one(x, y)
        if not all(math.isfinite(p) for p in probabilities.values()):
            raise ExplodedError(f"predicts {probabilities} at event {t}")
        # Without a prediction there is neither confidence nor hit.
        guess = max(probabilities, key=lambda c: probabilities[c], default=None)
        correct += guess == y
        log_loss -= math.log(max(probabilities.get(y, 0.0), LEAST_PROBABILITY))
        confidences.append(probabilities.get(guess, 0.0))
        hits.append(guess == y)
    return {
        "accuracy": round(correct / clock.n_events, 5),
        "log_loss": round(log_loss / clock.n_events, 5),
        "calibration_error": round(calibration_error(confidences, hits), 5),
        **clock.figures(),
    }


def calibration_error(confidences: Sequence[float], hits: Sequence[bool]) -> float:
    """Expected calibration error of the class predicted.

    The mean, over ten bins of equal width weighted by their events, of the distance between how
    sure the learner was and how often it was right.
    """
    sure, right = np.asarray(confidences, float), np.asarray(hits, float)
    bins = np.minimum((sure * N_BINS).astype(int), N_BINS - 1)
    distance = np.bincount(bins, weights=sure - right, minlength=N_BINS)
    return float(np.abs(distance).sum() / len(sure))
