"""Predicting a stream with a learner that is there already, and that learns nothing."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from prometheus_client.registry import CollectorRegistry
from rich.console import Console

from iln_stream.listeners import Metrics, ModelMetrics, Progress
from iln_stream.prequential import Listener, PendingEvents, PrequentialLoop, RecentIds
from iln_stream.service.outputs import Outputs
from iln_stream.service.readers import readers
from iln_stream.service.settings import Settings
from iln_stream.service.signals import signals_heeded
from iln_stream.service.wiring import check_addresses, source_stream, task_of
from iln_stream.streams import Log, Scheme, Sequencer, Source


class _Unchanging:
    """A learner as the loop wants it, of which nothing changes."""

    def __init__(self, learner: Any) -> None:
        self._learner = learner

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        return self._learner.predict_one(x)

    def predict_proba_one(self, x: Mapping[Any, float]) -> Any:
        return self._learner.predict_proba_one(x)

    def learn_one(self, x: Mapping[Any, float], y: Any) -> None:
        """Learn nothing."""


def predict(settings: Settings, learner: Any, console: Console | None = None) -> ModelMetrics:
    """Predict the events of a stream up to its end, labelled or not, as a run would.

    Predictions and dead letters go where the settings say. A log is read up to what was its end,
    from its beginning unless `start` says otherwise.

    Parameters
    ----------
    settings
        Of the source and the outputs; those of learner and snapshots are not looked at.
    learner
        What predicts; it learns nothing.
    console
        Where progress is drawn, if it is a terminal; None: nowhere.

    Returns
    -------
    ModelMetrics
        Has counted events and dead letters, and scored the predictions of labelled events.

    """
    one_reader = {"stop_at_end": True, "transactional": False, "learner_per": "topic"}
    settings = settings.model_copy(update=one_reader)
    stream = source_stream(settings)
    check_addresses(settings)
    stream.check()
    stream.wait()
    with ExitStack() as opened:
        source = _opened(settings, stream, opened)
        outputs = Outputs(settings)
        opened.callback(outputs.close)
        task = task_of(learner)
        unchanging = _Unchanging(learner)
        metrics = Metrics(CollectorRegistry(), settings.window)
        watched = metrics.watch(unchanging, source, "loaded", task)
        listeners: list[Listener] = [*outputs.writers(source, "predict"), watched]
        if console is not None and console.is_terminal:
            progress = Progress(settings.source, source.lag, console, task)
            opened.callback(progress.close)
            listeners.append(progress)
        ids = RecentIds(settings.recent_ids) if settings.recent_ids else None
        pending = (
            PendingEvents(unchanging, settings.pending_events) if settings.pending_events else None
        )
        loop = PrequentialLoop(
            source, unchanging, listeners, recent_ids=ids, task=task, pending=pending
        )
        with signals_heeded(loop.stop):
            loop.run()
    return watched


def _opened(settings: Settings, stream: Scheme, opened: ExitStack) -> Source:
    """Open all that is read, as one source."""
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
