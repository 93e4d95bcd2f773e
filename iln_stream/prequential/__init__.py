"""The prequential loop: predict, score and only then learn, one event at a time."""

from iln_stream.prequential.baselines import Baselines
from iln_stream.prequential.checkpointing import Checkpointing
from iln_stream.prequential.coverage import Coverage
from iln_stream.prequential.label_log import LabelLog
from iln_stream.prequential.late import Forecasts, Horizon, LateLabels, LatePolicy, LearnsLate
from iln_stream.prequential.listener import Listener
from iln_stream.prequential.loop import LearnerError, NothingLearnedError, PrequentialLoop
from iln_stream.prequential.promotable import Promotable
from iln_stream.prequential.recent_ids import RecentIds
from iln_stream.prequential.scores import ClassificationScores, RegressionScores, Scores
from iln_stream.prequential.step import Details, Prediction, Step
from iln_stream.prequential.task import Classification, Regression, Task
from iln_stream.prequential.weights import Weights
from iln_stream.signatures import takes_weights

__all__ = [
    "Baselines",
    "Checkpointing",
    "Classification",
    "ClassificationScores",
    "Coverage",
    "Details",
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
    "Task",
    "Weights",
    "takes_weights",
]
