"""The prequential loop: predict, score and only then learn, one event at a time."""

from iln_stream.errors import takes_weights
from iln_stream.loop.baselines import Baselines
from iln_stream.loop.forecasts import Forecasts, Horizon
from iln_stream.loop.late_labels import LateLabels, LatePolicy
from iln_stream.loop.loop import LearnerError, NothingLearnedError, PrequentialLoop
from iln_stream.loop.recent_ids import RecentIds
from iln_stream.loop.scores import ClassificationScores, Coverage, RegressionScores, Scores
from iln_stream.loop.step import (
    MOST_IN_A_ROW,
    Checkpointing,
    Details,
    EventWeights,
    LabelLog,
    LearnsLate,
    Listener,
    Prediction,
    Promotable,
    Step,
)
from iln_stream.loop.steps import Steps
from iln_stream.loop.task import Classification, Regression, Task

__all__ = [
    "MOST_IN_A_ROW",
    "Baselines",
    "Checkpointing",
    "Classification",
    "ClassificationScores",
    "Coverage",
    "Details",
    "EventWeights",
    "Forecasts",
    "Horizon",
    "LabelLog",
    "LateLabels",
    "LatePolicy",
    "LearnerError",
    "LearnsLate",
    "Listener",
    "NothingLearnedError",
    "Prediction",
    "PrequentialLoop",
    "Promotable",
    "RecentIds",
    "Regression",
    "RegressionScores",
    "Scores",
    "Step",
    "Steps",
    "Task",
    "takes_weights",
]
