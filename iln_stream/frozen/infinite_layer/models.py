"""Frozen infinite-layer learners, which predict and never learn."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from iln_stream.errors import StateError
from iln_stream.frozen.infinite_layer import accurate, classes, fast
from iln_stream.frozen.infinite_layer.types import Matrix, Parts
from iln_stream.state import StateSchema, decode_name, encode_name, from_bytes, to_bytes

_ROWS_AT_ONCE = 256

_NAMES = {"names", "classes"}
"""Fields that are tuples of names or classes."""


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

    def _row(self, x: Mapping[Any, float]) -> Matrix:
        row = [float(x.get(name, 0.0)) for name in self.names]
        for name, value in zip(self.names, row, strict=True):
            if not np.isfinite(value):
                raise ValueError(
                    f"x[{name!r}] is {value}: inputs must be finite numbers; leave out unknown "
                    "values"
                )
        absent = [name not in x for name in self.names]
        return np.where(absent, np.nan, row)[np.newaxis]

    def _matrix(self, X: ArrayLike) -> Matrix:
        matrix = np.asarray(X, np.float64)
        if matrix.ndim != 2 or matrix.shape[1] != len(self.names):
            raise ValueError(f"X has shape {matrix.shape}: it must be (n, {len(self.names)})")
        if np.isinf(matrix).any():
            raise ValueError("X has infinite entries: use nan for absent values")
        return matrix

    def save(self, path: str | Path) -> None:
        """Write one npz file, which holds numbers and JSON but no pickle."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        for field in _NAMES & values.keys():
            values[field] = [encode_name(name) for name in values[field]]
        Path(path).write_bytes(to_bytes(self.schema.write(**values)))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return what `save` wrote.

        Raises
        ------
        StateError
            When the file was not written by `save`.

        """
        try:
            state = from_bytes(Path(path).read_bytes())
            kept = [field.name for field in fields(cls)]
            values = dict(zip(kept, cls.schema.read(state, *kept), strict=True))
        except StateError as error:
            raise StateError(f"{path} is not a {cls.__name__}'s file: {error}") from error
        for field in _NAMES & values.keys():
            values[field] = tuple(map(decode_name, values[field]))
        return cls(**values)


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
            When an input is not finite.

        """
        return float(self.predict_many(self._row(x))[0])

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
        X = self._matrix(X)
        predict = {"fast": fast.predict, "accurate": accurate.predict}[self.profile]
        blocks = range(0, len(X), _ROWS_AT_ONCE)
        found = [predict(self.parts, X[at : at + _ROWS_AT_ONCE]) for at in blocks]
        return np.concatenate(found) if found else np.zeros(0)


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
            When an input is not finite.

        """
        found = self.predict_proba_many(self._row(x))[0]
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
        X = self._matrix(X)
        blocks = range(0, len(X), _ROWS_AT_ONCE)
        found = [classes.predict(self.parts, X[at : at + _ROWS_AT_ONCE]) for at in blocks]
        return np.concatenate(found) if found else np.zeros((0, len(self.classes)))
