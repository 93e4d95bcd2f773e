"""What observes the loop: metrics, predictions, dead letters, progress."""

from iln_stream.listeners.metrics import Metrics, Watched
from iln_stream.listeners.outbox import DeadLetterWriter, PredictionWriter
from iln_stream.listeners.progress import Progress

__all__ = ["DeadLetterWriter", "Metrics", "PredictionWriter", "Progress", "Watched"]
