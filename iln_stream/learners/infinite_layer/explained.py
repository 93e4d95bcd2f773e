"""Learners that explain their predictions by the events that they remember."""

from collections.abc import Iterable, Mapping
from typing import Any

from iln_stream.explaining import Explanation, explain_one
from iln_stream.learners.infinite_layer.engine_learner import EngineLearner

BACKGROUND = 32
"""Number of events that a prediction is compared with."""


def background_of(learner: EngineLearner, n: int = BACKGROUND) -> list[dict[Any, float]]:
    """Return the inputs of n events that a learner remembers, at random; of all if these are fewer.

    The memory holds the last 2,048 events, or 4,096 with profile "fast", of which only those since
    the last change of the target's level or scale count. A `RandomFeatureRidge` whose units are
    not redrawn remembers one. The sample is a function of the number of events, and successive
    samples have most events in common.

    Parameters
    ----------
    learner
        An `InfiniteLayerRegressor`, `InfiniteLayerClassifier` or `RandomFeatureRidge`.
    n
        Number of events.

    Raises
    ------
    ValueError
        When n is less than 1.

    Examples
    --------
    >>> from iln_stream import RandomFeatureRidge
    >>> from iln_stream.explaining import explain_one
    >>> from iln_stream.learners import background_of
    >>> model = RandomFeatureRidge(seed=1)
    >>> for a in range(3):
    ...     model.learn_one({"a": a, "b": 1}, 2.0 * a)
    >>> background_of(model)
    [{'a': 0.0, 'b': 1.0}, {'a': 1.0, 'b': 1.0}, {'a': 2.0, 'b': 1.0}]
    >>> explain_one(model, {"a": 2, "b": 1}, background_of(model)).contributions["b"]
    0.0

    """
    # Imported here, so that `import iln_stream` does not wait for numba.
    from iln_stream.learners.infinite_layer.background import remembered

    if n < 1:
        raise ValueError(f"n = {n} must be at least 1 event")
    with learner._turn:
        return remembered(learner._engine, n)  # type: ignore[arg-type]


class ExplainedLearner(EngineLearner):
    """An `EngineLearner` whose memory is the background of its explanations."""

    def background(self, n: int = BACKGROUND) -> list[dict[Any, float]]:
        """Return the inputs of n remembered events: see `iln_stream.learners.background_of`."""
        return background_of(self, n)

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
