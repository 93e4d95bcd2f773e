"""Champion and challengers: several learners, compared on the same events, as one learner."""

from iln_stream.learners.contest.classifier import ContestClassifier
from iln_stream.learners.contest.contender import Standing
from iln_stream.learners.contest.contest import Contest, contest_in
from iln_stream.learners.contest.evidence import (
    BoundedError,
    Evidence,
    brier_loss,
    error_of_comparison,
)
from iln_stream.learners.contest.regressor import ContestRegressor

__all__ = [
    "BoundedError",
    "Contest",
    "ContestClassifier",
    "ContestRegressor",
    "Evidence",
    "Standing",
    "brier_loss",
    "contest_in",
    "error_of_comparison",
]
