"""Our learners, with each estimator."""

from typing import Any

from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.service.learners import NAMED

from .candidates import COMPARED
from .contender import Contender, river_step

POOL = "ShrinkingGradient(estimator='pool', step=0.6)"
THOUSAND_DRAWS = "ShrinkingGradient(draws=1000)"
ACCURATE = "`run --learner infinite-layer`"
FAST = "`run`, profile fast"

MODELS = {
    ACCURATE: lambda: InfiniteLayerRegressor(seed=1),
    FAST: lambda: InfiniteLayerRegressor("fast", seed=1),
}

KEEP_FEATURES = "pool", "growing-pool"
"""Estimators that use a constant step and need no budget."""


def ours() -> list[Contender]:
    """Return the plain learner on each estimator, and the learners of `iln-stream run`."""
    each = [
        _plain(estimator=name, **({"step": 0.6} if name in KEEP_FEATURES else {"budget": 1000}))
        for name in COMPARED
    ]
    return [
        _plain(),
        _plain(draws=1000),
        *each,
        *(
            Contender(f"`run --learner {name}`", lambda make=make: river_step(make(seed=1)))
            for name, make in NAMED.items()
            if not name.startswith("infinite-layer")  # a default, or of classes
        ),
        *defaults(),
    ]


def defaults() -> list[Contender]:
    """Return the default learner in both profiles."""
    return [Contender(name, lambda make=make: river_step(make())) for name, make in MODELS.items()]


def _plain(**options: Any) -> Contender:
    named = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return Contender(
        f"ShrinkingGradient({named})", lambda: river_step(ShrinkingGradient(seed=1, **options))
    )
