"""`iln-stream inspect-source`: shows a source's fields, and the settings that learn them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import islice
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from iln_stream.errors import SourceError
from iln_stream.events import MalformedError
from iln_stream.mapping import Notation
from iln_stream.mapping.flatten import flatten
from iln_stream.mapping.guessed_notation import guessed_notation
from iln_stream.mapping.inspection import Field, inspect_fields, possible_codes, proposed
from iln_stream.service import Settings, parser_of, source_stream
from iln_stream.streams import Record, Scheme, Source

_POLL_SECONDS = 5.0
_WIDEST = 30

_FOUND = {
    "separator": {";": "cells separated by ;", "tab": "cells separated by tabs",
                  "|": "cells separated by |"},
    "decimal": {",": "numbers with a decimal comma"},
    "date_order": {"dmy": "dates with the day first", "mdy": "dates with the month first"},
}  # fmt: skip
"""What settings that are not the usual ones mean."""

_HOW_TO_READ = (
    *("bootstrap", "kafka_client", "format", "registry", "decoder"),
    *("separator", "decimal", "date_order"),
)
"""Settings that the proposal repeats if they were given: without them a run could not read."""

_HIDDEN = ("kafka_options", "kafka_secrets", "registry_options", "registry_secrets")
"""Those that it only names."""


def inspect_source(settings: Settings, n_records: int, console: Console, out: Console) -> None:
    """Read the source's first records; print each field, and a TOML file that would learn it.

    Parameters
    ----------
    settings
        Settings of the source.
    n_records
        Number of records to read.
    console
        Gets the table and remarks.
    out
        Gets the TOML file and nothing else, so that it can be redirected to a file.

    Raises
    ------
    SourceError
        When no record can be read.

    """
    stream = source_stream(settings)
    stream.check()
    settings = _noted(settings, {"separator": stream.separator() or ","}, console)
    stream = source_stream(settings)
    if stream.form == "examples":
        raise SourceError(f"{stream.address} has its own inputs and label: there is no choice")
    stream.wait()
    parse = parser_of(settings, stream)
    found: list[Mapping[str, Any]] = []
    n_malformed, first_reason = 0, ""
    for record in islice(_records(stream), n_records):
        try:
            fields = parse(record.payload)
            flatten(fields)  # it refuses fields that hide one another
            found.append(fields)
        except MalformedError as error:
            n_malformed += 1
            first_reason = first_reason or f"offset {record.offset}: {error}"
    if n_malformed:
        _print(console, f"{n_malformed} records can't be read; the first: {first_reason}")
    if not found:
        raise SourceError(f"{stream.address}: no record to inspect")
    if all(_is_event(fields) for fields in found):
        _print(
            console,
            f"All {len(found)} records are events: `iln-stream run --source {stream.address}` "
            "learns them without further settings. Their inputs:",
        )
        console.print(_table(inspect_fields([fields["x"] for fields in found], target="")))
        return
    settings = _noted(settings, guessed_notation(map(flatten, found))._asdict(), console)
    notation = Notation(settings.decimal, settings.date_order)
    shown = inspect_fields(found, settings.target, notation)
    console.print(_table(shown))
    console.print(
        "Save this as learn.toml, correct it, and run `iln-stream run --config learn.toml`:",
        soft_wrap=True,
    )
    console.print()
    given = {
        name: getattr(settings, name) for name in _HOW_TO_READ if name in settings.model_fields_set
    }
    chosen = {"source": settings.source, **given, **proposed(shown), **_learner(shown)}
    _print(out, as_toml(chosen), soft_wrap=True)
    if hidden := [name for name in _HIDDEN if name in settings.model_fields_set]:
        _print(out, f"# Add {', '.join(hidden)}: they may hold passwords, so they are not shown.")
    if codes := possible_codes(shown):
        _print(
            out,
            "# Few different whole numbers: counts, or codes? If they are codes, add to types: "
            + ", ".join(f'{_toml(name)} = "category"' for name in codes),
            soft_wrap=True,
        )


def _noted(settings: Settings, guessed: Mapping[str, str], console: Console) -> Settings:
    """Return settings with what was guessed, unless it was given; say what is not usual."""
    given, usual = settings.model_fields_set, Settings.model_fields
    unusual = {
        name: value
        for name, value in guessed.items()
        if name not in given and value != usual[name].default
    }
    for name, value in unusual.items():
        _print(console, f"It has {_FOUND[name][value]}.")
    return settings.model_copy(update=unusual)


def _learner(fields: list[Field]) -> dict[str, str]:
    """Return the setting that learns classes, if most labels are texts or booleans."""
    for each in fields:
        n_classes = sum(each.kinds.get(kind, 0) for kind in ("text", "boolean", "boolean as text"))
        if each.role == "label" and 2 * n_classes > sum(each.kinds.values()):
            return {"learner": "infinite-layer-classifier"}
    return {}


def _print(console: Console, text: str, *, soft_wrap: bool = False) -> None:
    """Print a text as it is: names of fields may look like Rich's markup or emoji codes."""
    console.print(text, markup=False, emoji=False, soft_wrap=soft_wrap)


def as_toml(settings: Mapping[str, Any]) -> str:
    """Return settings as the text of a TOML file."""
    return "\n".join(f"{name} = {_toml(value)}" for name, value in settings.items())


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_toml(k)} = {_toml(v)}' for k, v in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)  # texts and lists are written alike


def _records(stream: Scheme) -> Iterator[Record]:
    """Yield the records of the source that are there now, from the first on."""
    if not stream.is_log:
        yield from _of(stream.source())
        return
    for partition in stream.partitions():
        yield from _of(stream.log(partition, "earliest"))


def _of(source: Source) -> Iterator[Record]:
    with closing(source):
        while records := source.poll(_POLL_SECONDS):
            yield from records


def _is_event(fields: Mapping[str, Any]) -> bool:
    return isinstance(fields.get("x"), dict) and fields.keys() <= {"x", "y", "id", "timestamp"}


def _table(fields: list[Field]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, justify in (
        ("field", "left"), ("values", "left"), ("missing", "right"), ("distinct", "right"),
        ("smallest or most frequent", "left"), ("largest or least frequent", "left"),
        ("role", "left"), ("type", "left"),
    ):  # fmt: skip
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for each in fields:
        kinds = ", ".join(
            f"{n} {kind}" if len(each.kinds) > 1 else kind for kind, n in each.kinds.items()
        )
        role = f"{each.role} ({each.why})" if each.role == "ignored" else each.role
        kind = f"{each.type} ({each.why})" if each.why and each.type != "auto" else each.type
        cells = (
            each.name, kinds, str(each.n_missing), str(each.n_distinct),
            _cut(each.low), _cut(each.high), role, kind,
        )  # fmt: skip
        table.add_row(*map(Text, cells))
    return table


def _cut(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str("" if value is None else value)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."
