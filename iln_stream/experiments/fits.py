"""Fitted exponents and sizes between measured ones."""

import math
from collections.abc import Sequence

import numpy as np

_T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""97.5 % points of Student's t with 1 to 10 degrees of freedom."""


def power_law(sizes: Sequence[float], values: Sequence[Sequence[float]]) -> dict[str, float | None]:
    """Fit values ~ size^exponent by least squares on logarithms, for each seed.

    Parameters
    ----------
    sizes
        At least two positive sizes.
    values
        For each seed, a positive value a size.

    Returns
    -------
    The mean exponent, and the ends "low" and "high" of its 95 % interval by Student's t over the
    seeds; None for a single seed, or if a value is not positive.

    Examples
    --------
    >>> from iln_stream.experiments.fits import power_law
    >>> fit = power_law([1, 4, 16], [[1, 2, 4], [2, 4, 10]])
    >>> {name: round(value, 3) for name, value in fit.items()}
    {'exponent': 0.54, 'low': 0.029, 'high': 1.052}

    """
    table = np.asarray(values, dtype=float)
    if table.size == 0 or table.min() <= 0:
        return {"exponent": None, "low": None, "high": None}
    logs = np.log(np.asarray(sizes, dtype=float))
    logs -= logs.mean()
    slopes = np.log(table) @ logs / (logs @ logs)
    mean, n = float(slopes.mean()), len(slopes)
    if n == 1:
        return {"exponent": mean, "low": None, "high": None}
    quantile = _T_975[min(n - 1, len(_T_975)) - 1]
    margin = quantile * float(slopes.std(ddof=1)) / math.sqrt(n)
    return {"exponent": mean, "low": mean - margin, "high": mean + margin}


def size_for(sizes: Sequence[float], values: Sequence[float], goal: float) -> float | None:
    """Return the smallest size with a value of at most `goal`, between two by logarithms.

    Parameters
    ----------
    sizes
        Positive and rising.
    values
        A positive value a size; they need not fall.
    goal
        Positive.

    Returns
    -------
    The first size if its value is as small already; None if none is.

    Examples
    --------
    >>> from iln_stream.experiments.fits import size_for
    >>> size_for([1, 4, 16], [1.0, 0.5, 0.125], 0.25)
    8.0
    >>> size_for([1, 4, 16], [1.0, 0.5, 0.125], 0.1) is None
    True

    """
    for k, value in enumerate(values):
        if value > goal:
            continue
        if k == 0:
            return float(sizes[0])
        share = math.log(values[k - 1] / goal) / math.log(values[k - 1] / value)
        return float(sizes[k - 1] * (sizes[k] / sizes[k - 1]) ** share)
    return None
