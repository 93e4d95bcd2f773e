"""One hidden layer with fixed weights, from raw inputs to the prediction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iln_stream.errors import StateError
from iln_stream.files import read_stored, write_whole
from iln_stream.learners.estimators import FiniteLayer
from iln_stream.state import StateSchema, decode_name, encode_name, from_bytes, to_bytes

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


_NAMES = {"names", "classes"}
"""Fields that are tuples of names or classes."""

T = TypeVar("T")


def save(model: Any, schema: StateSchema, path: str | Path) -> None:
    """Write the fields of a model, a dataclass."""
    values = {field.name: getattr(model, field.name) for field in fields(model)}
    for field in _NAMES & values.keys():
        values[field] = [encode_name(name) for name in values[field]]
    content = to_bytes(schema.write(**values))
    write_whole(Path(path), lambda file: file.write(content), durably=False)


def load(cls: type[T], schema: StateSchema, path: str | Path, kind: str) -> T:
    """Return the model of this class that `save` wrote; `kind` names it in errors.

    Raises
    ------
    StateError
        When the file can't be read, or was not written by `save`.

    """
    try:
        state = from_bytes(read_stored(Path(path)))
        kept = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        values = dict(zip(kept, schema.read(state, *kept), strict=True))
    except OSError as error:
        raise StateError(f"{path} can't be read: {error.strerror or error}") from error
    except StateError as error:
        raise StateError(f"{path} is not a {kind}'s file: {error}") from error
    for field in _NAMES & values.keys():
        values[field] = tuple(map(decode_name, values[field]))
    return cls(**values)


_SCHEMA = StateSchema("iln_stream.FrozenNetwork", 1)

_NUMBERS_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False, kw_only=True)
class FrozenNetwork(FiniteLayer):
    """A layer of units with its inputs and outputs scaled, made by `freeze`: a function of raw x.

        z = (x - centre) / deviation, clipped to +-clip; 0 where an input is absent
        p = sum_r weights_r sigma(omega_r.z + b_r), clipped to +-bound
        y = offset + gain p

    activation, radius, omega, b and weights are those of `FiniteLayer`.

    Parameters
    ----------
    names
        The d inputs, in the order of columns. Inputs with other names are ignored.
    centre, deviation
        Shape (d,), in the inputs' units. A deviation is infinite where an input never varied.
    clip
        Largest |z|.
    offset, gain
        In the label's units.
    bound
        Largest |p|; may be infinite.
    standard_error
        Standard error of y against the learned function, due to the finite R: root mean square over
        some points, in the label's units. 0 if the learned function has exactly these units.

    """

    names: tuple[Any, ...]
    centre: NDArray[np.float64]
    deviation: NDArray[np.float64]
    clip: float
    offset: float
    gain: float
    bound: float
    standard_error: float

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return y for a dict of inputs, as passed to the learner; absent ones may be left out.

        Raises
        ------
        ValueError
            When an input is not a finite number.

        """
        return float(self.predict_many(row_of(x, self.names))[0])

    def predict_many(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return y for many points, shape (n,).

        Parameters
        ----------
        X
            Shape (n, d), the columns in the order of `names`; nan where an input is absent.

        Raises
        ------
        ValueError
            When the shape is wrong, or an entry is infinite.

        """
        block = max(1, _NUMBERS_AT_ONCE // len(self.weights))
        return in_blocks(self._values, matrix_of(X, self.names), block, np.zeros(0))

    def scaled(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return z for points X, both of shape (n, d)."""
        z = (np.where(np.isnan(X), self.centre, X) - self.centre) / self.deviation
        return np.clip(z, -self.clip, self.clip)

    def save(self, path: str | Path) -> None:
        """Write the network to one npz file, which holds numbers and JSON but no pickle.

        Any program that reads npz can read it: `omega`, `b`, `weights`, `centre` and `deviation`
        are arrays of these names, and `json` is the UTF-8 text of an object with the rest.
        """
        save(self, _SCHEMA, path)

    @classmethod
    def load(cls, path: str | Path) -> "FrozenNetwork":
        """Return the network that `save` wrote.

        Raises
        ------
        StateError
            When the file was not written by `save`.

        """
        return load(cls, _SCHEMA, path, "frozen network")

    def save_onnx(self, path: str | Path) -> None:
        """Write the network as an ONNX model, in double precision.

        Its input `x`, shape (n, d), and output `y`, shape (n,), are those of `predict_many`; the
        names are in the model's metadata, as a JSON array under `names`. Needs the package onnx:
        `pip install 'iln-stream[onnx]'`.

        Raises
        ------
        ImportError
            When onnx is not installed.

        """
        try:
            from iln_stream.learners.frozen.onnx_model import onnx_model
        except ImportError as error:
            raise ImportError("save_onnx needs onnx: pip install 'iln-stream[onnx]'") from error
        content = onnx_model(self)
        write_whole(Path(path), lambda file: file.write(content), durably=False)

    def _values(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        p = self.evaluate(self.scaled(X))
        values: NDArray[np.float64] = self.offset + self.gain * np.clip(p, -self.bound, self.bound)
        return values
