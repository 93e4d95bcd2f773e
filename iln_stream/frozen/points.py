"""Points at which frozen models predict: dicts and matrices of raw inputs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def row_of(x: Mapping[Any, float], names: Sequence[Any]) -> Matrix:
    """Return a dict of inputs as a row (1, d), nan where one is absent; others are ignored.

    Raises
    ------
    ValueError
        When an input is not a finite number.

    """
    for name, value in x.items():
        if value is None or isinstance(value, str):
            raise ValueError(
                f"x[{name!r}] is {value!r}, not a number: leave out unknown values, and make the "
                "text v of an input k the input 'k=v' of value 1"
            )
    row = [float(x.get(name, 0.0)) for name in names]
    for name, value in zip(names, row, strict=True):
        if not np.isfinite(value):
            raise ValueError(
                f"x[{name!r}] is {value}: inputs must be finite numbers; leave out unknown values"
            )
    return np.where([name not in x for name in names], np.nan, row)[np.newaxis]


def matrix_of(X: Any, names: Sequence[Any]) -> Matrix:
    """Return points, an array or a table with columns of these names, as a matrix (n, d).

    Raises
    ------
    ValueError
        When the shape is wrong, a column is missing, or an entry is infinite.

    """
    if hasattr(X, "columns"):  # of a table the columns are found by name
        if absent := [name for name in names if name not in X.columns]:
            raise ValueError(f"X lacks the columns {absent}; fill unknown inputs with nan")
        X = X[list(names)]
    matrix = np.asarray(X, np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != len(names):
        raise ValueError(
            f"X has shape {matrix.shape}: it must be (n, {len(names)}), in the order of `names`"
        )
    if np.isinf(matrix).any():
        raise ValueError("X has infinite entries: use nan for absent values")
    return matrix


def in_blocks(predict: Callable[[Matrix], Matrix], X: Matrix, size: int, empty: Matrix) -> Matrix:
    """Return the predictions for X, `size` rows at a time, so that memory stays small."""
    found = [predict(X[start : start + size]) for start in range(0, len(X), size)]
    return np.concatenate([empty, *found])
