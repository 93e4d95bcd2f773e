"""What observes the loop: metrics, predictions, dead letters, progress, the connection."""

from iln_stream.listeners.connection_log import ConnectionLog
from iln_stream.listeners.metrics import Metrics
from iln_stream.listeners.model_metrics import ModelMetrics
from iln_stream.listeners.progress import Progress
from iln_stream.listeners.writers import (
    DeadLetterWriter,
    PredictionWriter,
    TransactionalPredictionWriter,
)

__all__ = [
    "ConnectionLog",
    "DeadLetterWriter",
    "Metrics",
    "ModelMetrics",
    "PredictionWriter",
    "Progress",
    "TransactionalPredictionWriter",
]
