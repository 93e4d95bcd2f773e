"""`iln-stream inspect-source`: shows a source's fields, and the settings that learn them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from iln_stream.errors import SourceError
from iln_stream.loop import Horizon
from iln_stream.records import MalformedError, SkippedError, is_command
from iln_stream.records.decoding import MOST_INPUTS, shorten
from iln_stream.records.envelopes import envelope_of
from iln_stream.records.fields import FieldMapping, common_field, ids_of_labels, late_labels
from iln_stream.records.guessed_notation import guessed_notation
from iln_stream.records.inspected import Field, Why
from iln_stream.records.inspection import inspect_fields
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import flatten, parse_json
from iln_stream.records.proposed_forecasts import differ, lags_of, series_of
from iln_stream.records.proposed_settings import as_toml, proposed, remarks
from iln_stream.records.totals import n_repeated, without_totals
from iln_stream.records.values import Notation
from iln_stream.records.where import Where
from iln_stream.service import parser_of, source_stream
from iln_stream.service.decoding import FIELDS, mapping_from, require_fields
from iln_stream.service.settings import FormatSettings, LoopSettings, default_of
from iln_stream.service.streams import label_stream, settings_of_labels
from iln_stream.streams import Record, Resume, Scheme, Source

_POLL_SECONDS = 5.0
_WIDEST = 24

_FOUND = ("separator", "decimal", "date_order")
"""Settings that are guessed, and said if they are not the usual ones."""

_HOW_TO_READ = (
    *("bootstrap", "kafka_client", "format", "registry", "decoder", "where", "envelope"),
    *(*_FOUND, "columns"),
)
"""Settings that the proposal repeats if they were given: without them a run could not read."""

_FURTHER, _APART = 100_000, 1_000
"""Records of a file after the first ones, of which one in 1,000 and the last are looked at, too."""

_MOST_VALUES = 100
"""Texts of missing values, and further ones of a field that had one in the first records."""

_RENAMED = """
# import json
# def record(payload):
#     fields = json.loads(payload)
#     return {{{a} if name == {b} else name: value for name, value in fields.items()}}"""
"""A decoder that gives the id of labels the name that it has in events."""

_ROLES_OF_LABELS = ("target", "id_field", "time_field")
_PENDING = 100_000
"""Events that wait, if the setting is not given."""
_RECENT_IDS = 100_000
"""Ids by which repeats are recognised, if the setting is not given."""

_MADE = {*FIELDS, *_HOW_TO_READ, "source", "start", "horizon", "forecast", "lags", "rolling_means"}
"""Settings that the proposal makes of those that were given, or repeats above the others."""

_HIDDEN = ("kafka_options", "kafka_secrets", "registry_options", "registry_secrets")
"""Those that it only names."""


def inspect_source(settings: LoopSettings, n_records: int, console: Console, out: Console) -> None:
    """Read the source's first records; print each field, and a TOML file that would learn it.

    `console` gets the table and remarks, `out` the file and nothing else: it can be redirected.

    Raises
    ------
    SourceError
        When no record can be read.

    """
    stream = source_stream(settings)
    stream.check()
    layout = stream.layout() if "columns" not in settings.model_fields_set else {}
    if columns := layout.get("columns"):
        _print(console, f"Its first row does not name each column: {', '.join(columns)} are names.")
        settings = LoopSettings.of(settings, columns=tuple(columns))
    settings = LoopSettings.of(settings, **_unusual(settings, layout, console))
    stream = source_stream(settings)
    if stream.form == "examples":
        raise SourceError(f"{stream.address} has its own inputs and label: there is no choice")
    stream.wait()
    found = _read(settings, stream, n_records, console)
    fields_given = _given(settings, FIELDS)
    if not fields_given and all(map(_is_event, found)):
        _print(
            console,
            f"All {len(found)} records are events: `iln-stream run --source {stream.address}` "
            "learns them without further settings. Their inputs:",
        )
        console.print(_table(inspect_fields([fields["x"] for fields in found], FieldMapping(""))))
        return
    if settings.envelope is None and (envelope := envelope_of(found)) is not None:
        settings = LoopSettings.of(settings, envelope=envelope)
        found = _read(settings, stream, n_records, console)
        _print(console, f"It is read with envelope = {envelope!r}.")
    guessed = guessed_notation(map(flatten, found))._asdict()
    settings = LoopSettings.of(settings, **_unusual(settings, guessed, console))
    of_labels: dict[str, Any] = {}
    names = sorted({name for each in found for name in flatten(each)})
    named = {n: v for n, v in fields_given.items() if settings.labels is None or n != "target"}
    require_fields(named, names, "no record that was read has")
    flat, target = [*map(flatten, found)], fields_given.get("target")
    late, ids = late_labels(flat, target, settings.null_values), None
    if late is None and not (settings.labels or settings.horizon):
        ids = ids_of_labels(flat, settings.null_values)
        if (
            ids
            and stream.form == "json"
            and not settings.decoder
            and any(ids[1] in e for e in found)
        ):
            found = [_renamed(each, ids) for each in found]
            late = late_labels(map(flatten, found), target, settings.null_values)
    if settings.labels is None and late is not None and not settings.horizon:
        fields_given = {"id_field": late[0], "target": late[1], **fields_given}
        of_labels = {"pending_events": settings.pending_events or _PENDING}
        _print(
            console,
            f"Labels ({late[1]}) come in records of their own, with the {late[0]} of the event.",
        )
    if settings.labels is not None:
        fields_given, of_labels = _joined(settings, found, fields_given, n_records, console)
    shown = inspect_fields(found, _mapping(fields_given, settings))
    n_read = len(found)
    known = {e.name: {"None", *settings.null_values} for e in shown if e.n_distinct <= 1}
    if known and n_read >= n_records and Path(stream.address).is_file():
        others = _OtherValues(parser_of(settings, stream), known)
        for each in map(flatten, found):
            for name in known:
                known[name].add(str(each.get(name)))
        found = _read(settings, stream, n_records, None, others)
        n_read = n_records + others.n_read
        found = [_renamed(each, ids) for each in found] if ids and late else found
        shown = inspect_fields(found, _mapping(fields_given, settings))
    notation = Notation(settings.decimal, settings.date_order)
    nulls = settings.null_values if stream.form == "rows" else ()  # what `where` takes for null
    own_where = settings.where
    while settings.envelope is None and (totals := without_totals(found, shown, nulls, notation)):
        where = totals if settings.where is None else f"({settings.where}) and {totals}"
        settings = LoopSettings.of(settings, where=where)
        n_before, found = len(found), [*filter(Where(totals, nulls), found)]
        shown = inspect_fields(found, _mapping(fields_given, settings))
        if len(found) == n_before:
            break
    console.print(_table(shown))
    if settings.target is None and not any(each.role in ("label", "input") for each in shown):
        why = ", ".join(f"{each.name} ({each.why or each.role})" for each in shown)
        raise SourceError(f"{stream.address}: no field can be a label: {why}; name one in target")
    if settings.labels is not None:  # it was empty, so that no input was taken for the label
        del fields_given["target"]
    console.print(
        "Save this as learn.toml, correct it, and run `iln-stream run --config learn.toml`:",
        soft_wrap=True,
    )
    console.print()
    labels = label_stream(settings)
    labels_need_start = labels is not None and labels.needs_start
    # A log may give a record again; of a file, labels repeat the ids of their events.
    repeats = any(e.role == "id" and (stream.is_log or (e.repeats and not late)) for e in shown)
    roles = proposed(shown, fields_given)
    forecasts, told = _forecasts(settings, found, shown, roles)
    if not repeats and (n_again := n_repeated([*map(flatten, found)])):
        told.append(f"{n_again:,} of {len(found):,} records came before, as where exports overlap, "
                    "and a run learns each again: leave them out.")  # fmt: skip
    chosen = {
        "source": settings.source,
        **({"start": "earliest"} if stream.needs_start or labels_need_start else {}),
        **_given(settings, ("start", *_HOW_TO_READ)),
        **roles,
        **forecasts,
        **_learner(shown),
        **({"recent_ids": _RECENT_IDS} if repeats else {}),
        **_given(settings, [name for name in type(settings).model_fields if name not in _MADE]),
        **of_labels,
        **({"decoder": "renamed:record"} if ids and late else {}),
    }
    for name, value in chosen.items():
        _print(out, f"{name} = {as_toml(value)}", soft_wrap=True)
    if hidden := [name for name in _HIDDEN if name in settings.model_fields_set]:
        _print(out, f"# Add {', '.join(hidden)}: they may hold passwords, so they are not shown.")
    if of_labels.get("labels_settings", {}).get("time_field") == "":
        text = '# Labels have no field of a time: with time_field = "", the time of writing counts.'
        _print(out, text, soft_wrap=True)
    if ids:
        a, b = map(as_toml, ids)
        text = f"# A run joins labels to events by one field, and {b} of labels is {a} of events: "
        text += "rename it at the sender, or in a decoder" + (
            ", such as renamed.py:" if late else "."
        )
        _print(out, text + (_RENAMED.format(a=a, b=b) if late else ""), soft_wrap=True)
    if settings.where != own_where:
        text = "# where leaves out rows of totals, which are no events: correct it if they are."
        _print(out, text, soft_wrap=True)
    for remark in (*told, *remarks(shown, fields_given, n_read, labels_by_id=late is not None)):
        _print(out, f"# {remark}", soft_wrap=True)


class _OtherValues:
    """Chooses records in which a field that had one value has another one, as a rare class."""

    def __init__(
        self, parse: Callable[[Any], Mapping[str, Any]], known: dict[str, set[str]]
    ) -> None:
        self._parse, self._known, self.n_read = parse, known, 0

    def __call__(self, record: Record) -> bool:
        """Return whether a value is new; a field that has too many is left alone from then on."""
        known = self._known
        self.n_read += 1
        with suppress(MalformedError):
            values = flatten(self._parse(record.payload))
            new = {n: v for n in known if (v := str(values.get(n)).strip()) not in known[n]}
            for name, value in new.items():
                known[name].add(value)
                if len(known[name]) > _MOST_VALUES:
                    del known[name]
            return bool(new)
        return False


def _renamed(fields: Mapping[str, Any], ids: tuple[str, str]) -> Mapping[str, Any]:
    return {ids[0] if name == ids[1] else name: value for name, value in fields.items()}


def _read(
    settings: FormatSettings,
    stream: Scheme,
    n_records: int,
    console: Console | None,
    others: Callable[[Record], bool] = lambda _: False,
) -> list[Mapping[str, Any]]:
    """Return the fields of a stream's first records, and say how many can't be read.

    Of a file's further records, there are a few, and those that `others` chooses.
    """
    parse = parser_of(settings, stream)
    found: list[Mapping[str, Any]] = []
    n_malformed, n_skipped, first_reason = 0, 0, ""
    events = (each for each in _records(stream, n_records) if not is_command(each.payload))
    records = list(islice(events, n_records))
    if Path(stream.address).is_file():  # how long its times span, and what is below
        last = None
        for n, last in enumerate(islice(events, _FURTHER), start=1):
            if others(last) or n % _APART == 0:
                records.append(last)
        records += [last] if last is not None and last is not records[-1] else []
    if len({record.origin for record in records}) > 1:
        # Fields of times are found by their order.
        records.sort(key=lambda record: record.timestamp or 0.0)
    for record in records:
        try:
            fields = parse(record.payload)
            n = len(flatten(fields))  # it refuses fields that hide one another
            if n > MOST_INPUTS:
                raise SourceError(
                    f"{stream.address}: a record has {n:,} fields; at most {MOST_INPUTS:,} are "
                    "looked at: choose the features yourself"
                )
            found.append(fields)
        except SkippedError:
            n_skipped += 1
        except MalformedError as error:
            n_malformed += 1
            first_reason = first_reason or f"offset {record.offset}: {error}"
    if n_skipped and console:
        _print(console, f"{n_skipped} records are skipped (where, or the decoder)")
    if n_malformed and console:
        _print(console, f"{n_malformed} records can't be read; the first: {first_reason}")
    if not found:
        raise SourceError(f"{stream.address}: no record to inspect")
    return found


def _joined(
    settings: LoopSettings,
    events: Sequence[Mapping[str, Any]],
    given: dict[str, Any],
    n_records: int,
    console: Console,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the given fields of events with their id, and the settings that read the labels.

    The ids are the fields of events and labels that have the most values in common.
    """
    stream = label_stream(settings)
    assert stream is not None
    stream.check()
    stream.wait()
    own = settings.labels_settings
    labels = _read(settings_of_labels(settings), stream, n_records, console)
    ids = common_field(
        [flatten(each) for each in events],
        [flatten(each) for each in labels],
        given.get("id_field"),
        own.get("id_field"),
    )
    of_labels = {name: given[name] for name in ("target",) if name in given}
    of_labels |= {name: own[name] for name in FIELDS if name in own}
    names = sorted({name for each in labels for name in flatten(each)})
    require_fields(of_labels, names, "no label that was read has")
    if ids is None:
        text = "No field of events has a value of labels: name the ids in id_field of both."
        _print(console, text)
    else:
        given, of_labels = given | {"id_field": ids[0]}, of_labels | {"id_field": ids[1]}
    shown = inspect_fields(labels, mapping_from(of_labels, settings))
    _print(console, f"Labels, {stream.address}; only label, id and time are read:")
    not_read = [e._replace(role="ignored", why="") if e.role == "input" else e for e in shown]
    console.print(_table(not_read))
    roles = proposed(shown, of_labels)
    chosen = {**own, **{name: roles[name] for name in _ROLES_OF_LABELS if name in roles}}
    # Without it, the time_field of events counts for labels, too.
    chosen.setdefault("time_field", "")
    learner = {} if _given(settings, ("learner",)) else _learner(shown)
    pending = settings.pending_events or _PENDING
    return given | {"target": ""}, {
        **learner, "labels": settings.labels, "pending_events": pending, "labels_settings": chosen,
    }  # fmt: skip


def _mapping(fields: Mapping[str, Any], settings: LoopSettings) -> FieldMapping:
    return mapping_from({**fields, "target_is_input": bool(settings.horizon)}, settings)


def _forecasts(
    settings: LoopSettings,
    found: Sequence[Mapping[str, Any]],
    shown: Sequence[Field],
    roles: Mapping[str, Any],
) -> tuple[dict[str, Any], list[str]]:
    """Return settings of forecasts and remarks: horizon as it was given, series, lags and means."""
    meter = {"forecast": "change"} if any(e.note == Why.METER for e in shown) else {}
    if not roles.keys() >= {"target", "time_field"}:
        return meter | _given(settings, ("horizon", "forecast")), []
    decode = MappedDecoder(_mapping(roles, settings), parse_json)
    records, times = [], []
    for each in found:
        with suppress(MalformedError):
            if (time := decode(each, None).time) is not None:
                records.append(flatten(each))
                times.append(time)
    series = settings.series or series_of(records, times, shown)
    if not settings.horizon:
        if not series or _learner(shown):
            return {}, []
        return {}, [
            f"There is a series for each {' and '.join(series)}: to forecast each from its own "
            "past, give --horizon, such as 24h."
        ]
    ahead = [(each.steps, each.seconds or 0.0) for each in map(Horizon.of, settings.horizon)]
    told = []
    if any(steps for steps, _ in ahead) and differ(times):
        told.append("Time steps differ: give horizon as a time, such as 24h.")
    chosen = {"horizon": settings.horizon, **({"series": series} if series else {})}
    if _learner(shown):  # classes have no lags
        return chosen | _given(settings, ("lags", "rolling_means")), told
    lags, means = lags_of(times, roles.get("time_features", ()), ahead)
    return {
        **chosen,
        **meter,
        **({} if settings.lags else {"lags": {roles["target"]: lags}}),
        **({"rolling_means": {roles["target"]: means}} if means else {}),
        **_given(settings, ("lags", "rolling_means", "forecast")),
    }, told


def _given(settings: LoopSettings, names: Sequence[str]) -> dict[str, Any]:
    wanted = {*names} & settings.model_fields_set - {*_HIDDEN}
    return settings.model_dump(mode="json", include=wanted, exclude_none=True)


def _unusual(
    settings: LoopSettings, guessed: Mapping[str, Any], console: Console
) -> dict[str, str]:
    """Return what was guessed, unless it was given or is usual, and say it."""
    given = settings.model_fields_set
    unusual = {
        name: value
        for name, value in guessed.items()
        if name in _FOUND and name not in given and value != default_of(name)
    }
    for name, value in unusual.items():
        _print(console, f"It is read with {name} = {value!r}.")
    return unusual


def _learner(fields: Sequence[Field]) -> dict[str, str]:
    is_class = any(each.role == "label" and each.is_class for each in fields)
    return {"learner": "infinite-layer-classifier"} if is_class else {}


def _print(console: Console, text: str, *, soft_wrap: bool = False) -> None:
    """Print a text as it is: names of fields may look like Rich's markup or emoji codes."""
    console.print(text, markup=False, emoji=False, soft_wrap=soft_wrap)


def _records(stream: Scheme, n: int) -> Iterator[Record]:
    """Yield the records of the source that are there now; of a log, of each partition alike.

    Keys choose partitions, so the first partition alone may lack some kinds of records. If a
    partition has less than its share, the others' further records follow.
    """
    if not stream.is_log:
        yield from _polled(stream.source())
        return
    partitions = stream.partitions()
    share = ceil(n / len(partitions))
    ends: dict[int, int] = {}
    for partition in partitions:
        for record in islice(_polled(stream.log(partition, "earliest")), share):
            yield record
            ends[partition] = record.offset + 1
    for partition, end in ends.items():
        yield from _polled(stream.log(partition, Resume(end, None)))


def _polled(source: Source) -> Iterator[Record]:
    with closing(source):  # no log waits for records that are not there yet
        while source.lag != 0 and (records := source.poll(_POLL_SECONDS)):
            yield from records


def _is_event(fields: Mapping[str, Any]) -> bool:
    return isinstance(fields.get("x"), dict) and fields.keys() <= {"x", "y", "id", "timestamp"}


def _table(fields: list[Field]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("field", "taken as", "values", "range, or examples"):
        table.add_column(name, overflow="fold")
    for each in fields:
        table.add_row(*map(Text, (each.name, _taken_as(each), _values(each), _range(each))))
    return table


def _taken_as(each: Field) -> str:
    kind = each.role if each.type == "auto" else f"{each.role}, {each.type}"
    return f"{kind} ({each.why})" if each.why else kind


def _values(each: Field) -> str:
    kinds = [f"{n} {kind}" if len(each.kinds) > 1 else kind for kind, n in each.kinds.items()]
    counts = (("missing", each.n_missing), ("distinct", each.n_distinct))
    return ", ".join([*kinds, *(f"{n} {name}" for name, n in counts if n)])


def _range(each: Field) -> str:
    low, high = _cut(each.low), _cut(each.high)
    also = f", {each.sentinel}" if each.sentinel else ""
    both = f"{low} to {high}{also}" if each.is_number else f"{low}, {high}"
    return low if low == high else both


def _cut(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str("" if value is None else value)
    return shorten(text, _WIDEST)
