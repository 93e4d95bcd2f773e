"""What observes the loop: metrics, predictions, dead letters, progress, the connection."""

from iln_stream.listeners.connection_log import ConnectionLog
from iln_stream.listeners.metrics import Metrics
from iln_stream.listeners.outbox import (
    DeadLetterWriter,
    PredictionWriter,
    TransactionalPredictionWriter,
)
from iln_stream.listeners.progress import Progress
from iln_stream.listeners.snapshot_metrics import SnapshotMetrics
from iln_stream.listeners.snapshotter import Snapshotter
from iln_stream.listeners.watched import Watched

__all__ = [
    "ConnectionLog",
    "DeadLetterWriter",
    "Metrics",
    "PredictionWriter",
    "Progress",
    "SnapshotMetrics",
    "Snapshotter",
    "TransactionalPredictionWriter",
    "Watched",
]
