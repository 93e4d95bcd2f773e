"""Our learners, with every estimator that there is."""

from typing import Any

from iln_stream import ShrinkingGradient
from iln_stream.learners.estimators import ESTIMATORS
from iln_stream.service import pool, shrinking_gradient

from .contender import Contender, river_step

POOL = "ShrinkingGradient(estimator='pool'), 512 units"
THOUSAND_DRAWS = "ShrinkingGradient(draws=1000)"


def ours() -> list[Contender]:
    """The plain learner on each estimator, and what `iln-stream run` learns with."""
    return [
        _plain("ShrinkingGradient()"),
        _plain(THOUSAND_DRAWS, draws=1000),
        _plain(POOL, estimator="pool", step=0.6),
        *(
            _plain(f"ShrinkingGradient(estimator={name!r}, budget=1000)", name, budget=1000)
            for name in ESTIMATORS
            if name != "pool"
        ),
        Contender(
            "`run`: scaled ShrinkingGradient", lambda: river_step(shrinking_gradient(seed=1))
        ),
        Contender("`run --learner pool`: scaled pool", lambda: river_step(pool(seed=1))),
    ]


def _plain(name: str, estimator: str = "sampled", **options: Any) -> Contender:
    return Contender(
        name, lambda: river_step(ShrinkingGradient(estimator=estimator, seed=1, **options))
    )
