"""The decoders of records in the user's own form."""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from math import isfinite
from typing import Any, Literal, NamedTuple, Protocol

from pydantic_core import from_json

from iln_stream.errors import IlnWarning
from iln_stream.records.decoding import (
    CLASS_REMEDY,
    MOST_INPUTS,
    MOST_WARNINGS,
    Example,
    MalformedError,
    one_hot,
    suspicious_metric,
    too_many_inputs,
)
from iln_stream.records.fields import CROSS, RECORDS_KEY, FieldMapping, UnseenFields
from iln_stream.records.many_texts import ManyTexts
from iln_stream.records.parsing import INDICATOR, flatten, parse_json
from iln_stream.records.series import Earlier, Level, SeriesInputs
from iln_stream.records.time_inputs import CALENDAR, Lags, TimeFeatures, names_of, time_zone_of
from iln_stream.records.times import joined
from iln_stream.records.values import (
    FieldType,
    Notation,
    as_input,
    as_text,
    dress_of,
    is_boolean,
    is_dressed,
    null_numbers,
    words_of,
)
from iln_stream.reporting import MetricSpec
from iln_stream.state import StateDict

Fields = Mapping[str, Any]
Payload = bytes | Mapping[str, Any] | None
Parse = Callable[[Payload], Fields]
"""Makes the fields of a payload; raises MalformedError."""

_MOST_KEPT, _PER_NAME, _PER_PLAN = 10_000_000, 100, 10_000
"""Characters of the names in plans; a name counts as 100 more, and a plan as 10,000."""
_FURTHEST = 1e12
"""Seconds from 1970 beyond which a time is none."""
_MOST_EXACT = 2**53
"""Integers below it are different doubles."""
_LONGEST_SERIES = 1_000
"""Characters of what names a series."""
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")
"""As Python writes one, with at most 16 digits."""
_DATE = re.compile(
    r"(19|20)\d\d((0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-4])|\.?(0[1-9]|[1-4]\d?|5[0-3]))"
    r"|6[34]\d{16}|13\d{16}"
)
"""2026013112, which as POSIX seconds would be of the years 2030 to 2036; 202602; 2026.1; ticks."""
_CELL = re.compile(r"-?\d{1,99}(\.\d{1,99})?([eE][-+]?\d\d?)?").fullmatch
"""A number that is finite, as tables mostly have it."""
_NUMBERS = frozenset(("auto", "number"))
_NESTED = frozenset((dict, list))
_FLOATS = frozenset((float,))
_JSON_NUMBERS = frozenset((float, int))
_TEXTS: Collection[type] = frozenset((str,))
"""Types of what is in a row of a file."""

_ENVELOPE = frozenset(("y", "id", "timestamp", "weight"))
"""Names beside `x` in events that `EnvelopeDecoder` reads."""


class _Plan(NamedTuple):
    """The roles of the fields of records with the same names in the same order."""

    inputs: tuple[str, ...]
    others: tuple[str, ...]
    types: tuple[FieldType, ...]
    is_plain: bool
    cells: tuple[str, ...]  # inputs, and the label, that are usually numbers written as texts
    target: str | None
    id: str | None
    time: tuple[str, ...]
    weight: str | None


class KeyedInputs(Protocol):
    """Makes inputs of the earlier events of an event's key; see `learners.keyed.aggregates`."""

    @property
    def names(self) -> Sequence[str]:
        """The inputs."""

    @property
    def texts(self) -> Collection[str]:
        """The fields that it needs as texts."""

    @property
    def numbers(self) -> Collection[str]:
        """The fields that it needs as numbers."""

    def __call__(
        self, texts: Mapping[str, str], numbers: Mapping[str, float], time: float
    ) -> dict[str, float]:
        """Return the inputs of an event, by name."""

    def accept(self, event_id: str | None, y: Any) -> None:
        """Take the event of the last call as an earlier one from now on; y None: no label yet."""

    def label(self, event_id: str, y: Any) -> None:
        """Take a label that came later than its event."""

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the exported metrics."""

    def state(self) -> StateDict:
        """Return what inputs of later events are made of."""

    def restore(self, state: StateDict) -> None:
        """Continue from a `state()`."""


class MappedDecoder:
    """Makes examples of records whose fields are mapped to label, inputs, id and time.

    A record with id and label in which every input is absent or missing is the label of an earlier
    event.

    Parameters
    ----------
    mapping
        Roles and types of the fields.
    parse
        Makes a record's fields of its payload.
    labels
        Whether labels are numbers or classes (booleans, texts, whole numbers).
    typed
        Whether the format has numbers, booleans and texts. If it has, as JSON does, a class that
        comes as text stays a text, and an input that comes as text and is a number is counted and
        warned of; in CSV everything is text.
    labelled
        Whether records should have a label, so that a target that does not occur is warned of.
    unseen
        Warns of fields that do not occur. None: of all that the mapping names.
    aggregates
        Makes inputs of the earlier events of the same key. None: there are none.
    learner_inputs
        `columns`: numbers, where a category is a name; `record`: texts stay the values of their
        fields, as learners of text want them.

    Examples
    --------
    >>> from iln_stream.records.fields import FieldMapping
    >>> from iln_stream.records.mapped import MappedDecoder
    >>> from iln_stream.records.parsing import parse_json
    >>> decode = MappedDecoder(FieldMapping(target="price", id_field="key"), parse_json)
    >>> decode(b'{"key": 7, "rooms": 3, "town": "Ulm", "sold": null, "price": 1.5}', 60.0)
    Example(x={'rooms': 3.0, 'town=Ulm': 1.0}, y=1.5, id='7', time=60.0, weight=None, series=())

    """

    def __init__(
        self,
        mapping: FieldMapping,
        parse: Parse,
        labels: Literal["number", "class"] = "number",
        *,
        typed: bool = True,
        labelled: bool = True,
        unseen: UnseenFields | None = None,
        aggregates: KeyedInputs | None = None,
        learner_inputs: Literal["columns", "record"] = "columns",
    ) -> None:
        self.mapping = mapping
        self._parse = parse
        self._label = self._number_label if labels == "number" else self._class_label
        self._class_type = mapping.type_of(mapping.target) if mapping.target else "auto"
        self._label_type = kind if is_dressed(kind := self._class_type) else "auto"
        self._floats_are_labels = labels == "number" or self._class_type != "category"
        self._typed = typed
        self._time_type = mapping.time_type
        self._durations = mapping.durations
        self._notation = mapping.notation
        self._nulls = frozenset(mapping.null_values)
        self._null_numbers = null_numbers(mapping.null_values)
        self._are_cells = not (typed or self._null_numbers) and self._notation.decimal == "."
        usual_label = labels == "number" and self._label_type == "auto"
        self._cells_are_labels = self._are_cells and usual_label
        self._zone = time_zone_of(mapping.time_zone)
        self._time_features = TimeFeatures(mapping.time_features, self._zone)
        self._crosses = tuple((cross, cross.split(CROSS)) for cross in mapping.crosses)
        self._as_texts = learner_inputs == "record"
        self._shaped: Callable[[Any], dict[str, Any]] = dict if self._as_texts else one_hot
        made = Lags(mapping.lags, mapping.rolling_means, filled=bool(mapping.series))
        self._lags = made if made.names else None
        self._made = {} if self._lags is None else dict(self._lags.names)
        self._level: Level | None = None
        if mapping.series and mapping.target_is_input and labels == "number":
            assert mapping.target is not None
            self._level = Level(mapping.target)
            self._made[self._level.name] = "series"
        self._series: SeriesInputs | None = None
        if mapping.series:
            self._series = SeriesInputs(Earlier(self._time_features, self._lags, self._level))
        self._aggregates = aggregates
        if aggregates is not None:
            self._made |= dict.fromkeys(aggregates.names, "aggregates")
        self._makers: dict[str, TimeFeatures | Lags | SeriesInputs | None] = {
            "time_features": self._time_features, "lags": self._lags
        }  # fmt: skip
        if self._series is not None:
            self._makers = {"series": self._series}
        self._made |= dict.fromkeys(mapping.crosses, "crosses")
        for feature in mapping.time_features:
            self._made |= dict.fromkeys(names_of(feature), "time_features")
        self._has_time = False
        self._plans: dict[tuple[str, ...], _Plan] = {}
        self._kept = 0
        self._warned: set[str] = set()
        self._texts = ManyTexts(mapping.notation)
        aggregated = () if aggregates is None else sorted({*aggregates.texts, *aggregates.numbers})
        self._unseen: UnseenFields | None = unseen or UnseenFields(
            mapping, labelled=labelled, aggregated=aggregated
        )
        self.n_coerced: Counter[str] = Counter()
        self.n_missing = 0

    @property
    def remembers(self) -> bool:
        """Whether the inputs of a record depend on earlier events, which `accept` tells."""
        made = self._lags, self._level, self._series, self._aggregates
        return bool(self.mapping.time_features) or any(each is not None for each in made)

    @property
    def takes_key(self) -> bool:
        """Whether id or inputs depend on the record's own key, which the loop then gives."""
        aggregates, mapping = self._aggregates, self.mapping
        by_key = aggregates is not None and RECORDS_KEY in aggregates.texts
        return by_key or RECORDS_KEY in (mapping.id_field, *mapping.series)

    def __call__(self, payload: Payload, written: float | None, key: str | None = None) -> Example:
        """Decode a record that was written at a time, in POSIX seconds; None: unknown.

        Of a decoder that `takes_key`, `key` is the record's own key; None: it has none.
        """
        fields, plan, found_types = self._read(payload, written is not None)
        numbers = _numbers_in([*map(fields.__getitem__, plan.cells)]) if plan.cells else None
        label = numbers[-1] if numbers and len(numbers) > len(plan.inputs) else None
        time, event_id, y = self._roles(fields, plan, written, label)
        if key is not None:
            if self._unseen is not None:
                self._unseen.see((RECORDS_KEY,))
            if self.mapping.id_field == RECORDS_KEY:
                event_id = key
        weight = None if plan.weight is None else self._weight(plan.weight, fields[plan.weight])
        # The usual record first: all inputs are finite numbers, and none is to be another type.
        # A sum that overflows is not finite, either.
        x: dict[str, Any]
        if numbers is not None:
            x = dict(zip(plan.inputs, numbers))  # noqa: B905  # the label may follow them
        else:
            x = dict(fields)
            for name in plan.others:
                del x[name]
            are_floats = found_types == _FLOATS or set(map(type, x.values())) == _FLOATS
            if not (plan.is_plain and are_floats and isfinite(sum(x.values()))):
                found = self._inputs(x, plan.types, fields)
                if found or y is None or event_id is None:  # a late label is no event without x
                    self.n_missing += len(x) - len(found)
                x = self._shaped(found)
        if not x and y is not None and event_id is not None:
            return Example(None, y, event_id, time, weight)
        if key is not None:
            fields = {**fields, RECORDS_KEY: key}
        series = () if self._series is None else self._enter(self._series, fields)
        made = {} if self._lags is None else self._lags(x)
        if self._level is not None:
            made.update(self._level(x))
        if self.mapping.time_features and time is not None:
            try:
                made.update(self._time_features(time))
            except (ValueError, OverflowError):  # the writer may set any time
                raise self._beyond(time) from None
        if self._crosses:
            made.update(self._shaped(self._crossed(fields, time)))
        if self._aggregates is not None:
            # As in `RecordTime`: one date in the future would end a key's windows for good.
            when = time if time is None or written is None else min(time, written)
            made.update(self._aggregated(self._aggregates, fields, when))
        x.update(made)
        return Example(x, y, event_id, time, weight, series)

    def time(self, payload: Payload, written: float | None) -> float | None:
        """Return the time of a record, without the rest of its example."""
        fields, plan, _ = self._read(payload, written is not None)
        return self._time(fields, plan.time, written) if plan.time else written

    def accept(self, time: float | None, event_id: str | None = None, y: Any = None) -> None:
        """Take the last example as the last event: its time, and its values for later inputs.

        The loop calls this for events that it learned (y) or only predicted: repeats, late labels
        and records that failed do not change the inputs of later events.
        """
        if time is not None:
            self._time_features.accept(time)
        if self._lags is not None:
            self._lags.accept()
        if self._level is not None:
            self._level.accept()
        if self._series is not None:
            self._series.accept()
        if self._aggregates is not None:
            self._aggregates.accept(event_id, y)

    def label(self, event_id: str, y: Any) -> None:
        """Take the label that was learned of an earlier event."""
        if self._aggregates is not None:
            self._aggregates.label(event_id, y)

    def _enter(self, kept: SeriesInputs, fields: Fields) -> tuple[str, ...]:
        """Continue with the earlier records of a record's series, and return its name."""
        for name in self.mapping.series:
            if self._is_missing(fields.get(name)):
                raise MalformedError(
                    f"{name}: missing or null, so that the record belongs to no series: send it, "
                    "or take it out of series"
                )
        key = tuple([as_text(fields[name]) for name in self.mapping.series])
        if sum(map(len, key)) > _LONGEST_SERIES:
            raise MalformedError(
                f"{self.mapping.series[0]}: what names the series has over {_LONGEST_SERIES:,} "
                "characters; send a shorter text, such as a hash"
            )
        self._time_features, self._lags, self._level = kept.of(key)
        return key

    def _aggregated(
        self, aggregates: KeyedInputs, fields: Fields, time: float | None
    ) -> dict[str, float]:
        if time is None or not abs(time) < _FURTHEST:
            raise MalformedError(
                f"time: {'unknown' if time is None else time}, and aggregates need the time of "
                "each event; set time_field, or correct it at the writer"
            )
        texts: dict[str, str] = {}
        for name in aggregates.texts:
            if not self._is_missing(value := fields.get(name)):
                texts[name] = as_text(value)
        numbers: dict[str, float] = {}
        for name in aggregates.numbers:
            value = fields.get(name)
            if type(value) is not float or not isfinite(value) or value in self._null_numbers:
                if self._is_missing(value):
                    continue
                value = as_input(name, value, self.mapping.type_of(name), self._notation)
            if isinstance(value, str):
                raise MalformedError(f"{name}: aggregates need a number, got {value!r:.60}")
            numbers[name] = value
        return aggregates(texts, numbers, time)

    def _crossed(self, fields: Fields, time: float | None) -> dict[str, float | str]:
        """Return the crosses of which all parts are there: fields, or the event's local time."""
        made: dict[str, float | str] = {}
        for cross, parts in self._crosses:
            values = [self._part(part, fields, time) for part in parts]
            if not any(value is None for value in values):
                made[cross] = CROSS.join(map(as_text, values))
        return made

    def _part(self, name: str, fields: Fields, time: float | None) -> Any:
        if name in fields:
            return None if self._is_missing(fields[name]) else fields[name]
        if name not in CALENDAR or time is None:
            return None
        try:
            return CALENDAR[name](datetime.fromtimestamp(time, self._zone))
        except (ValueError, OverflowError, OSError):
            raise self._beyond(time) from None

    def _beyond(self, time: float) -> MalformedError:
        return MalformedError(
            f"time: {time} is outside of the years 1 to 9999; correct it at the writer, or set "
            "time_field"
        )

    def envelope(self, payload: Payload) -> dict[str, Any]:
        """Return a record as an event in an envelope; the label of an earlier one has no x."""
        fields, plan, _ = self._read(payload, has_time=True)
        time, event_id, y = self._roles(fields, plan, None)
        x = self._inputs({name: fields[name] for name in plan.inputs}, plan.types, fields)
        weight = None if plan.weight is None else self._weight(plan.weight, fields[plan.weight])
        own = {"id": event_id, "timestamp": time, "weight": weight}
        event = {"y": y, **{name: value for name, value in own.items() if value is not None}}
        is_label = not x and y is not None and event_id is not None
        return event if is_label else {"x": x, **event}

    def described(self) -> dict[str, Any]:
        """Return what another process makes this decoder of; it gets records already parsed."""
        labels = "class" if self._label == self._class_label else "number"
        shape = "record" if self._as_texts else "columns"
        mapping = asdict(self.mapping)
        return {"mapping": mapping, "labels": labels, "typed": self._typed, "learner_inputs": shape}

    @classmethod
    def of_description(
        cls, described: Mapping[str, Any], aggregates: KeyedInputs | None = None
    ) -> "MappedDecoder":
        """Return the decoder of `described()`, which warns of no field that is absent."""
        given = dict(described)
        roles = dict(given.pop("mapping"))
        mapping = FieldMapping(**{**roles, "notation": Notation(*roles["notation"])})
        unseen = UnseenFields(FieldMapping(features=()))
        return cls(mapping, parse_json, unseen=unseen, aggregates=aggregates, **given)

    def warn_of_unseen(self) -> None:
        """Warn of settings whose field no record had; for a stream with fewer than 1,000."""
        if self._unseen is not None:
            self._unseen.finish()

    def _read(self, payload: Payload, has_time: bool) -> tuple[Fields, _Plan, Collection[type]]:
        fields = self._parse(payload)
        types = set(map(type, fields.values())) if self._typed else _TEXTS
        if not _NESTED.isdisjoint(types):
            fields = flatten(fields)
            types = set(map(type, fields.values()))
        names = tuple(fields)
        plan = self._plans.get(names) or self._planned(names)
        if self._unseen is not None and self._unseen.passed(has_time or bool(plan.time)):
            self._unseen = None
        return fields, plan, types

    def _roles(
        self, fields: Fields, plan: _Plan, written: float | None, y: float | None = None
    ) -> tuple[float | None, str | None, float | bool | str | None]:
        """Return time, id and label, which may be known."""
        time = self._time(fields, plan.time, written) if plan.time else written
        event_id = None
        if plan.id is not None and not self._is_missing(value := fields[plan.id]):
            event_id = as_text(value)
        if y is not None or plan.target is None:
            return time, event_id, y
        return time, event_id, self._y(plan.target, fields[plan.target])

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the counts of values that were missing, and of texts taken as something else.

        Metrics of the parser are among them, if it has some.
        """
        of_parser = getattr(self._parse, "metrics", tuple)
        return (
            suspicious_metric(lambda: {f"text_as_{kind}": n for kind, n in self.n_coerced.items()}),
            MetricSpec(
                "iln_values_missing_total",
                "counter",
                "Inputs that were null or a text in null_values.",
                lambda: self.n_missing,
            ),
            *of_parser(),
            *(() if self._series is None else self._series.metrics()),
            *(() if self._aggregates is None else self._aggregates.metrics()),
        )

    def state(self) -> StateDict:
        """Return the counts, and what inputs of later records are made of."""
        return {
            "coerced": dict(self.n_coerced),
            "missing": self.n_missing,
            **({} if self._aggregates is None else {"aggregates": self._aggregates.state()}),
            **self.last_values(),
        }

    def last_values(self) -> StateDict:
        """Return what inputs of later records are made of, apart from the aggregates."""
        return {name: each.state() for name, each in self._makers.items() if each is not None}

    def restore(self, state: StateDict) -> None:
        self.n_coerced = Counter(state["coerced"])
        self.n_missing = state["missing"]
        if self._aggregates is not None and "aggregates" in state:
            self._aggregates.restore(state["aggregates"])
        self.continue_after(state)

    def continue_after(self, values: StateDict) -> None:
        """Make inputs of later records of these `last_values()`, or of some of them."""
        for name, each in self._makers.items():
            if each is not None and name in values:
                each.restore(values[name])

    def keep_levels(self, values: StateDict) -> None:
        """Let series begin with the levels that `last_values()` has of them."""
        if self._series is not None and "series" in values:
            self._series.restore(values["series"], levels_only=True)

    def _planned(self, names: tuple[str, ...]) -> _Plan:
        mapping = self.mapping
        if self._unseen is not None:
            self._unseen.see(names)
        if self._is_envelope(names):
            raise MalformedError(
                "the record is an event or a label of the form {x, y, id}, as the HTTP API and the "
                f"client append it, and the settings read other records (target = "
                f"{mapping.target!r}): append records of their form to the log, set target to y, "
                "or let a learner without field settings read events of this form"
            )
        inputs = tuple(name for name in names if mapping.is_feature(name))
        if len(inputs) > MOST_INPUTS:
            raise too_many_inputs(len(inputs))
        others = tuple(name for name in names if not mapping.is_feature(name))
        types = tuple(
            "time" if name in self._durations else mapping.type_of(name) for name in inputs
        )
        for name in self._made.keys() & set(inputs):
            raise MalformedError(
                f"{name}: the record has this field, and the setting {self._made[name]} makes an "
                f"input of this name; ignore the field, or correct {self._made[name]}"
            )
        target = mapping.target if mapping.target in names else None
        is_plain = _NUMBERS.issuperset(types) and not self._null_numbers
        label = () if target is None or not self._cells_are_labels else (target,)
        plan = _Plan(
            inputs,
            others,
            types,
            is_plain,
            cells=(*inputs, *label) if is_plain and self._are_cells else (),
            target=target,
            id=mapping.id_field if mapping.id_field in names else None,
            time=parts if (parts := mapping.time_parts) and set(parts) <= set(names) else (),
            weight=mapping.weight_field if mapping.weight_field in names else None,
        )
        self._keep(names, plan)
        return plan

    def _is_envelope(self, names: tuple[str, ...]) -> bool:
        """Return whether it is an event of our own form, whose label or id nobody would see."""
        mapping = self.mapping
        if mapping.target is None or mapping.target in names:
            return False
        if not all(name in _ENVELOPE or name.startswith("x.") for name in names):
            return False
        roles = mapping.id_field, mapping.time_field, mapping.weight_field
        has_label = "y" in names and "y" not in roles
        has_id = "id" in names and mapping.id_field not in (None, *names)
        return has_label or has_id

    def _keep(self, names: tuple[str, ...], plan: _Plan) -> None:
        """Keep a plan in bounded memory: a source may send other names in each record."""
        size = _PER_PLAN + sum(len(name) + _PER_NAME for name in names)
        if self._kept + size > _MOST_KEPT:
            self._plans.clear()
            self._kept = 0
        self._plans[names] = plan
        self._kept += size

    def _inputs(
        self, x: Fields, types: Sequence[FieldType], fields: Fields
    ) -> dict[str, float | str]:
        found: dict[str, float | str] = {}
        for (name, value), kind in zip(x.items(), types, strict=True):
            # As usual in a cell, and some times as fast.
            if self._are_cells and kind in _NUMBERS and type(value) is str and _CELL(value):
                found[name] = float(value)
            elif kind == "text" and not (self._as_texts or value is INDICATOR):
                if not self._is_missing(value):
                    found |= {f"{name}={word}": 1.0 for word in words_of(as_text(value))}
            elif not self._is_missing(value):
                found[name] = self._input(name, value, kind)
        for name, since in self._durations.items():
            start = fields.get(since)
            if self._is_missing(start):
                found.pop(name, None)
            elif name in found:
                began = as_input(since, start, "time", self._notation)
                found[name] = float(found[name]) - float(began)
        return found

    def _is_missing(self, value: Any) -> bool:
        if isinstance(value, str):  # as `is_missing`, with a call less for each value
            text = value.strip()
            number = self._notation.number(text) if self._null_numbers else None
            return text in self._nulls or (
                number is not None and float(number) in self._null_numbers
            )
        if value is None or value != value:
            return True
        is_known = bool(self._null_numbers) and isinstance(value, int | float)
        return is_known and value in self._null_numbers

    def _input(self, name: str, value: Any, kind: FieldType) -> float | str:
        if value is INDICATOR:  # types are about the texts
            return 1.0
        found = as_input(name, value, kind, self._notation)
        if kind == "auto" and isinstance(value, str):
            if isinstance(found, float):
                if self._typed:
                    self._coerced(name, value)
            elif not self._as_texts:
                self._texts.watch(name, value)
        return found

    def _coerced(self, name: str, value: str) -> None:
        kind = "boolean" if is_boolean(value) else "number"
        self.n_coerced[kind] += 1
        if name not in self._warned and len(self._warned) < MOST_WARNINGS:
            self._warned.add(name)
            warnings.warn(
                f"{name}: the text {value[:40]!r} is taken as a {kind}; set its type to {kind} if "
                "that is right, or to category if not (types)",
                IlnWarning,
                stacklevel=2,
            )

    def _time(self, fields: Fields, names: tuple[str, ...], written: float | None) -> float | None:
        """Return the time in a field, or that several make together."""
        value = fields[names[0]]
        if len(names) > 1:
            parts = [fields[name] for name in names]
            missing = any(map(self._is_missing, parts))
            value = None if missing else joined(map(as_text, parts))
        if self._is_missing(value):
            return written
        assert self.mapping.time_field is not None
        found = as_input(self.mapping.time_field, value, self._time_type, self._notation)
        assert isinstance(found, float)
        if not self._has_time:
            self._has_time = True
            if self._time_type == "time" and _DATE.fullmatch(as_text(value)):
                warnings.warn(
                    f"{self.mapping.time_field}: {value} is read as a time since 1970; if it is "
                    f'no such time, set types = {{"{self.mapping.time_field}" = "time %Y%m%d%H"}}, '
                    "or its form",
                    IlnWarning,
                    stacklevel=2,
                )
        return found

    def _weight(self, name: str, value: Any) -> float | None:
        if self._is_missing(value):
            return None
        found = as_input(name, value, "number", self._notation)
        if isinstance(found, float) and found >= 0.0:
            return found
        raise MalformedError(f"{name}: a weight is a number and at least 0, got {value!r:.60}")

    def _y(self, name: str, value: Any) -> float | bool | str | None:
        if type(value) is float and isfinite(value) and self._floats_are_labels:
            return None if value in self._null_numbers else value
        if self._cells_are_labels and type(value) is str and _CELL(value):
            return float(value)
        return None if self._is_missing(value) else self._label(name, value)

    def _number_label(self, name: str, value: Any) -> float:
        found = as_input(name, value, self._label_type, self._notation)
        if isinstance(found, str) or isinstance(value, bool) or is_boolean(str(value)):
            kind = dress_of(value, self._notation.decimal) if isinstance(value, str) else None
            remedy = f"correct it at the sender, or list the text among null_values; {CLASS_REMEDY}"
            if kind is not None:
                remedy = f'give it the type of numbers so written: types = {{"{name}" = "{kind}"}}'
            raise MalformedError(f"{name}: expected a number, got {value!r:.60}; {remedy}")
        return found

    def _class_label(self, name: str, value: Any) -> float | bool | str:
        """Return a class. Different texts are different classes, unless a type says otherwise."""
        kind = self._class_type
        if kind == "auto" and isinstance(value, str):
            return value if self._typed else _class_of_cell(value)
        if kind == "auto" and isinstance(value, bool):
            return value
        if kind == "auto" and isinstance(value, int) and abs(value) >= _MOST_EXACT:
            return str(value)
        found = as_input(name, value, kind, self._notation)
        return bool(found) if kind == "boolean" else found


def _numbers_in(cells: Sequence[Any]) -> list[float] | None:
    """Return the numbers in a row's cells; None if one has something else, or is not finite."""
    try:
        text = ",".join(cells)
        try:
            numbers = from_json(f"[{text}]")  # as Python reads them, in a fifth of the time
        except ValueError:  # .5 and 007 are not JSON; and Python reads 1_000
            numbers = [] if "_" in text else [*map(float, cells)]
        types = set(map(type, numbers))
        if len(numbers) != len(cells) or not types <= _JSON_NUMBERS:
            return None
        if types != _FLOATS:
            numbers = [*map(float, numbers)]
    except (TypeError, ValueError, OverflowError):
        return None
    return numbers if isfinite(sum(numbers)) else None


def _class_of_cell(text: str) -> float | bool | str:
    """Return a cell's class: a boolean, or an integer in its usual form; text otherwise."""
    if is_boolean(text):
        return bool(as_input("", text, "boolean"))
    if _INTEGER.fullmatch(text.strip()) and abs(int(text)) < _MOST_EXACT:
        return float(text)
    return text


class RecordTime:
    """Reads the time that a record says, but at most when it was written; None: it says none.

    An event can't be later than its record, so a time in the future is wrong.

    Examples
    --------
    >>> from iln_stream.records.fields import FieldMapping
    >>> from iln_stream.records.mapped import RecordTime
    >>> from iln_stream.records.parsing import parse_json
    >>> time_of = RecordTime(FieldMapping(time_field="at"), parse_json)
    >>> time_of(b'{"at": 60}', 90.0), time_of(b'{"at": 60e6}', 90.0), time_of(b"{}", 90.0)
    (60.0, 90.0, None)

    """

    def __init__(self, mapping: FieldMapping, parse: Parse) -> None:
        own = FieldMapping(
            features=(),
            time_field=mapping.time_field,
            types=mapping.types,
            null_values=mapping.null_values,
            notation=mapping.notation,
        )
        self._decode = MappedDecoder(own, parse, unseen=UnseenFields(FieldMapping(features=())))
        # Most records without the field need not be parsed.
        key = mapping.time_parts[0].rpartition(".")[2].encode()
        self._key = b'%s"' % key if parse is parse_json else None

    def __call__(self, payload: Payload, written: float | None) -> float | None:
        """Return the time in POSIX seconds; None if the record says none."""
        if self._key is not None and isinstance(payload, bytes) and self._key not in payload:
            return None
        try:
            time = self._decode.time(payload, None)
        except MalformedError:  # the loop makes it a dead letter
            return None
        return time if time is None or written is None else min(time, written)


class LabelDecoder(MappedDecoder):
    """Makes labels of records: id, label, time and weight; other fields are ignored.

    The mapping needs `target` and `id_field`. If time and weight are not `optional`, it warns of
    them if no record has them.

    Examples
    --------
    >>> from iln_stream.records.fields import FieldMapping
    >>> from iln_stream.records.mapped import LabelDecoder
    >>> from iln_stream.records.parsing import parse_json
    >>> decode = LabelDecoder(FieldMapping(target="minutes", id_field="order"), parse_json)
    >>> decode(b'{"order": 7, "minutes": 31, "courier": "Kim"}', 60.0)
    Example(x=None, y=31.0, id='7', time=60.0, weight=None, series=())

    """

    def __init__(
        self,
        mapping: FieldMapping,
        parse: Parse,
        labels: Literal["number", "class"] = "number",
        *,
        optional: bool = False,
    ) -> None:
        assert mapping.target is not None
        assert mapping.id_field is not None
        mapping = replace(mapping, features=(), ignore=(), time_features=(), crosses=())
        # Types are those of all settings, and of events, too.
        expected = FieldMapping(features=()) if optional else replace(mapping, types={})
        unseen = UnseenFields(expected, of_labels=True)
        super().__init__(mapping, parse, labels, unseen=unseen)

    def __call__(
        self,
        payload: bytes | Mapping[str, Any] | None,
        written: float | None,
        key: str | None = None,
    ) -> Example:
        """Decode a record that was written at a time, in POSIX seconds; None: unknown.

        Raises
        ------
        MalformedError
            When the record has no id or no label.

        """
        label = super().__call__(payload, written, key)
        if label.x is None:
            return label
        missing, what = ("id_field", "id") if label.id is None else ("target", "label")
        raise MalformedError(
            f"{getattr(self.mapping, missing)}: missing or null; a record of labels has the {what} "
            "in this field (see labels_settings)"
        )
