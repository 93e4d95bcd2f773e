"""Listeners of the loop.

- `model_metrics.py`: the metrics of one learner: counts, time, lag;
- `metrics.py`: exports the metrics of all learners to Prometheus;
- `writers.py`: write predictions and dead letters to sinks;
- `progress.py`: a progress bar in a terminal; `logged_progress.py`: progress in the log;
  `history_progress.py`: progress of files of history, for /ready and /metrics;
  `warm_up_progress.py`: progress of new challengers, for /ready;
- `event_order.py`: whether events come in the order of their times;
- `connection_log.py`: logs when a source loses its broker and when it reconnects.
"""

from iln_stream.listeners.champion_log import ChampionLog
from iln_stream.listeners.connection_log import ConnectionLog
from iln_stream.listeners.event_order import EventOrder
from iln_stream.listeners.history_progress import HistoryProgress
from iln_stream.listeners.label_metrics import label_metrics
from iln_stream.listeners.logged_progress import LoggedProgress
from iln_stream.listeners.metrics import Metrics
from iln_stream.listeners.model_metrics import ModelMetrics, partition_label
from iln_stream.listeners.progress import Progress
from iln_stream.listeners.warm_up_progress import WarmUpProgress
from iln_stream.listeners.writers import (
    DeadLetterWriter,
    PredictionWriter,
    TransactionalPredictionWriter,
)

__all__ = [
    "ChampionLog",
    "ConnectionLog",
    "DeadLetterWriter",
    "EventOrder",
    "HistoryProgress",
    "LoggedProgress",
    "Metrics",
    "ModelMetrics",
    "PredictionWriter",
    "Progress",
    "TransactionalPredictionWriter",
    "WarmUpProgress",
    "label_metrics",
    "partition_label",
]
