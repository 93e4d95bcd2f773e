"""Predicts a stream with a learner that does not learn."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from prometheus_client.registry import CollectorRegistry
from rich.console import Console

from iln_stream.listeners import Metrics, ModelMetrics
from iln_stream.service.addresses import check_addresses, source_stream
from iln_stream.service.decoding import mapping_of, with_fields_of
from iln_stream.service.learners import PredictOnly
from iln_stream.service.model_version import version_of_state
from iln_stream.service.outputs import Outputs
from iln_stream.service.readers import readers
from iln_stream.service.settings import Settings
from iln_stream.service.signals import stop_on_signals
from iln_stream.service.warming import Warming
from iln_stream.service.worker import Worker


def predict(
    settings: Settings,
    learner: Any,
    console: Console | None = None,
    configuration: Mapping[str, Any] | None = None,
) -> ModelMetrics:
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
    configuration
        Of the learner's snapshot: its settings of fields are used if `settings` has none.

    Returns
    -------
    ModelMetrics
        Counts of events and dead letters, and scores of the labelled events.

    """
    changes = {
        "start": settings.start or "earliest",
        "stop_at_end": True,
        "learner_per": "topic",
        "transactional": False,
        "snapshots": None,
        "labels": None,
        "learner": type(learner).__name__,  # part of the model's name
        "by_key": (configuration or {}).get("by_key"),
        "horizon": tuple((configuration or {}).get("horizon", ())),
    }
    settings = settings.model_copy(update=changes)
    stream = source_stream(settings)
    settings = with_fields_of(configuration or {}, settings, stream)
    check_addresses(settings)
    stream.check()
    mapping_of(settings, stream, labelled=False)
    stream.wait()
    # A wrong address is an error before outputs create anything.
    n_partitions = len(stream.partitions()) if stream.is_log else 1
    (reader,) = readers(settings, stream)
    with ExitStack() as opened:
        outputs = Outputs(settings, n_partitions)
        opened.callback(outputs.close)
        metrics = Metrics(CollectorRegistry(), settings.window)
        worker = Worker(
            settings, stream, reader, metrics, outputs,
            console=console, learner=PredictOnly(learner), version=version_of_state(learner),
        )  # fmt: skip
        opened.callback(worker.close)
        warming = Warming.of(learner)

        def stop() -> None:
            warming.stop()
            worker.loop.stop()

        with stop_on_signals(stop):
            warming.run()
            worker.run()
    return worker.watched
