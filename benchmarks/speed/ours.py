"""Our learners, with every estimator that there is."""

from typing import Any

from iln_stream import ShrinkingGradient
from iln_stream.service import pool, shrinking_gradient

from .candidates import COMPARED
from .contender import Contender, river_step

POOL = "ShrinkingGradient(estimator='pool', step=0.6)"
THOUSAND_DRAWS = "ShrinkingGradient(draws=1000)"

KEEP_FEATURES = "pool", "growing-pool"
"""Estimators that a step which doesn't fall suits, and that need no budget."""


def ours() -> list[Contender]:
    """The plain learner on each estimator, and what `iln-stream run` learns with."""
    each = [
        _plain(estimator=name, **({"step": 0.6} if name in KEEP_FEATURES else {"budget": 1000}))
        for name in COMPARED
    ]
    return [
        _plain(),
        _plain(draws=1000),
        *each,
        Contender(
            "`run`: scaled ShrinkingGradient", lambda: river_step(shrinking_gradient(seed=1))
        ),
        Contender("`run --learner pool`: scaled pool", lambda: river_step(pool(seed=1))),
    ]


def _plain(**options: Any) -> Contender:
    named = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return Contender(
        f"ShrinkingGradient({named})", lambda: river_step(ShrinkingGradient(seed=1, **options))
    )
