"""Inputs: absent values, and deviations by running statistics."""

import numpy as np

from iln_stream.features.base import LARGEST_INPUT
from iln_stream.frozen.infinite_layer.types import Matrix

ROBUST = 30
"""Columns with fewer values clip a new one to `lower` and `upper`, others at 6 sd."""


def standardised(stats: Matrix, X: Matrix) -> tuple[Matrix, Matrix]:
    """Return raw rows and their deviations, both (n, d); nan marks what stays absent in the rows.

    An absent value is 0 where 0 is an ordinary value of its column, and otherwise unknown, with
    deviation 0. The statistics include the row itself, as those of the learner do.

    Parameters
    ----------
    stats
        Of each column (7, d): the number of values, their mean, the sum of squares about it, the
        smallest and largest value, and the bounds of values while there are few.
    X
        Raw inputs (n, d), nan where absent.

    """
    count, mean, squares, low, high, lower, upper = stats
    width = high - low
    ordinary = (count > 0.0) & ((width == 0.0) | ((low <= width) & (high >= -width)))
    row = np.where(np.isnan(X), np.where(ordinary, 0.0, np.nan), X)
    row = np.clip(row, -LARGEST_INPUT, LARGEST_INPUT)
    settled = count >= ROBUST
    delta = np.where(settled, row, np.clip(row, lower, upper)) - mean
    fence = np.where(
        settled & (squares > 0.0), 6.0 * np.sqrt(squares / np.maximum(count, 1.0)), np.inf
    )
    delta = np.clip(delta, -fence, fence)
    step = delta / (count + 1.0)
    mean_with = mean + step
    variance = (squares + delta * (delta - step)) / (count + 1.0)
    varies = (variance > 1e-26 * mean_with * mean_with) & (variance > 0.0)
    z = (row - mean_with) / np.sqrt(np.where(varies, variance, 1.0))
    return row, np.where(varies & ~np.isnan(row), np.clip(z, -5.0, 5.0), 0.0)
