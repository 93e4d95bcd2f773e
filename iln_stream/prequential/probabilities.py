"""Measures of predicted probabilities: how well they rank events, and how true they are."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import groupby
from math import nan
from operator import itemgetter

Answers = Sequence[Mapping[Hashable, float]]
Ranking = Callable[[Sequence[float], Sequence[bool]], float]

N_BINS = 10


def roc_auc(scores: Sequence[float], positives: Sequence[bool]) -> float:
    """Return the probability that a positive event has a higher score than a negative one.

    A tie counts half. nan if there are no positives or no negatives.

    Examples
    --------
    >>> from iln_stream.prequential.probabilities import roc_auc
    >>> roc_auc([0.9, 0.4, 0.4, 0.1], [True, True, False, False])
    0.875

    """
    n_positive = sum(positives)
    n_negative = len(positives) - n_positive
    if not n_positive or not n_negative:
        return nan
    below = wins = 0.0
    for n_true, n_false in _by_score(scores, positives, reverse=False):
        wins += n_true * (below + n_false / 2)
        below += n_false
    return wins / (n_positive * n_negative)


def average_precision(scores: Sequence[float], positives: Sequence[bool]) -> float:
    """Return the area under the curve of precision over recall, as steps; nan without positives.

    Events of one score are taken together. A constant score has the share of positives.

    Examples
    --------
    >>> from iln_stream.prequential.probabilities import average_precision
    >>> average_precision([0.9, 0.4, 0.3], [True, False, True])
    0.8333333333333333

    """
    n_positive = sum(positives)
    if not n_positive:
        return nan
    area = found = seen = 0.0
    for n_true, n_false in _by_score(scores, positives, reverse=True):
        found += n_true
        seen += n_true + n_false
        area += n_true * found / seen
    return area / n_positive


def by_class(measure: Ranking, answers: Answers, labels: Sequence[Hashable]) -> float:
    """Return a ranking measure of the rarer of two classes; of more, its mean over classes.

    A class without a probability has 0; nan if there is only one class.
    """
    classes = sorted(set(labels), key=labels.count)
    if len(classes) < 2:
        return nan
    found = [
        measure([answer.get(c, 0.0) for answer in answers], [label == c for label in labels])
        for c in (classes[:1] if len(classes) == 2 else classes)
    ]
    return sum(found) / len(found)


def brier_score(answers: Answers, labels: Sequence[Hashable]) -> float:
    """Return the mean of half the squared distance between probabilities and what came, 0 to 1.

    For two classes it is the squared error of either's probability. nan without events.
    """
    if not labels:
        return nan
    total = 0.0
    for answer, label in zip(answers, labels, strict=True):
        right = answer.get(label, 0.0)
        total += (sum(p * p for p in answer.values()) - right * right + (1.0 - right) ** 2) / 2
    return total / len(labels)


def calibration_error(answers: Answers, labels: Sequence[Hashable]) -> float:
    """Return the expected calibration error of the most probable class, 0 to 1.

    The mean over ten bins of confidence, weighted by their events, of the distance between mean
    confidence and share of hits. nan without events.
    """
    if not labels:
        return nan
    distances = [0.0] * N_BINS
    for answer, label in zip(answers, labels, strict=True):
        guess = max(answer, key=answer.__getitem__, default=None)
        sure = answer.get(guess, 0.0)
        distances[min(int(sure * N_BINS), N_BINS - 1)] += sure - (bool(answer) and guess == label)
    return sum(map(abs, distances)) / len(labels)


def _by_score(
    scores: Sequence[float], positives: Sequence[bool], *, reverse: bool
) -> list[tuple[int, int]]:
    """Return the numbers of positives and negatives of each distinct score, in order of scores."""
    ordered = sorted(zip(scores, positives, strict=True), key=itemgetter(0), reverse=reverse)
    counts = []
    for _, group in groupby(ordered, key=itemgetter(0)):
        found = [positive for _, positive in group]
        counts.append((sum(found), len(found) - sum(found)))
    return counts
