"""Listeners of the loop.

- `model_metrics.py`: the metrics of one learner: counts, time, lag;
- `metrics.py`: exports the metrics of all learners to Prometheus;
- `writers.py`: write predictions and dead letters to sinks;
- `progress.py`: a progress bar in a terminal;
- `connection_log.py`: logs when a source loses its broker and when it reconnects.
"""

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
