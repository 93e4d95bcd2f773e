"""Champion and challengers: several learners, compared on the same events, as one learner."""

from iln_stream.contest.bounded_loss import BoundedError, brier_loss
from iln_stream.contest.classifier import ContestClassifier
from iln_stream.contest.contest import Contest, contest_in
from iln_stream.contest.evidence import Evidence, error_of_comparison
from iln_stream.contest.regressor import ContestRegressor
from iln_stream.contest.standing import Standing

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
