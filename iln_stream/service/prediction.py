"""Predicts a stream with a learner that does not learn; promotes a contender."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from rich.console import Console

from iln_stream.errors import SinkError
from iln_stream.learners.keyed import KeysInMemory
from iln_stream.learners.keyed.aggregates import MOST_KEYS, Aggregates
from iln_stream.loop import Listener
from iln_stream.loop.logs import ConnectionLog
from iln_stream.loop.metrics import ModelMetrics
from iln_stream.loop.progress import Progress
from iln_stream.records import PredictionEncoder, promotion
from iln_stream.service.assembly import Assembly
from iln_stream.service.decoding import mapping_of, saved_fields
from iln_stream.service.http import stop_on_signals
from iln_stream.service.learners import (
    PredictOnly,
    build_details,
    contender_names,
    contenders_of,
    quantile_levels,
)
from iln_stream.service.settings import LoopSettings
from iln_stream.service.streams import Outputs, check_addresses, readers, source_stream
from iln_stream.service.warming import Warming
from iln_stream.service.worker import model_name, open_source, version_of_state
from iln_stream.settings import SettingsError
from iln_stream.snapshots import Snapshot, read_keys
from iln_stream.streams import Appended, NewRecord


def predict(
    settings: LoopSettings,
    learner: Any,
    console: Console | None = None,
    snapshot: Snapshot | None = None,
    folder: Path | None = None,
) -> ModelMetrics:
    """Predict the events of a stream up to its end, with or without labels.

    Predictions and dead letters go to the outputs in the settings. A log is read from `start`, by
    default its beginning, to the offset that was its end at startup.

    Parameters
    ----------
    settings
        Settings of the source and the outputs; those of the learner are ignored.
    learner
        Predicts; it does not change.
    console
        Draws progress if it is a terminal; None: no progress.
    snapshot
        The learner's: its settings of fields are used if `settings` has none, and the events are
        predicted as the next ones of their keys. None: there were none before them.
    folder
        Where the snapshot is, and its keys.

    Returns
    -------
    ModelMetrics
        Counts of events and dead letters, and scores of the labelled events.

    """
    saved = {} if snapshot is None else snapshot.header.configuration
    settings = LoopSettings.of(
        settings,
        start=settings.start or "earliest",
        stop_at_end=True,
        learner_per="topic",
        transactional=False,
        labels=None,
        learner=type(learner).__name__,  # part of the model's name
        by_key=saved.get("by_key"),
        horizon=tuple(saved.get("horizon", ())),
    )
    stream = source_stream(settings)
    settings = LoopSettings.of(settings, **saved_fields(saved, settings, stream))
    check_addresses(settings)
    stream.check()
    mapping_of(settings, stream, labelled=False)
    stream.wait()
    # A wrong address is an error before outputs create anything.
    n_partitions = len(stream.partitions()) if stream.is_log else 1
    (reader,) = readers(settings, stream)
    levels, n_largest = settings.prediction_intervals, settings.prediction_contributions
    with ExitStack() as opened:
        outputs = Outputs(settings, n_partitions)
        opened.callback(outputs.close)
        source = open_source(settings, stream, reader)
        opened.callback(source.close)
        frozen = PredictOnly(learner)
        model = model_name(settings, source.stream, reader.horizon)
        assembly = Assembly(settings, stream, source, frozen, model, horizon=reader.ahead)
        if assembly.aggregates is not None and snapshot is not None and folder is not None:
            _continue_keys(assembly.aggregates, snapshot, folder)
        if assembly.mapped is not None and snapshot is not None:
            assembly.mapped.keep_levels(snapshot.state.get("decoder") or {})
        version = version_of_state(learner)
        encode = PredictionEncoder(
            source.stream, model, version, levels, reader.ahead,
            dict.fromkeys(contender_names(learner), version), quantile_levels(learner),
        )  # fmt: skip
        listeners: list[Listener] = [
            ConnectionLog(source, stream.peer),
            *outputs.writers(source, reader, encode),
            assembly.watched,
        ]
        listeners.append(Progress(assembly.watched, console, stream.n_records(source)))
        for each in reversed(listeners):
            opened.callback(each.close)
        details = build_details(
            frozen, levels, n_largest, challengers=settings.prediction_challengers
        )
        loop = assembly.loop(listeners, None, details)
        warming = Warming.of(learner, console)

        def stop() -> None:
            warming.stop()
            loop.stop()

        with stop_on_signals(stop):
            warming.run()
            loop.run()
        assembly.warn_of_unseen()
    return assembly.watched


def _continue_keys(aggregates: Aggregates, snapshot: Snapshot, folder: Path) -> None:
    """Let aggregates continue those of a snapshot, whose files do not change."""
    decoder = snapshot.state.get("decoder") or {}
    if "aggregates" not in decoder:
        return
    aggregates.restore(decoder["aggregates"])
    files = aggregates.by_file
    read_keys(files, folder)
    for each in files.values():
        if not isinstance(each.keys, KeysInMemory):
            each.keep_keys_in(KeysInMemory(each.size, MOST_KEYS, below=each.keys))


_BROKER_SECONDS = 5.0
"""How long somebody who waits for the command waits for a broker, unless the settings say so."""


def promote(settings: LoopSettings, contender: str) -> Sequence[Appended]:
    """Append the command to the log that the settings name; return its places, durable.

    Each learner gets it once: in the first partition that it reads. It is carried out when the
    learner reaches it, after the events before it. The contender is a challenger, or a former
    champion.

    Raises
    ------
    SettingsError
        When the source is no log, or the settings name challengers, but not this contender.
    SinkError
        When the log can't be written to.

    """
    stream = source_stream(settings)
    if not stream.is_log:
        raise SettingsError(
            f"source = {stream.address!r}: a promotion is a record in the order of the events, and "
            f"only a log takes it: copy the events into one with `iln-stream log import "
            f"{stream.address} sqlite:PATH`, or let the run promote by itself (promotion = "
            "evidence)"
        )
    known = contenders_of(settings)
    if settings.challengers and contender not in known:
        raise SettingsError(
            f"promote: {contender!r} is no contender; choose one of {', '.join(known)}"
        )
    stream.check()
    if not stream.wait(_BROKER_SECONDS):
        raise SinkError(
            f"source = {stream.address!r}: no Kafka broker answers at {settings.bootstrap}: start "
            "it, or name the log of the run with --source (or its settings with --config)"
        )
    partitions = sorted({reader.partitions[0] for reader in readers(settings, stream)})
    with closing(stream.appender()) as log:
        return log.append([NewRecord(promotion(contender), partition=p) for p in partitions])
