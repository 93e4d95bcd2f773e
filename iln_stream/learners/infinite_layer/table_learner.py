"""Learners that take the rows of tables."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.frames import Frame, Rows
from iln_stream.learners.infinite_layer.categories.hashed_categories import EffectsTable
from iln_stream.learners.infinite_layer.categories.hashed_name import field_of
from iln_stream.learners.infinite_layer.hashing_learner import HashingLearner

ROWS = 1024
"""Rows of a table for which the learner's lock is held: a few milliseconds with profile fast."""

E = TypeVar("E", bound=EffectsTable)


class TableLearner(HashingLearner[E]):
    """A learner of tables; in a compiled loop if its engine has one and no input is a category."""

    def _predicted_rows(
        self, frame: Frame, predict_one: Callable[[dict[Any, float]], Any]
    ) -> Iterator[Rows]:
        """Yield the predictions for the rows of a table, many at a time."""
        compiled = self._is_compiled(frame)
        for start in range(0, len(frame), ROWS):
            stop = min(start + ROWS, len(frame))
            with self._turn:
                predictions = (
                    self._engine.predict_rows(frame, start, stop)  # type: ignore[attr-defined]
                    if compiled
                    else [predict_one(x) for x in frame.rows(start, stop)]
                )
            yield predictions

    def _learn_rows(self, frame: Frame, y: Rows, w: NDArray[np.float64]) -> None:
        """Learn the rows of a table, whose labels are y and weights w, in their order."""
        frame.warn()
        compiled, start = self._is_compiled(frame), 0
        while start < len(frame):
            with self._turn:
                in_loop = compiled and self._beginning is None
                stop = min(start + (ROWS if in_loop or not compiled else 1), len(frame))
                if in_loop:
                    self._engine.learn_rows(frame, y, w, start, stop)  # type: ignore[attr-defined]
                    self._last_look = None
                else:
                    part = y[start:stop]
                    listed = part.tolist() if isinstance(part, np.ndarray) else part
                    rows, weights = frame.rows(start, stop), w[start:stop].tolist()
                    for x, label, weight in zip(rows, listed, weights, strict=True):
                        self.learn_one(x, label, weight)
            start = stop

    def _is_compiled(self, frame: Frame) -> bool:
        if not hasattr(self._engine, "learn_rows"):
            return False
        return all(field_of(name, 1.0) is None for name in frame.names)
