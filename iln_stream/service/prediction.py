"""Predicts a stream with a learner that does not learn."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from prometheus_client.registry import CollectorRegistry
from rich.console import Console

from iln_stream.listeners import ConnectionLog, Metrics, ModelMetrics, Progress
from iln_stream.prequential import Listener, PendingEvents, PrequentialLoop, RecentIds
from iln_stream.service.addresses import check_addresses, source_stream
from iln_stream.service.learners import task_of
from iln_stream.service.outputs import Outputs
from iln_stream.service.readers import readers
from iln_stream.service.settings import Settings
from iln_stream.service.signals import stop_on_signals
from iln_stream.streams import Log, Scheme, Sequencer, Source


class _PredictOnly:
    """Wraps a learner for the loop, and ignores `learn_one`."""

    def __init__(self, learner: Any) -> None:
        self._learner = learner

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        return self._learner.predict_one(x)

    def predict_proba_one(self, x: Mapping[Any, float]) -> Any:
        return self._learner.predict_proba_one(x)

    def learn_one(self, x: Mapping[Any, float], y: Any) -> None:
        """Learn nothing."""


def predict(settings: Settings, learner: Any, console: Console | None = None) -> ModelMetrics:
    """Predict the events of a stream up to its end, with or without labels.

    Predictions and dead letters go to the outputs in the settings. A log is read from `start`, by
    default its beginning, to the offset that was its end at startup.

    Parameters
    ----------
    settings
        Settings of the source and the outputs; those of learner and snapshots are ignored.
    learner
        Predicts; it does not change.
    console
        Draws progress if it is a terminal; None: no progress.

    Returns
    -------
    ModelMetrics
        Counts of events and dead letters, and scores of the labelled events.

    """
    one_reader = {"stop_at_end": True, "transactional": False, "learner_per": "topic"}
    settings = settings.model_copy(update=one_reader)
    stream = source_stream(settings)
    check_addresses(settings)
    stream.check()
    stream.wait()
    with ExitStack() as opened:
        source = _open_source(settings, stream, opened)
        outputs = Outputs(settings)
        opened.callback(outputs.close)
        task = task_of(learner)
        frozen = _PredictOnly(learner)
        metrics = Metrics(CollectorRegistry(), settings.window)
        watched = metrics.watch(frozen, source, "loaded", task)
        # The connection log comes first: a writer may wait for the same broker.
        connection = ConnectionLog(source, stream.peer)
        listeners: list[Listener] = [connection, *outputs.writers(source, "predict"), watched]
        if console is not None and console.is_terminal:
            progress = Progress(settings.source, source.lag, console, task)
            opened.callback(progress.close)
            listeners.append(progress)
        ids = RecentIds(settings.recent_ids) if settings.recent_ids else None
        pending = (
            PendingEvents(frozen, settings.pending_events) if settings.pending_events else None
        )
        loop = PrequentialLoop(
            source, frozen, listeners, recent_ids=ids, task=task, pending=pending
        )
        with stop_on_signals(loop.stop):
            loop.run()
    return watched


def _open_source(settings: Settings, stream: Scheme, opened: ExitStack) -> Source:
    """Open all partitions as one source."""
    if not stream.is_log:
        source = stream.source()
        opened.callback(source.close)
        return source
    (reader,) = readers(settings, stream)
    inputs: list[Log] = []
    for partition in reader.partitions:
        inputs.append(stream.log(partition, settings.start or "earliest"))
        opened.callback(inputs[-1].close)
    return inputs[0] if len(inputs) == 1 else Sequencer(inputs)
