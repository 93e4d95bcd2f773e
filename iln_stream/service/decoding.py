"""Builds the decoder that the settings describe."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from iln_stream.mapping import FieldMapping, MappedDecoder, parse_json, parse_row
from iln_stream.prequential import Task
from iln_stream.service.settings import Settings, SettingsError
from iln_stream.streams import Scheme

FIELDS = (
    "target",
    "features",
    "ignore",
    "id_field",
    "time_field",
    "time_features",
    "types",
    "null_values",
    "weight_field",
)
"""The settings that say which fields records have."""


def mapping_of(settings: Settings, stream: Scheme) -> FieldMapping | None:
    """Return the mapping of a stream's fields; None: its records are events.

    Raises
    ------
    SettingsError
        When the settings contradict each other or the stream.

    """
    given = [name for name in FIELDS if name in settings.model_fields_set]
    if stream.form == "examples":
        if given:
            raise SettingsError(f"{given[0]}: {stream.address} has its own inputs and label")
        return None
    if not given and stream.form == "json":
        return None
    if stream.form == "rows" and settings.target is None:
        raise SettingsError(
            f"target: say which column of {stream.address} is the label; it has "
            f"{', '.join(stream.columns() or ())}"
        )
    try:
        mapping = FieldMapping(**{name: getattr(settings, name) for name in FIELDS})
    except ValueError as error:
        raise SettingsError(str(error)) from error
    if (columns := stream.columns()) is not None:
        for name in ("target", "id_field", "time_field", "weight_field"):
            _check_column(name, getattr(settings, name), columns, stream.address)
    return mapping


def build_decoder(settings: Settings, stream: Scheme, task: Task) -> MappedDecoder | None:
    """Return the decoder of a stream's records; None: they are events."""
    mapping = mapping_of(settings, stream)
    if mapping is None:
        return None
    return MappedDecoder(
        mapping,
        parse_row if stream.form == "rows" else parse_json,
        "class" if task.name == "classification" else "number",
        typed=stream.form != "rows",
    )


def described(settings: Settings) -> dict[str, Any] | None:
    """Return the mapping as a snapshot's configuration has it; None: records are events."""
    if not any(name in settings.model_fields_set for name in FIELDS):
        return None
    chosen = {name: getattr(settings, name) for name in FIELDS}
    if settings.weight_field is None:
        del chosen["weight_field"]  # snapshots of releases without it have no such entry
    return {k: list(v) if isinstance(v, tuple) else v for k, v in chosen.items()}


def _check_column(setting: str, name: str | None, columns: Sequence[str], address: str) -> None:
    if name is None or name in columns:
        return
    close = get_close_matches(name, columns, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise SettingsError(
        f"{setting}: {address} has no column {name!r}; it has {', '.join(columns)}{hint}"
    )
