"""The kin8nm data, or a substitute."""

import gzip
import os
from pathlib import Path

import numpy as np

from iln_stream.experiments.split import Array, Split

_FILE = "kin8nm.csv.gz"
_D = 8


def load_robot_arm(seed: int, folder: str | None = None) -> Split:
    """Return kin8nm: eight joint angles of a robot arm, and how far its end is from a target.

    4,096 examples to train and 4,096 to test, inputs and targets of mean 0 and variance 1 over all.

    Parameters
    ----------
    seed
        Of the division into training and test data.
    folder
        Holds kin8nm.csv.gz, a header and nine columns, the target last. None: the environment
        variable ILN_DATA. Without either, the data are synthetic, and `source` says so.

    """
    folder = folder or os.environ.get("ILN_DATA")
    file = Path(folder or "") / _FILE
    if folder is None or not file.is_file():
        table, source = _planar_arm(8192), "synthetic arm: set ILN_DATA to run on kin8nm"
    else:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            table, source = np.loadtxt(lines, delimiter=",", skiprows=1), "kin8nm"
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    table = np.random.default_rng(seed).permutation(table)
    half = len(table) // 2
    X, y = table[:, :_D], table[:, _D]
    return Split(X[:half], y[:half], X[half:], y[half:], source)


def _planar_arm(n: int, seed: int = 0) -> Array:
    """Return rows of eight angles and the distance of a planar arm's end from a point, (n, 9).

    Eight links of length 1/8, each turned by its angle, uniform over [-pi/4, pi/4], against the one
    before; the point is (.5, .5). A twentieth of the distance's standard deviation is noise.
    """
    rng = np.random.default_rng(seed)
    theta = rng.uniform(-np.pi / 4, np.pi / 4, (n, _D))
    directions = np.cumsum(theta, axis=1)
    end = np.column_stack([np.cos(directions).sum(axis=1), np.sin(directions).sum(axis=1)]) / _D
    distance = np.sqrt(((end - 0.5) ** 2).sum(axis=1))
    distance += 0.05 * distance.std() * rng.standard_normal(n)
    return np.column_stack([theta, distance])
