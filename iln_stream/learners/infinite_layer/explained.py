"""Learners that explain their predictions by the events that they remember."""

from collections.abc import Iterable, Mapping
from typing import Any

from iln_stream.explaining import Explanation, explain_one
from iln_stream.learners.infinite_layer.engine_learner import EngineLearner

BACKGROUND = 32
"""Number of events that a prediction is compared with."""


class ExplainedLearner(EngineLearner):
    """An `EngineLearner` whose memory is the background of its explanations."""

    def background(self, n: int = BACKGROUND) -> list[dict[Any, float]]:
        """Return the inputs of n remembered events, at random; of fewer if fewer are remembered.

        The memory holds the last 2,048 events, or 4,096 with profile "fast", of which only those
        since the last change of the target's level or scale count. The sample is a function of the
        number of events, and successive samples have most events in common.

        Raises
        ------
        ValueError
            When n is less than 1.

        """
        # Imported here, so that `import iln_stream` does not wait for numba.
        from iln_stream.learners.infinite_layer.background import remembered

        if n < 1:
            raise ValueError(f"n = {n} must be at least 1 event")
        with self._turn:
            return remembered(self._engine, n)  # type: ignore[arg-type]

    def _explanation(
        self,
        x: Mapping[Any, float],
        background: Iterable[Mapping[Any, float]] | None,
        label: Any = None,
    ) -> Explanation:
        with self._turn:  # all predictions are of one state
            if background is None:
                background = self.background() or [dict(x)]
            return explain_one(self, x, background, label=label)
