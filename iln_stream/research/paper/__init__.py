"""The two algorithms as the paper writes them: the reference against which others are tested."""

from iln_stream.research.paper.algorithms import Iterate, est_scalar_prod, shrinking_gradient_step
from iln_stream.research.paper.reference import ReferenceShrinkingGradient

__all__ = ["Iterate", "ReferenceShrinkingGradient", "est_scalar_prod", "shrinking_gradient_step"]
