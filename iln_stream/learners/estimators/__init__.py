"""Ways to store f_t and to estimate it at a point."""

from iln_stream.learners.estimators.averaged import Averaged, AveragedIterate
from iln_stream.learners.estimators.base import (
    DrawPolicy,
    Estimate,
    EstimatesWithin,
    Estimator,
    EstimatorContext,
    HasFiniteLayer,
    Iterate,
    Policy,
)
from iln_stream.learners.estimators.block import Block
from iln_stream.learners.estimators.exact import Exact
from iln_stream.learners.estimators.finite_layer import FiniteLayer
from iln_stream.learners.estimators.full import Full
from iln_stream.learners.estimators.growing_pool import GrowingPool
from iln_stream.learners.estimators.pool import Pool
from iln_stream.learners.estimators.sampled import Sampled

ESTIMATORS: dict[str, type[Estimator]] = {
    "sampled": Sampled,
    "averaged": Averaged,
    "block": Block,
    "full": Full,
    "exact": Exact,
    "pool": Pool,
    "growing-pool": GrowingPool,
}
"""Estimators by name, each with its default parameters."""


def estimator_of(chosen: Estimator | str) -> Estimator:
    """Return the estimator that was chosen by name or as an object.

    Raises
    ------
    ValueError
        When no estimator has that name.

    """
    if not isinstance(chosen, str):
        return chosen
    if chosen not in ESTIMATORS:
        raise ValueError(f"estimator = {chosen!r} must be one of {', '.join(ESTIMATORS)}")
    return ESTIMATORS[chosen]()


__all__ = [
    "ESTIMATORS",
    "Averaged",
    "AveragedIterate",
    "Block",
    "DrawPolicy",
    "Estimate",
    "EstimatesWithin",
    "Estimator",
    "EstimatorContext",
    "Exact",
    "FiniteLayer",
    "Full",
    "GrowingPool",
    "HasFiniteLayer",
    "Iterate",
    "Policy",
    "Pool",
    "Sampled",
    "estimator_of",
]
