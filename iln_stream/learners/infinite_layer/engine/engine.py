"""How an event passes from named inputs to the experts: the same for every learner here."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from iln_stream.learners.frames import Frame, Rows
from iln_stream.learners.infinite_layer.engine.inputs import Inputs
from iln_stream.learners.infinite_layer.engine.observation import Vector
from iln_stream.learners.infinite_layer.part import Part


class Engine(Part):
    """Gives names columns, lets the experts predict for a row, and then lets them learn from it.

    A subclass says what its experts are, by the methods `_widen` and `_predict_row`, and how they
    learn, by a method `learn` that begins with `_admit`. An event that was just predicted is not
    predicted again when its label comes: `_predict_for` and `_require_prediction` see to that,
    except in `FastEngine`, which keeps the row itself.

    Parameters
    ----------
    inputs
        Turns named inputs into rows.

    """

    parts: tuple[str, ...] = ("inputs",)

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self._predicted: bytes | None = None

    @property
    def n_overflowed(self) -> int:
        """Number of inputs of learned events that got no column."""
        return self.inputs.columns.n_overflowed

    def predict(self, x: Mapping[Any, float]) -> Any:
        """Return the prediction for x."""
        raise NotImplementedError

    def learn(self, x: Mapping[Any, float], y: Any) -> None:
        """Learn that y is the label of x."""
        raise NotImplementedError

    def predict_rows(self, frame: Frame, start: int, stop: int) -> Rows:
        """Return the predictions for rows `start` to `stop` of a table."""
        return [self.predict(x) for x in frame.rows(start, stop)]

    def learn_rows(self, frame: Frame, y: Rows, start: int, stop: int) -> None:
        """Learn rows `start` to `stop` of a table, whose labels are y, one after the other."""
        labels = y[start:stop].tolist() if isinstance(y, np.ndarray) else y[start:stop]
        for x, label in zip(frame.rows(start, stop), labels, strict=True):
            self.learn(x, label)

    def _widen(self, n_columns: int) -> None:
        """Make room for new columns."""
        raise NotImplementedError

    def _predict_row(self, x: Vector) -> None:
        """Let every expert predict for the raw row x."""
        raise NotImplementedError

    def _predict_for(self, x: Mapping[Any, float]) -> None:
        """Let every expert predict for x."""
        row = self.inputs.row(x)
        self._predict_row(row)
        self._predicted = row.tobytes()

    def _admit(self, x: Mapping[Any, float]) -> Vector:
        """Give the new names of x columns, and return its raw row."""
        known = len(self.inputs)
        row = self.inputs.admit(x)
        if len(row) > known:
            self._widen(len(row) - known)
            self._predicted = None
        return row

    def _require_prediction(self, row: Vector) -> None:
        """Let every expert predict for the raw row, unless that was the last thing they did."""
        if row.tobytes() != self._predicted:
            self._predict_row(row)
        self._predicted = None  # the state behind the prediction is about to change

    def __getstate__(self) -> dict[str, Any]:
        """What a copy gets: it predicts again, as views of scratch arrays would not be copied."""
        return {**self.__dict__, "_predicted": None}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        super().restore(state)
        self._predicted = None

    def _shares(self, relevance: Vector) -> dict[Any, float]:
        """Return the share of each input, by name, in its columns' relevance (d,)."""
        total = relevance.sum()
        shares = relevance / total if total > 0.0 else relevance
        return dict(zip(self.inputs.columns.place, shares.tolist(), strict=True))
