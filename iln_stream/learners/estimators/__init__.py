"""Ways to hold f_t and to estimate it at a point."""

from iln_stream.learners.estimators.base import Estimate, Estimator, Iterate
from iln_stream.learners.estimators.pool import Pool
from iln_stream.learners.estimators.sampled import Draws, SampledIterate

__all__ = ["Draws", "Estimate", "Estimator", "Iterate", "Pool", "SampledIterate"]
