"""One hidden layer with fixed weights, from raw inputs to the label's units."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iln_stream.errors import StateError
from iln_stream.learners.estimators import FiniteLayer
from iln_stream.state import StateSchema, decode_name, encode_name, from_bytes, to_bytes

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
            When an input is not finite.

        """
        row = [float(x.get(name, 0.0)) for name in self.names]
        if not np.isfinite(row).all():
            name, value = next(
                (n, v) for n, v in zip(self.names, row, strict=True) if not np.isfinite(v)
            )
            raise ValueError(
                f"x[{name!r}] is {value}: inputs must be finite numbers; leave out unknown values"
            )
        absent = [name not in x for name in self.names]
        return float(self.predict_many(np.where(absent, np.nan, row)[np.newaxis])[0])

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
        X = np.asarray(X, np.float64)
        if X.ndim != 2 or X.shape[1] != len(self.names):
            raise ValueError(f"X has shape {X.shape}: it must be (n, {len(self.names)})")
        if np.isinf(X).any():
            raise ValueError("X has infinite entries: use nan for absent values")
        block = max(1, _NUMBERS_AT_ONCE // len(self.weights))
        parts = [self._values(X[start : start + block]) for start in range(0, len(X), block)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def scaled(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return z for points X, both of shape (n, d)."""
        z = (np.where(np.isnan(X), self.centre, X) - self.centre) / self.deviation
        return np.clip(z, -self.clip, self.clip)

    def save(self, path: str | Path) -> None:
        """Write the network to one npz file, which holds numbers and JSON but no pickle.

        Any program that reads npz can read it: `omega`, `b`, `weights`, `centre` and `deviation`
        are arrays of these names, and `json` is the UTF-8 text of an object with the rest.
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["names"] = [encode_name(name) for name in self.names]
        Path(path).write_bytes(to_bytes(_SCHEMA.write(**values)))

    @classmethod
    def load(cls, path: str | Path) -> "FrozenNetwork":
        """Return the network that `save` wrote.

        Raises
        ------
        StateError
            When the file was not written by `save`.

        """
        try:
            state = from_bytes(Path(path).read_bytes())
            kept = [field.name for field in fields(cls)]
            values = dict(zip(kept, _SCHEMA.read(state, *kept), strict=True))
        except StateError as error:
            raise StateError(f"{path} is not a frozen network's file: {error}") from error
        return cls(**{**values, "names": tuple(map(decode_name, values["names"]))})

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
            from iln_stream.frozen.onnx_model import onnx_model
        except ImportError as error:
            raise ImportError("save_onnx needs onnx: pip install 'iln-stream[onnx]'") from error
        Path(path).write_bytes(onnx_model(self))

    def _values(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        p = self.evaluate(self.scaled(X))
        values: NDArray[np.float64] = self.offset + self.gain * np.clip(p, -self.bound, self.bound)
        return values
