"""Accuracy, log-loss, calibration error, and how well probabilities rank events."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
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
    answers: list[Mapping[Hashable, float]] = []
    for t, (x, y) in enumerate(events[1:], start=2):
        with clock:
            probabilities = model.predict_proba_one(x)
            model.learn_one(x, y)
        if not all(math.isfinite(p) for p in probabilities.values()):
            raise ExplodedError(f"predicts {probabilities} at event {t}")
        # Without a prediction there is neither confidence nor hit.
        guess = max(probabilities, key=lambda c: probabilities[c], default=None)
        correct += guess == y
        rest = 1.0 - math.fsum(probabilities.values()) if probabilities else 0.0
        log_loss -= math.log(max(probabilities.get(y, rest), LEAST_PROBABILITY))
        confidences.append(probabilities.get(guess, 0.0))
        hits.append(guess == y)
        answers.append(probabilities)
    labels = [y for _, y in events[1:]]
    return {
        "accuracy": round(correct / clock.n_events, 5),
        "log_loss": round(log_loss / clock.n_events, 5),
        "calibration_error": round(calibration_error(confidences, hits), 5),
        "roc_auc": round(by_class(roc_auc, answers, labels), 5),
        "pr_auc": round(by_class(pr_auc, answers, labels), 5),
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


Ranking = Callable[[NDArray[np.float64], NDArray[np.bool_]], float]


def by_class(
    measure: Ranking, answers: Sequence[Mapping[Hashable, float]], labels: Sequence[Hashable]
) -> float:
    """Return a measure of the rarer of two classes; of more, its mean over classes.

    A class without a probability has 0.
    """
    classes = sorted(set(labels), key=labels.count)
    if len(classes) < 2:
        return math.nan
    found = []
    for c in classes[:1] if len(classes) == 2 else classes:
        scores = np.array([answer.get(c, 0.0) for answer in answers])
        found.append(measure(scores, np.array([label == c for label in labels])))
    return float(np.mean(found))


def roc_auc(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """Return the share of pairs of a positive and a negative event that the scores rank rightly.

    A tie counts as half a pair: the area under the receiver operating characteristic.
    """
    hits, alarms = _by_threshold(scores, positive)
    return float(np.trapezoid(hits, alarms) / (hits[-1] * alarms[-1]))


def pr_auc(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """Return the average precision: precision at each threshold, weighted by the recall it adds."""
    hits, alarms = _by_threshold(scores, positive)
    precision = hits[1:] / (hits[1:] + alarms[1:])
    return float(precision @ np.diff(hits) / hits[-1])


def _by_threshold(
    scores: NDArray[np.float64], positive: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the positive and negative events at or above each threshold, from none to all."""
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.diff(scores[order]) != 0.0, True)  # of events with the same score
    hits = np.cumsum(positive[order])[last]
    alarms = np.cumsum(~positive[order])[last]
    return np.append(0.0, hits), np.append(0.0, alarms)
