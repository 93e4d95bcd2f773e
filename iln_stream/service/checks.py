"""Checks settings that are valid by themselves but may not fit together."""

import warnings

from iln_stream.errors import IlnWarning
from iln_stream.records.fields import RECORDS_KEY, FieldMapping
from iln_stream.service.decoding import ROLES, build_weights, check_format, mapping_of
from iln_stream.service.history import records_of_files
from iln_stream.service.http import check_page
from iln_stream.service.learners import build_details, build_learner
from iln_stream.service.settings import LATE_SETTINGS, Settings
from iln_stream.service.streams import (
    check_addresses,
    dead_letters_address,
    label_stream,
    mapping_of_labels,
    output_stream,
    settings_of_labels,
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
    build_details(
        learner, settings.prediction_intervals, settings.prediction_contributions,
        challengers=settings.prediction_challengers,
    )  # fmt: skip
    build_weights(settings, settings, learner)
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
        is_chosen = {"source", "topic"} & settings.model_fields_set
        other = (
            "" if is_chosen else "source: give a file or a log, such as --source orders.csv; or "
        )
        raise SettingsError(
            f"{other}start: choose where to begin in {source.address}: earliest, latest or a time"
        )


def check_labels(settings: Settings, source: Scheme) -> None:
    """Check that the settings of labels fit the others.

    Raises
    ------
    IlnError
        Names the setting.

    """
    stream = label_stream(settings)
    if stream is None:
        if settings.labels_settings:
            raise SettingsError("labels_settings: name the log of labels in labels")
        return
    if not stream.is_log:
        raise SettingsError(
            f"labels = {settings.labels!r} is not a log: copy it into one with `iln-stream log "
            f"import {settings.labels} sqlite:PATH#labels`, or leave labels unset if labels are in "
            "the source"
        )
    if not source.is_log:
        raise SettingsError(
            f"labels: only a log can be joined with another one, and {source.address} is none: set "
            "source to kafka:TOPIC or sqlite:PATH"
        )
    if stream.place == source.place:
        raise SettingsError(
            f"labels = {settings.labels!r} is the source: leave labels unset, as labels in the "
            "source are joined without it"
        )
    if stream.name == source.name:
        raise SettingsError(
            f"labels: {stream.address} and {source.address} have the same name, {stream.name}, so "
            "dead letters could not tell them apart: copy one to a topic with another name"
        )
    if settings.pending_events is None:
        raise SettingsError(
            "labels: set pending_events, the number of events that may wait for their label"
        )
    if settings.id_field is None and mapping_of(settings, source) is not None:
        raise SettingsError("labels: set id_field, the field by which events and labels are joined")
    if isinstance(settings.start, int):
        raise SettingsError(
            f"start = {settings.start}: an offset is one of a single log, and labels is a second "
            "one: give earliest, latest or a time"
        )
    if stream.needs_start and settings.snapshots is None and settings.start is None:
        raise SettingsError(
            f"start: choose where to begin in {stream.address}: earliest, latest or a time"
        )
    stream.check()
    own = settings_of_labels(settings)
    for name in ("target", "id_field"):
        if not getattr(own, name):
            raise SettingsError(f"labels_settings: {name} can't be empty: name the field")
    mapping_of_labels(own)
    check_format(own, stream)


def check_keys(settings: Settings) -> None:
    """Refuse settings that don't fit `by_key`.

    Raises
    ------
    SettingsError
        Names the setting.

    """
    if settings.forget_keys_after is not None and not settings.aggregates:
        raise SettingsError("forget_keys_after: set aggregates, too, whose keys are forgotten")
    if settings.by_key is None:
        if "keys_in_memory" in settings.model_fields_set and not settings.aggregates:
            raise SettingsError("keys_in_memory: set by_key or aggregates, too, which have keys")
        return
    for name in ROLES:
        if getattr(settings, name) == settings.by_key:
            raise SettingsError(
                f"by_key = {settings.by_key!r}: {name} names this field, so it is no input; name "
                "another field"
            )
    is_input = FieldMapping(features=settings.features, ignore=settings.ignore).is_feature
    if settings.by_key != RECORDS_KEY and not is_input(settings.by_key):
        raise SettingsError(
            f"by_key = {settings.by_key!r}: features or ignore leaves this field out, so no record "
            "would have a key; name it in features, and not in ignore"
        )
    if settings.challengers or settings.mixture:
        raise SettingsError(
            "by_key: challengers can't have a model for each key yet: unset challengers and mixture"
        )
    if settings.publish is not None and settings.snapshots is None:
        raise SettingsError(
            "publish: a published version does not hold the models of all keys, which are read in "
            "their file beside the snapshots: set snapshots, too"
        )
    if settings.snapshots is None and "keys_in_memory" in settings.model_fields_set:
        raise SettingsError(
            "keys_in_memory: without snapshots there is no file for other keys: set snapshots"
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
    records_of_files(settings)


def _warn_of_ignored(settings: Settings, source: Scheme) -> None:
    ignored = [name for name in _ONLY_FOR_LOGS if name in settings.model_fields_set]
    if ignored and not source.is_log:
        warnings.warn(
            f"{', '.join(ignored)}: ignored, as {source.address} is not a log such as kafka:TOPIC",
            IlnWarning,
            stacklevel=3,
        )
