"""Models that predict by a kernel expansion."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from river import base

from iln_stream.learners import validation
from iln_stream.learners.preprocessing.columns import Columns
from iln_stream.related.kernel_expansion import Array, KernelExpansion


class KernelModel:
    """Predicts by f, a sum of Gaussian kernels at support vectors.

    Inputs that an event lacks are 0, as in River's linear models; each new name becomes a column.

    Parameters
    ----------
    gamma
        Inverse squared width of the kernel exp(-gamma ||x - x'||^2).
    max_columns
        The most input names that get a column; inputs of later names are left out, with a warning.

    """

    def __init__(self, gamma: float, max_columns: int) -> None:
        validation.require_positive(gamma=gamma)
        validation.require_counts(max_columns=max_columns)
        self.gamma = gamma
        self.max_columns = max_columns
        self._columns = Columns(max_columns)
        self._f = KernelExpansion(gamma)

    @property
    def n_support(self) -> int:
        """The number of support vectors."""
        return len(self._f)

    def decision_one(self, x: Mapping[Any, float]) -> float:
        """Return f(x)."""
        return self._f(self._columns.row(x))

    def decision_many(self, xs: Iterable[Mapping[Any, float]]) -> Array:
        """Return f of several inputs, faster than one by one."""
        rows = [self._columns.row(x) for x in xs]
        width = max(map(len, rows), default=0)
        return self._f.many(np.array([np.pad(row, (0, width - len(row))) for row in rows]))


class KernelClassifier(KernelModel, base.Classifier):
    """Predicts True where f(x) > 0."""

    def predict_one(self, x: Mapping[Any, float]) -> bool:
        """Return whether f(x) is positive."""
        return self.decision_one(x) > 0.0

    def predict_several(self, xs: Iterable[Mapping[Any, float]]) -> list[bool]:
        """Return the class of each input, faster than one by one."""
        return [bool(f > 0.0) for f in self.decision_many(xs)]
