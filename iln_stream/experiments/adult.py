"""The adult census data, or a substitute."""

import bz2
import os
from pathlib import Path
from typing import Any

import numpy as np

from iln_stream.experiments.split import Array, Split

_COLUMNS = 123
_FILES = ("adult.trn.bz2", "adult.tst.bz2")


def load_adult(folder: str | None = None) -> Split:
    """Return adult as 123 binary inputs, 32,561 to train and 16,281 to test.

    Parameters
    ----------
    folder
        Holds adult.trn.bz2 and adult.tst.bz2 in the format of LIBSVM. None: the environment
        variable ILN_DATA. Without either, the data are synthetic, and `source` says so.

    """
    folder = folder or os.environ.get("ILN_DATA")
    files = [Path(folder or "") / name for name in _FILES]
    if folder is None or not all(file.is_file() for file in files):
        return synthetic_census()
    (X, y), (Z, labels) = map(_read_libsvm, files)
    return Split(X, y, Z, labels, "adult")


def synthetic_census(n: int = 8000, m: int = 4000, seed: int = 0) -> Split:
    """Return data in adult's form: 14 one-hot attributes, a quarter positive, 5 % wrong labels."""
    rng = np.random.default_rng(seed)
    levels = np.full(14, 9)
    levels[0] = 6  # 123 columns
    codes = np.column_stack([rng.integers(k, size=n + m) for k in levels])
    start = np.concatenate([[0], np.cumsum(levels)[:-1]])
    X = np.zeros((n + m, levels.sum()))
    X[np.arange(n + m)[:, None], codes + start] = 1.0
    effects = rng.standard_normal(levels.sum())
    # Attributes interact in pairs, so that kernels have something to gain on hyperplanes.
    pairs = rng.standard_normal((9, 9))
    score = (
        X @ effects + 3.0 * pairs[codes[:, 1], codes[:, 2]] + 3.0 * pairs[codes[:, 3], codes[:, 4]]
    )
    y = np.where(score > np.quantile(score, 0.75), 1.0, -1.0)
    y[rng.random(n + m) < 0.05] *= -1.0
    return Split(X[:n], y[:n], X[n:], y[n:], "synthetic census: set ILN_DATA to run on adult")


def as_events(X: Array) -> list[dict[Any, float]]:
    """Return each row as a dict of its inputs that are not 0, named by their columns."""
    return [{int(j): float(x[j]) for j in np.flatnonzero(x)} for x in X]


def _read_libsvm(file: Path) -> tuple[Array, Array]:
    lines = bz2.decompress(file.read_bytes()).decode().splitlines()
    X, y = np.zeros((len(lines), _COLUMNS)), np.zeros(len(lines))
    for i, line in enumerate(lines):
        label, *pairs = line.split()
        y[i] = float(label)
        for pair in pairs:
            index, _, value = pair.partition(":")
            X[i, int(index)] = float(value)
    return X, y
