"""Frozen infinite-layer learners, which predict and never learn."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from iln_stream.frozen.infinite_layer.accurate import predict as predict_accurate
from iln_stream.frozen.infinite_layer.classes import predict as predict_classes
from iln_stream.frozen.infinite_layer.fast import predict as predict_fast
from iln_stream.frozen.infinite_layer.types import Matrix, Parts
from iln_stream.frozen.points import in_blocks, matrix_of, row_of
from iln_stream.frozen.saved import load, save
from iln_stream.state import StateSchema

_ROWS_AT_ONCE = 256


@dataclass(frozen=True, eq=False, kw_only=True)
class FrozenLearner:
    """A learner as it was at one moment, in plain arrays.

    Parameters
    ----------
    names
        The d inputs, in the order of columns. Inputs with other names are ignored.
    profile
        Which of the predictors of this folder computes the predictions.
    parts
        Its arrays.
    card
        The model card: data, settings, versions, scores.

    """

    schema: ClassVar[StateSchema]

    names: tuple[Any, ...]
    profile: str
    parts: Parts
    card: Mapping[str, Any]

    def save(self, path: str | Path) -> None:
        """Write one npz file, which holds numbers and JSON but no pickle."""
        save(self, self.schema, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return what `save` wrote.

        Raises
        ------
        StateError
            When the file was not written by `save`.

        """
        return load(cls, cls.schema, path, cls.__name__)


@dataclass(frozen=True, eq=False, kw_only=True)
class FrozenRegressor(FrozenLearner):
    """An `InfiniteLayerRegressor` as it was at one moment; it needs NumPy only.

    It predicts as the learner did, to within rounding: the learner computes in single precision
    where this computes in double. The last targets, inputs of some experts, stay those of that
    moment. `load` reads what `iln-stream export` or `save` wrote.

    Examples
    --------
    >>> from iln_stream import InfiniteLayerRegressor
    >>> from iln_stream.frozen import freeze_learner
    >>> model = InfiniteLayerRegressor("fast", seed=1)
    >>> for t in range(500):
    ...     model.learn_one({"a": t % 7, "b": t % 5}, 3.0 * (t % 7))
    >>> frozen = freeze_learner(model)
    >>> x = {"a": 3, "b": 2}
    >>> abs(frozen.predict_one(x) - model.predict_one(x)) < 1e-4
    True
    >>> frozen.names
    ('a', 'b')
    >>> frozen.predict_many([[3, 2], [3, float("nan")]]).shape  # nan: absent
    (2,)

    """

    schema = StateSchema("iln_stream.FrozenRegressor", 1)

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return the prediction for a dict of inputs, as passed to the learner.

        Raises
        ------
        ValueError
            When an input is not a finite number.

        """
        return float(self.predict_many(row_of(x, self.names))[0])

    def predict_many(self, X: ArrayLike) -> Matrix:
        """Return predictions for many points, shape (n,).

        Parameters
        ----------
        X
            Shape (n, d), the columns in the order of `names`; nan where an input is absent.

        Raises
        ------
        ValueError
            When the shape is wrong, or an entry is infinite.

        """
        predict = {"fast": predict_fast, "accurate": predict_accurate}[self.profile]
        X = matrix_of(X, self.names)
        return in_blocks(partial(predict, self.parts), X, _ROWS_AT_ONCE, np.zeros(0))


@dataclass(frozen=True, eq=False, kw_only=True)
class FrozenClassifier(FrozenLearner):
    """An `InfiniteLayerClassifier` as it was at one moment; it needs NumPy only.

    As `FrozenRegressor`, with probabilities.

    Parameters
    ----------
    classes
        The C classes, in the order in which the learner met them.

    """

    schema = StateSchema("iln_stream.FrozenClassifier", 1)

    classes: tuple[Any, ...]

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        """Return the most probable class."""
        probabilities = self.predict_proba_one(x)
        return max(probabilities, key=probabilities.__getitem__)

    def predict_proba_one(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the probability of each class, for a dict of inputs as passed to the learner.

        Raises
        ------
        ValueError
            When an input is not a finite number.

        """
        found = self.predict_proba_many(row_of(x, self.names))[0]
        return dict(zip(self.classes, found.tolist(), strict=True))

    def predict_proba_many(self, X: ArrayLike) -> Matrix:
        """Return the probabilities of the classes at many points, shape (n, C).

        Parameters
        ----------
        X
            Shape (n, d), the columns in the order of `names`; nan where an input is absent.

        Raises
        ------
        ValueError
            When the shape is wrong, or an entry is infinite.

        """
        X, none = matrix_of(X, self.names), np.zeros((0, len(self.classes)))
        return in_blocks(partial(predict_classes, self.parts), X, _ROWS_AT_ONCE, none)
