"""From draws to an estimate."""

import math

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.estimators.base import Estimate


def estimate_of(terms: NDArray[np.float64]) -> Estimate:
    """Return the mean of independent terms, shape (m,) with m >= 2, and its standard error."""
    m = len(terms)
    return Estimate(float(terms.mean()), float(terms.std(ddof=1)) / math.sqrt(m), m)
