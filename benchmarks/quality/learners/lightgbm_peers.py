"""LightGBM."""

from typing import Any

from benchmarks.quality.learners.contender import Contender
from benchmarks.quality.learners.refitted import Refitted
from benchmarks.quality.learners.scaled import scaled
from benchmarks.quality.unavailable import UnavailableError


def _model(seed: int) -> Any:
    try:
        from lightgbm import LGBMRegressor
    except ImportError as error:
        raise UnavailableError("LightGBM: pip install '.[quality]'") from error
    return LGBMRegressor(
        objective="l1", random_state=seed, n_jobs=1, deterministic=True, verbose=-1
    )


def _refitted(seed: int) -> Refitted:
    _model(seed)  # raises before the first event if it is not installed
    return Refitted(lambda _: _model(seed))


LIGHTGBM = (
    Contender(
        "batch-lightgbm",
        "LightGBM, L1, refitted",
        "batch",
        scaled(_refitted),
        '`objective="l1"`, refitted at the same events',
        ("lightgbm", "numpy", "river"),
    ),
)
