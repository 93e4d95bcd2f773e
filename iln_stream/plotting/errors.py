"""Errors of predictions, and of a predictor that looks at no input."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def errors_of_running_mean(y: Vector) -> Vector:
    """Return the absolute errors (n,) of predicting each label by the mean of those before it.

    The first one is predicted as 0. No label may be nan.

    Examples
    --------
    >>> errors_of_running_mean(np.array([4.0, 6.0, 2.0])).tolist()
    [4.0, 2.0, 3.0]

    """
    means = np.cumsum(y) / np.arange(1, len(y) + 1)
    return np.abs(y - np.concatenate(([0.0], means[:-1]))[: len(y)])


def errors_of_commonest_class(y: Sequence[Any]) -> Vector:
    """Return 1 (n,) where a label is not the class that was most frequent before it, else 0.

    Examples
    --------
    >>> errors_of_commonest_class(["a", "a", "b", "a"]).tolist()
    [1.0, 0.0, 1.0, 0.0]

    """
    counts: Counter[tuple[type, Any]] = Counter()
    errors = np.ones(len(y))
    commonest = None
    for i, label in enumerate(y):
        key = type(label), label  # true and 1 are two classes
        errors[i] = key != commonest
        counts[key] += 1
        if commonest is None or counts[key] > counts[commonest]:
            commonest = key
    return errors


def mean_so_far(errors: Vector) -> Vector:
    """Return the mean of the errors up to each one, (n,)."""
    return np.cumsum(errors) / np.arange(1, len(errors) + 1)


def mean_of_latest(errors: Vector, window: int) -> Vector:
    """Return the mean of the last `window` errors at each one, (n,); nan before so many.

    Examples
    --------
    >>> mean_of_latest(np.array([1.0, 3.0, 5.0]), 2).tolist()
    [nan, 2.0, 4.0]

    """
    means = np.full(len(errors), np.nan)
    if len(errors) >= window:
        sums = np.lib.stride_tricks.sliding_window_view(errors, window).mean(axis=-1)
        means[window - 1 :] = sums
    return means
