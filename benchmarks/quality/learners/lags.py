"""Peers that see the last two targets as inputs, as our learners do."""

from dataclasses import replace

from river import base

from benchmarks.quality.learners.contender import Contender

LAGS = ("target 1 ago", "target 2 ago")
"""Names of the added inputs; no stream has columns of these names."""

SUFFIX = "+lags"
"""Of the id of a learner that sees them."""


class WithLags(base.Wrapper, base.Regressor):
    """Adds the last two targets to the inputs, as columns.

    The first target stands in for targets before it, so that no invented value enters a scaler's
    statistics. A prediction before the first target sees zeros.

    Examples
    --------
    >>> from river import linear_model
    >>> model = WithLags(linear_model.LinearRegression())
    >>> model.extended({"a": 1.0})
    {'a': 1.0, 'target 1 ago': 0.0, 'target 2 ago': 0.0}
    >>> model.learn_one({"a": 1.0}, 5.0)
    >>> model.learn_one({"a": 1.0}, 7.0)
    >>> model.extended({"a": 1.0})
    {'a': 1.0, 'target 1 ago': 7.0, 'target 2 ago': 5.0}

    """

    def __init__(self, regressor: base.Regressor) -> None:
        self.regressor = regressor
        self._last: tuple[float, ...] | None = None

    @property
    def _wrapped_model(self) -> base.Regressor:
        return self.regressor

    def extended(self, x: dict[str, float]) -> dict[str, float]:
        """Return the inputs and the last two targets."""
        last = self._last or (0.0,) * len(LAGS)
        return {**x, **dict(zip(LAGS, last, strict=True))}

    def learn_one(self, x: dict[str, float], y: float) -> None:
        if self._last is None:
            self._last = (y,) * len(LAGS)
        self.regressor.learn_one(self.extended(x), y)
        self._last = (y, *self._last[:-1])

    def predict_one(self, x: dict[str, float]) -> float:
        return self.regressor.predict_one(self.extended(x))


def with_lags(contender: Contender) -> Contender:
    """Return the variant of a contender that sees the last two targets."""
    return replace(
        contender,
        id=contender.id + SUFFIX,
        title=f"{contender.title}, with lags",
        make=lambda seed: WithLags(contender.make(seed)),
        settings=f"{contender.settings}; the last two targets are inputs, too",
    )
