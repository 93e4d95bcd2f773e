"""Checks settings that are valid by themselves but may not fit together."""

import warnings

from iln_stream.errors import IlnWarning
from iln_stream.service.decoding import build_weights, mapping_of
from iln_stream.service.history import settings_of_files
from iln_stream.service.http import check_page
from iln_stream.service.learners import build_details, build_learner, check_keys
from iln_stream.service.settings import LATE_SETTINGS, Settings
from iln_stream.service.streams import (
    check_addresses,
    check_labels,
    dead_letters_address,
    output_stream,
    source_stream,
)
from iln_stream.settings import SettingsError
from iln_stream.streams import Scheme

_ONLY_FOR_LOGS = ("topic", "start", "stop_at_end", "partitions", "learner_per")


def check_settings(settings: Settings) -> None:
    """Check that the settings fit together, before a run opens anything.

    Raises
    ------
    IlnError
        Names the setting.

    """
    source = source_stream(settings)
    names_its_topic = source.is_log and settings.source == settings.source_address
    if names_its_topic and "topic" in settings.model_fields_set:
        raise SettingsError(
            f"topic = {settings.topic!r}: source = {settings.source!r} names the topic; unset one"
        )
    check_addresses(settings)
    check_page(settings)
    source.check()
    mapping = mapping_of(settings, source)
    if mapping is not None and settings.pending_events is not None and settings.id_field is None:
        raise SettingsError(
            "pending_events: set id_field, the field by which events and their labels are joined"
        )
    _warn_of_ignored(settings, source)
    _check_horizon(settings)
    check_labels(settings, source)
    check_keys(settings)
    learner = build_learner(settings)
    build_details(learner, settings.prediction_intervals, settings.prediction_contributions)
    build_weights(settings, learner)
    if settings.transactional:
        out = settings.predictions and output_stream(settings, settings.predictions)
        if not (source.is_log and out and out.has_transactions):
            raise SettingsError(
                "transactional: needs a log as source, and predictions = kafka:TOPIC or "
                "sqlite:PATH#TOPIC"
            )
    if settings.snapshots is not None and not source.is_log:
        raise SettingsError(
            f"snapshots: a run can't resume reading {source.address}; unset snapshots, or read a "
            "log such as kafka:TOPIC or sqlite:PATH: copy a file into one with `iln-stream log "
            f"import {source.address} sqlite:PATH`, or learn it before a log with --warm-start"
        )
    if settings.warm_start:
        _check_warm_start(settings, source)
    if settings.workers > 1:
        _check_workers(settings, source)
    if source.needs_start and settings.snapshots is None and settings.start is None:
        raise SettingsError(
            f"start: choose where to begin in {source.address}: earliest, latest or a time"
        )


def _check_horizon(settings: Settings) -> None:
    if not settings.horizon:
        return
    for name in ("labels", "pending_events", *LATE_SETTINGS):
        if name in settings.model_fields_set and getattr(settings, name) is not None:
            raise SettingsError(
                f"{name}: with horizon the labels are later values of the stream, and none come in "
                "records of their own; unset one of them"
            )


def _check_workers(settings: Settings, source: Scheme) -> None:
    """Refuse several processes where only one can learn, resume or write."""
    if not source.is_log:
        raise SettingsError(
            f"workers: {source.address} has no partitions to share: unset workers, or read a log "
            "such as kafka:TOPIC or sqlite:PATH"
        )
    needed = []
    if settings.learner_per != "partition":
        needed.append(
            "set learner_per = partition, as one learner of all partitions learns in one order, "
            "which only one process can keep"
        )
    if settings.snapshots is None:
        needed.append("set snapshots, the folder from which a worker resumes when it is restarted")
    outputs = {"predictions": settings.predictions, "dead_letters": dead_letters_address(settings)}
    for name, address in outputs.items():
        if address is not None and not output_stream(settings, address).is_shared:
            needed.append(
                f"set {name}, now {address!r}, to kafka:TOPIC or sqlite:PATH#TOPIC, as several "
                "processes can't write to one file without mixing their lines"
            )
    if needed:
        raise SettingsError(f"workers: {'; '.join(needed)}; or unset workers")


def _check_warm_start(settings: Settings, source: Scheme) -> None:
    if not source.is_log:
        raise SettingsError(
            f"warm_start: after the history a run goes on with a log, and {source.address} is "
            "none: set source to kafka:TOPIC or sqlite:PATH"
        )
    if settings.snapshots is None:
        raise SettingsError(
            "warm_start: set snapshots, the folder that keeps what was learned from the history"
        )
    settings_of_files(settings)


def _warn_of_ignored(settings: Settings, source: Scheme) -> None:
    ignored = [name for name in _ONLY_FOR_LOGS if name in settings.model_fields_set]
    if ignored and not source.is_log:
        warnings.warn(
            f"{', '.join(ignored)}: ignored, as {source.address} is not a log such as kafka:TOPIC",
            IlnWarning,
            stacklevel=3,
        )
