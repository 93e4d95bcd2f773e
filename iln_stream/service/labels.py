"""The second log, of labels: its settings, stream and decoder."""

from collections.abc import Callable
from typing import Any

from iln_stream.mapping import FieldMapping, LabelDecoder, Notation, RecordTime
from iln_stream.prequential import LabelLog, Task
from iln_stream.service.addresses import dead_letters_address, output_stream, stream_options
from iln_stream.service.decoding import NOTATION, check_format, mapping_of, parser_of
from iln_stream.service.other_settings import with_others
from iln_stream.service.settings import Settings, SettingsError
from iln_stream.streams import Record, Scheme, stream_at

_FIELDS = ("target", "id_field", "time_field", "weight_field", "types", "null_values")
_REGISTRY = ("registry", "registry_options", "registry_secrets")
_FORMAT = ("format", *_REGISTRY, "decoder")
_CONNECTION = ("bootstrap", "kafka_options", "kafka_secrets", "kafka_client")

OF_LABELS = (*_FIELDS, *NOTATION, *_FORMAT, *_CONNECTION)
"""The settings that may be different for labels."""

_MAY_BE_ABSENT = ("time_field", "weight_field", "decoder")

_USUAL = {"target": "y", "id_field": "id", "time_field": "timestamp", "weight_field": "weight"}
"""Fields of a label if no setting names one of them."""


def settings_of_labels(settings: Settings) -> Settings:
    """Return the settings that read the labels: those of the source, as far as they differ.

    Raises
    ------
    SettingsError
        When `labels_settings` has an invalid or unknown setting.

    """
    given = settings.labels_settings
    usual: dict[str, Any] = {"weight_field": None}  # the event's weight is the label's, too
    if _are_as_usual(settings):
        usual = dict(_USUAL)
    else:
        usual |= {"target": settings.target or "y", "id_field": settings.id_field or "id"}
    if given.get("decoder"):
        usual["format"] = "json"
    elif "format" in given:
        usual["decoder"] = None
    if given.get("format", settings.format) == "json" or given.get("decoder"):
        usual |= {name: {} for name in _REGISTRY} | {"registry": None}
    settings = settings.model_copy(update=usual)
    return with_others(settings, "labels_settings", OF_LABELS, _MAY_BE_ABSENT)


def _are_as_usual(settings: Settings) -> bool:
    """Whether no setting names a field of a label."""
    of_source = (settings.target, settings.id_field, settings.time_field)
    return not any(of_source) and settings.labels_settings.keys().isdisjoint(_USUAL)


def label_stream(settings: Settings) -> Scheme | None:
    """Return the stream of labels, not yet opened; None: labels are in the source."""
    if settings.labels is None:
        return None
    return stream_at(settings.labels, stream_options(settings_of_labels(settings)))


def build_label_log(settings: Settings, task: Task) -> LabelLog[LabelDecoder] | None:
    """Return the name and the decoder of the log of labels; None: there is none."""
    stream = label_stream(settings)
    if stream is None:
        return None
    own = settings_of_labels(settings)
    decoder = LabelDecoder(
        _mapping(own),
        parser_of(own, stream),
        "class" if task.name == "classification" else "number",
        optional=("timestamp", "weight") if _are_as_usual(settings) else (),
    )
    return LabelLog(stream.name, decoder)


def time_of_records(settings: Settings, source: Scheme) -> Callable[[Record], float | None] | None:
    """Return the function that reads the times of events and labels; None: there are no labels."""
    labels = label_stream(settings)
    if labels is None:
        return None
    mapping = mapping_of(settings, source) or FieldMapping(time_field="timestamp")
    of_event = _record_time(mapping, settings, source)
    own = settings_of_labels(settings)
    of_label = _record_time(_mapping(own), own, labels)

    def time_of(record: Record) -> float | None:
        time = of_event if record.partition >= 0 else of_label
        return record.timestamp if time is None else time(record.payload, record.timestamp)

    return time_of


def described_labels(settings: Settings) -> dict[str, Any] | None:
    """Return stream and fields of the labels as a snapshot's configuration has them."""
    stream = label_stream(settings)
    if stream is None:
        return None
    own, usual = settings_of_labels(settings), Settings.model_fields
    names = (*_FIELDS, *NOTATION, "format", "decoder")
    values = {name: getattr(own, name) for name in names}
    unusual = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value != usual[name].get_default(call_default_factory=True)
    }
    return {"stream": stream.name, **unusual}


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
    _mapping(own)
    check_format(own, stream)
    outputs = {"predictions": settings.predictions, "dead_letters": dead_letters_address(settings)}
    for name, address in outputs.items():
        if address not in (None, "-") and output_stream(settings, address).place == stream.place:
            raise SettingsError(f"{name} = {address!r} is also labels: choose another address")


def _mapping(own: Settings) -> FieldMapping:
    try:
        return FieldMapping(
            **{name: getattr(own, name) for name in _FIELDS},
            notation=Notation(own.decimal, own.date_order),
        )
    except ValueError as error:
        raise SettingsError(f"labels_settings: {error}") from error


def _record_time(mapping: FieldMapping, settings: Settings, stream: Scheme) -> RecordTime | None:
    if mapping.time_field is None:
        return None
    parse = parser_of(settings, stream)
    return RecordTime(mapping.time_field, parse, tuple(mapping.null_values), mapping.notation)
