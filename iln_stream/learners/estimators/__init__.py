"""Ways to hold f_t and to estimate it at a point."""

from iln_stream.learners.estimators.abilities import (
    Averages,
    EstimatesWithin,
    Layered,
    Reweighs,
)
from iln_stream.learners.estimators.averaged import Averaged
from iln_stream.learners.estimators.base import (
    Draws,
    Estimate,
    Estimator,
    Given,
    Iterate,
    Policy,
)
from iln_stream.learners.estimators.hidden_layer import HiddenLayer
from iln_stream.learners.estimators.pool import Pool
from iln_stream.learners.estimators.sampled import Sampled

ESTIMATORS: dict[str, type[Estimator]] = {
    "sampled": Sampled,
    "pool": Pool,
    "averaged": Averaged,
}
"""The estimators that a name stands for, with their parameters as they are if not told."""


def estimator_of(chosen: Estimator | str) -> Estimator:
    """Return the estimator that was chosen by name or as it is.

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
    "Averages",
    "Draws",
    "Estimate",
    "EstimatesWithin",
    "Estimator",
    "Given",
    "HiddenLayer",
    "Iterate",
    "Layered",
    "Policy",
    "Pool",
    "Reweighs",
    "Sampled",
    "estimator_of",
]
