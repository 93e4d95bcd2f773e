"""How the records of a run are decoded and weighed."""

import logging
import warnings
from collections.abc import Collection, Mapping, Sequence
from inspect import signature
from typing import Any

from iln_stream.errors import IlnWarning, did_you_mean
from iln_stream.learners.keyed.aggregates import Aggregates
from iln_stream.loop import EventWeights, LearnsLate, Task, takes_weights
from iln_stream.records.envelopes import Opened
from iln_stream.records.fields import JOIN, FieldMapping
from iln_stream.records.mapped import MappedDecoder, Parse
from iln_stream.records.parsing import OwnFormat, parse_json, parse_row, parse_table_row
from iln_stream.records.values import NULLS, NULLS_OF_0_2, Notation
from iln_stream.service.learners import DECODERS, learners_of, load_plugin, task_of
from iln_stream.service.settings import (
    FieldSettings,
    FormatSettings,
    LabelSettings,
    LoopSettings,
    RecordSettings,
    aggregate_of,
    default_of,
    seconds_of,
    unusual,
)
from iln_stream.settings import SettingsError
from iln_stream.streams import Scheme

log = logging.getLogger(__name__)

OF_AGGREGATES = ("aggregates", "forget_keys_after")
"""The settings of inputs by key."""

FIELDS = (*FieldSettings.model_fields, "series", "lags", "rolling_means", *OF_AGGREGATES)
"""The settings that say which fields records have."""

READING = ("format", "decoder", "where", "envelope")
"""The settings that say how a record is taken apart, and which are events."""

ROLES = ("target", "id_field", "time_field", "weight_field")

_MOST_LISTED = 20

NOTATION = ("decimal", "date_order")
"""The settings that say how texts write numbers and dates."""

REGISTRY = ("registry", "registry_options", "registry_secrets")
"""The settings of a schema registry."""

REGISTRY_SECRETS = ("basic.auth.user.info", "bearer.auth.token", "ssl.key.password")
"""Options of a registry's client whose value may be in a file."""


def mapping_of(
    settings: RecordSettings, stream: Scheme, *, labelled: bool = True
) -> FieldMapping | None:
    """Return the mapping of a stream's fields; None: its records are events.

    A table needs the column of the label only if its rows should be labelled.

    Raises
    ------
    SettingsError
        When the settings contradict each other or the stream.

    """
    given = [name for name in (*FIELDS, *NOTATION) if name in settings.model_fields_set]
    check_format(settings, stream)
    of_format = settings.format if settings.format != "json" else None
    own = settings.decoder or of_format or settings.envelope
    if own and not given:
        raise SettingsError(
            f"target: name the field of the label: records in {own} are read as they are. "
            "`iln-stream inspect-source` shows their fields"
        )
    if settings.horizon and settings.target is None:
        raise SettingsError("horizon: name the field whose later value is forecast: set target")
    made_of_earlier = (settings.horizon, settings.lags, settings.rolling_means)
    if settings.series and not any((*made_of_earlier, "since_last" in settings.time_features)):
        raise SettingsError(
            "series: nothing depends on a record's series: set horizon, lags or rolling_means, or "
            "unset it"
        )
    if stream.form == "examples":
        if given:
            raise SettingsError(f"{given[0]}: {stream.address} has its own inputs and label")
        return None
    if not given and stream.form == "json":
        return None
    if stream.form in ("rows", "table") and settings.target is None:
        raise SettingsError(
            f"target: say which column of {stream.address} is the label; it has "
            f"{', '.join(stream.columns() or ())}"
        )
    chosen = {name: getattr(settings, name) for name in FIELDS}
    if settings.by_key is not None and not settings.by_key.startswith("@"):
        # A key that looks like a number is a name all the same.
        chosen["types"] = {settings.by_key: "category"} | chosen["types"]
    # So is a name of a series.
    chosen["types"] = dict.fromkeys(settings.series, "category") | chosen["types"]
    mapping = mapping_from(chosen | {"target_is_input": bool(settings.horizon)}, settings)
    if (columns := stream.columns()) is not None:
        named = ROLES if labelled else ("id_field", "time_field")
        require_fields(
            {name: chosen[name] for name in named}, columns, f"{stream.address} has no column"
        )
    return mapping


def mapping_from(
    chosen: Mapping[str, Any], settings: FormatSettings, where: str = ""
) -> FieldMapping:
    """Return the mapping with these fields, in the notation of the settings."""
    roles = {name: value for name, value in chosen.items() if name not in OF_AGGREGATES}
    try:
        return FieldMapping(**roles, notation=Notation(settings.decimal, settings.date_order))
    except ValueError as error:
        raise SettingsError(f"{where}{error}") from error


def require_fields(chosen: Mapping[str, Any], names: Sequence[str], lacks: str) -> None:
    """Refuse roles of fields that are not among the names; a nested one is in one of them."""
    for setting in ROLES:
        for name in (chosen.get(setting) or "").split(JOIN):
            if name and name not in names and not name.startswith(tuple(f"{n}." for n in names)):
                more = ", ..." if len(names) > _MOST_LISTED else ""
                raise SettingsError(
                    f"{setting}: {lacks} {name!r}; there are {', '.join(names[:_MOST_LISTED])}"
                    f"{more}{did_you_mean(name, names)}"
                )


def build_decoder(
    settings: RecordSettings,
    stream: Scheme,
    task: Task,
    *,
    labelled: bool = True,
    aggregates: Aggregates | None = None,
) -> MappedDecoder | None:
    """Return the decoder of a stream's records; None: they are events.

    If they need not be labelled, as those to predict, no label is missed.
    """
    mapping = mapping_of(settings, stream, labelled=labelled)
    if mapping is None:
        return None
    return MappedDecoder(
        mapping,
        parser_of(settings, stream),
        "class" if task.name == "classification" else "number",
        typed=stream.form != "rows",
        labelled=labelled,
        aggregates=aggregates,
        learner_inputs=settings.learner_inputs,
    )


def build_aggregates(settings: LoopSettings) -> Aggregates | None:
    """Return what makes inputs of a key's earlier events; None: nothing.

    Raises
    ------
    SettingsError
        When labels of forecasts are asked for, which come without the id of their event, or more
        than can be kept of a key.

    """
    if not settings.aggregates:
        return None
    wanted = {name: aggregate_of(each) for name, each in settings.aggregates.items()}
    for name, each in wanted.items():
        if settings.horizon and each.how == "label_mean":
            raise SettingsError(
                f"aggregates: {name}: label_mean is not possible with horizon; the mean of the "
                "target's present values is: how = mean, of = the target"
            )
    try:
        age = None if (span := settings.forget_keys_after) is None else seconds_of(span)
        return Aggregates(wanted, settings.pending_events or 0, settings.keys_in_memory, age)
    except ValueError as error:
        raise SettingsError(f"aggregates: {error}") from error


def parser_of(settings: FormatSettings, stream: Scheme) -> Parse:
    """Return the function that makes fields of a stream's payloads; it connects to the registry.

    Raises
    ------
    SettingsError
        When the format does not fit the stream, or needs packages that are not installed.
    SourceError
        When the registry gives no answer.

    """
    check_format(settings, stream)
    parse = _parser(settings, stream)
    if settings.where is not None:
        nulls = settings.null_values if isinstance(settings, FieldSettings) else ()
        parse = _filtered(parse, settings.where, nulls if stream.form == "rows" else ())
    if settings.envelope is None or stream.form != "json":
        return parse
    return Opened(parse, settings.envelope)


def look_of(settings: FormatSettings) -> Parse | None:
    """Return what finds the events that are to be left out; None: none are."""
    return None if settings.where is None else _filtered(parse_json, settings.where)


def _filtered(parse: Parse, where: str, nulls: Collection[str] = ()) -> Parse:
    from iln_stream.records.where import Filtered, Where  # most runs need no simpleeval

    try:
        return Filtered(parse, Where(where, nulls))
    except ValueError as error:
        raise SettingsError(f"where: {error}") from None


def _parser(settings: FormatSettings, stream: Scheme) -> Parse:
    if stream.form == "rows":
        return parse_row
    if stream.form == "table":
        return parse_table_row
    if settings.decoder is not None:
        return OwnFormat(settings.decoder, _imported(settings.decoder))
    if settings.format == "json":
        return parse_json
    return _with_registry(settings)


def _imported(name: str) -> Any:
    """Return the user's function; a class is called to make one."""
    found = load_plugin("decoder", name, DECODERS)
    found = found() if isinstance(found, type) else found
    if not callable(found):
        raise SettingsError(
            f"decoder = {name!r} is no function of a record's bytes, but {type(found).__name__}"
        )
    return found


_REGISTRY_SECONDS = 30.0
"""Seconds for which a registry that does not answer is asked again."""


def _with_registry(settings: FormatSettings) -> Parse:
    from iln_stream.streams.kafka.connection import read_secrets, warn_of_readable

    try:
        from iln_stream.records.registry import RegistryParser
    except ImportError as error:
        raise SettingsError(
            f"format = {settings.format!r} needs packages ({error}): pip install "
            "'iln-stream[registry]'"
        ) from error
    assert settings.registry is not None
    assert settings.format != "json"
    secrets = read_secrets(
        settings.registry_secrets, "registry_secrets", REGISTRY_SECRETS, "registry_options"
    )
    warn_of_readable(settings.registry_secrets, "registry_secrets")
    options = {**settings.registry_options, **secrets, "url": settings.registry}
    return RegistryParser(settings.format, options, _REGISTRY_SECONDS)


def described(settings: RecordSettings) -> dict[str, Any] | None:
    """Return the mapping as a snapshot's configuration has it; None: records are events."""
    if not any(name in settings.model_fields_set for name in (*FIELDS, *NOTATION)):
        return unusual(settings, ("where", "learner_inputs")) or None
    chosen = {name: getattr(settings, name) for name in FIELDS}
    chosen |= unusual(settings, (*READING, "learner_inputs", *NOTATION))
    if chosen["null_values"] == NULLS:
        chosen["null_values"] = NULLS_OF_0_2  # a longer default is no other setting
    for name in ("weight_field", "crosses", "series", "lags", "rolling_means", *OF_AGGREGATES):
        if not chosen[name]:
            del chosen[name]  # snapshots of releases without it have no such entry
    if chosen["time_zone"] == default_of("time_zone"):
        del chosen["time_zone"]
    return {k: list(v) if isinstance(v, tuple) else v for k, v in chosen.items()}


def saved_fields(
    configuration: Mapping[str, Any], settings: RecordSettings, stream: Scheme
) -> dict[str, Any]:
    """Return the settings of fields in a snapshot's configuration; none if any are given.

    A format or a notation that the settings give is left out.

    Raises
    ------
    SettingsError
        When the mapping needs a decoder of the user's that the settings don't name: names in a
        snapshot run no code.

    """
    saved = configuration.get("fields")
    given = settings.model_fields_set
    if not saved or stream.form == "examples" or not given.isdisjoint((*FIELDS, *NOTATION)):
        return {}
    if saved.get("decoder") and settings.decoder is None:
        raise SettingsError(
            f"decoder: the snapshot's run read records with decoder = {saved['decoder']!r}; give "
            "this setting, too, as a snapshot must not choose code to run"
        )
    missing = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in saved.items()
        if name not in given
    }
    if missing.get("null_values") == NULLS_OF_0_2:
        missing["null_values"] = NULLS
    shown = ", ".join(f"{name} = {value!r}" for name, value in missing.items() if value)
    log.info(f"reading records with the snapshot's settings: {shown}")
    return missing


def is_one_series(settings: RecordSettings) -> bool:
    """Return whether the times of records, read one after the other, should grow."""
    return bool(settings.horizon and settings.time_field and not settings.series)


def check_format(settings: FormatSettings, stream: Scheme) -> None:
    """Refuse a format that does not fit the stream or the other settings."""
    look_of(settings)
    if settings.decoder is not None:
        if settings.format != "json":
            raise SettingsError("decoder: it reads records instead of format; unset one of them")
        if stream.form != "json":
            raise SettingsError(f"decoder: {stream.address} has no bytes to decode; unset it")
    if settings.format == "json":
        if unused := [name for name in REGISTRY if getattr(settings, name)]:
            raise SettingsError(f"{unused[0]}: set format, too, to avro or json-schema")
        return
    if not stream.is_log:
        raise SettingsError(
            f"format = {settings.format!r} is for records of a log, such as kafka:TOPIC; unset it "
            f"for {stream.address}"
        )
    if settings.registry is None:
        raise SettingsError(
            f"registry: give the registry's address, as format is {settings.format}"
        )


def build_weights(
    settings: LoopSettings, records: FieldSettings, learner: Any
) -> EventWeights | None:
    """Return what weighs events; None if the learner takes no weights.

    Raises
    ------
    SettingsError
        When the settings ask for weights and the learner takes none; of a contest the first one.

    """
    given = {"weight_field": records.weight_field, "class_weights": settings.class_weights}
    asked = [name for name, value in given.items() if value]
    learner, *challengers = learners_of(learner)
    takes = _takes(settings, learner)
    if asked and (without := [each for each in challengers if not _takes(settings, each)]):
        names = ", ".join(type(each).__name__ for each in without)
        warnings.warn(
            f"{asked[0]}: challengers that take no weights learn all events alike: {names}",
            IlnWarning,
            stacklevel=2,
        )
    if asked and not takes:
        raise SettingsError(
            f"{asked[0]}: {type(learner).__name__} takes no weights (no w in learn_one): unset it, "
            "or choose a learner that takes them, such as a logistic regression of River"
        )
    if settings.class_weights and task_of(learner).name != "classification":
        raise SettingsError(
            f"class_weights: {type(learner).__name__} learns numbers; set weight_field instead"
        )
    return EventWeights(settings.class_weights) if takes else None


def _takes(settings: LabelSettings, learner: Any) -> bool:
    """Whether a learner takes weights, also with late labels, which another method learns."""
    late = settings.pending_events is not None and isinstance(learner, LearnsLate)
    return takes_weights(learner) and not (
        late and "w" not in signature(learner.learn_token).parameters
    )
