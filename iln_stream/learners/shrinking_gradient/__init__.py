"""Algorithm 1: `learner.py` is its step, and the other modules are what a run also needs."""

from iln_stream.learners.shrinking_gradient.learner import ShrinkingGradient
from iln_stream.learners.shrinking_gradient.update import Update

__all__ = ["ShrinkingGradient", "Update"]
