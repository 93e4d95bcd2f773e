"""The data of the experiments."""

import bz2
import gzip
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Split(NamedTuple):
    """Training and test data."""

    # X, y: training inputs (n, d) and their targets or signs (n,)
    X: Array
    y: Array
    # Z, labels: test inputs (m, d) and their targets or signs (m,)
    Z: Array
    labels: Array
    source: str  # where they come from, in words

    def first(self, n: int, m: int) -> "Split":
        """Return the first n training and m test examples."""
        return Split(self.X[:n], self.y[:n], self.Z[:m], self.labels[:m], self.source)


D = 10
NOISE = 0.1
"""Standard deviation of the noise; signals have 1."""


def _one_direction(X: Array, rng: np.random.Generator) -> Array:
    u = rng.standard_normal(D)
    return np.asarray(np.sin(2.5 * X @ (u / np.linalg.norm(u))))


def _friedman(X: Array, rng: np.random.Generator) -> Array:
    U = (X / 3.0**0.5 + 1.0) / 2.0  # uniform on [0, 1]
    return np.asarray(
        10 * np.sin(np.pi * U[:, 0] * U[:, 1])
        + 20 * (U[:, 2] - 0.5) ** 2
        + 10 * U[:, 3]
        + 5 * U[:, 4]
    )


def _prior(X: Array, rng: np.random.Generator) -> Array:
    """Return a function that the prior draws: no direction matters more than another."""
    omega = rng.normal(0.0, (1.4 / D) ** 0.5, (D, 400))
    return np.asarray(np.cos(X @ omega + rng.uniform(0, 2 * np.pi, 400)) @ rng.standard_normal(400))


TARGETS = {"one direction": _one_direction, "friedman": _friedman, "prior": _prior}


def stream(name: str, n: int, seed: int) -> tuple[Array, Array]:
    """Return n uniform inputs of variance 1, (n, 10), and a target of variance 1, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-(3.0**0.5), 3.0**0.5, (n, D))
    signal = TARGETS[name](X, rng)
    signal = (signal - signal.mean()) / signal.std()
    return X, signal + rng.normal(0.0, NOISE, n)


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
    before; the point is (0.5, 0.5). A twentieth of the distance's standard deviation is noise.
    """
    rng = np.random.default_rng(seed)
    theta = rng.uniform(-np.pi / 4, np.pi / 4, (n, _D))
    directions = np.cumsum(theta, axis=1)
    end = np.column_stack([np.cos(directions).sum(axis=1), np.sin(directions).sum(axis=1)]) / _D
    distance = np.sqrt(((end - 0.5) ** 2).sum(axis=1))
    distance += 0.05 * distance.std() * rng.standard_normal(n)
    return np.column_stack([theta, distance])


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
