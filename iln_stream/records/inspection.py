"""Guessing the mapping of records from the first of them."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, compress, groupby, pairwise, takewhile
from statistics import median
from time import time as now
from typing import Any

from pydantic_core import from_json

from iln_stream.records.amounts import amount
from iln_stream.records.codes import are_codes, are_part_numbers, have_leading_zeros, named_as_code
from iln_stream.records.copies import is_copy, parts_of, tells
from iln_stream.records.durations import DAY, seconds_of
from iln_stream.records.fields import JOIN, FieldMapping
from iln_stream.records.guessed_notation import groups, look_like_dates
from iln_stream.records.inspected import (
    DRESSED,
    FEW,
    MOSTLY,
    NUMERIC,
    TEXTS,
    Field,
    Role,
    Why,
    is_named,
    kind_of,
)
from iln_stream.records.parsing import INDICATOR, flatten
from iln_stream.records.sentinels import mark_of_times, marks_of_missing, without_sentinel
from iln_stream.records.time_spans import (
    ORDERED,
    all_read_as,
    are_years,
    counts_up,
    features_of,
    has_odd_years,
    has_weeks,
    is_monotonic,
    ordered_share,
    read_as,
    step_of,
    time_form,
)
from iln_stream.records.times import joined
from iln_stream.records.totals import is_total
from iln_stream.records.values import (
    NULLS,
    FieldType,
    Notation,
    are_tags,
    as_text,
    is_dressed,
    is_missing,
    is_number,
    spelled,
)
from iln_stream.records.words import WORDS

_LABELS = WORDS["labels"]
_EXACT = 9
"""How many of them are also the labels of streams in which other fields contain the word."""

_UNITS = {"quarter": "quarters", "week": "weeks", "day": "days_of_year"}
"""Names of parts of a year that is beside them, by the part."""
_WORDS_OF_UNITS = [*chain(*(WORDS[words] for words in _UNITS.values()))]
_TIME_WORDS = {*WORDS["time_words"], *_WORDS_OF_UNITS}
_TWO_PARTS, _THREE_PARTS = re.compile(r"\d+:\d\d"), re.compile(r"\d+:\d\d:\d\d")
_ROUNDED = re.compile(r"\d(\.\d{0,5})?[eE]\+?(0?9|1\d)")
_GOOD, _BAD = {"good", "ok", "valid"}, {"bad", "invalid", "uncertain", "suspect", "questionable"}
_HOURS = re.compile(r"(\d|[01]\d|2[0-4])((\.0)?|([0-5]\d){1,2})")
_CLOCK = re.compile(r"\d{1,2}[:.h]\d{2}([:.]\d{2}([.,]\d+)?)?(\s?[AaPp]\.?[Mm]\.?)?")
_PERIOD = re.compile(r"(\d\d):(\d\d)-(\d\d):(\d\d)$")
_UNIT = re.compile(r"\s*[(\[].*")
"""Of a name, which begins with its word: Sales (EUR)."""
_IDS = re.compile(r"(^|_)(id|uuid|guid|key|tx|txn|txid|transaction)$|[a-z](Id|ID|Uuid|UUID|Key)$")
"""Names of ids, if hardly a value repeats."""
_ID_DISTINCT = 0.95
"""Share of distinct values from which a field of such a name is the id: records may be repeated."""
_REPEATING = 0.1
"""Share of values that occurred before, from which texts are categories."""
_WORDS = 2
"""Words of a text from which it may be free text."""
_FREE = 2 / 3
"""Share of different values from which texts of several words are free text."""

_DATED = re.compile(r"\W*(\d{4}[-/._ ]\d{1,2}|\d{1,2}([-/._ ])(\w{3,}|\d{1,2})\2\d{2,4})\b.*")
"""What looks like a date."""

_OLDEST, _LATEST = 3.15e8, 4.1e9
"""POSIX seconds that are taken as times: the years 1980 to 2099."""


def inspect_fields(
    records: Iterable[Mapping[str, Any]], given: FieldMapping | None = None
) -> list[Field]:
    """Return what records show of their fields, with a guess of each field's role and type.

    The records are in order; a thousand are plenty. Guesses complete what is `given`; an empty
    `target` means that there is no label.

    Examples
    --------
    >>> from iln_stream.records.inspection import inspect_fields
    >>> records = [{"key": f"k{i}", "size": str(i % 7), "price": i / 2} for i in range(100)]
    >>> [(each.name, each.role, each.type) for each in inspect_fields(records)]
    [('key', 'id', 'auto'), ('size', 'input', 'number'), ('price', 'label', 'auto')]

    """
    given = given or FieldMapping()
    values: dict[str, list[Any]] = {}
    n = 0
    for record in records:
        for name, value in flatten(record).items():
            # An indicator is a boolean to people.
            values.setdefault(name, []).append(value is INDICATOR or value)
        n += 1
    for name in [name for name, seen in values.items() if all(each is None for each in seen)]:
        # Other records have an object: to ignore null would ignore all that is in it.
        if any(other.startswith((f"{name}.", f"{name}=")) for other in values):
            del values[name]
    return _Roles(values, n, given).assigned()


class _Roles:
    """Gives fields the roles that the settings name, and guesses the others."""

    def __init__(self, values: Mapping[str, Sequence[Any]], n: int, given: FieldMapping) -> None:
        self._values, self._n, self._given = values, n, given
        self._present = self._without(given.null_values)
        marks = marks_of_missing(self._present.values(), given.notation)
        if tuple(given.null_values) != NULLS:
            marks = set()
        self._present = self._without({*given.null_values, *marks})
        self._fields = {
            name: _field(name, present, n - len(present), given, named_as_code(name, values))
            for name, present in self._present.items()
        }
        for name, seen in values.items():
            for mark in marks.intersection(map(str, seen)):
                self._set(name, sentinel=mark)
        roles = {given.target, given.id_field, given.weight_field, *given.time_parts}
        roles |= set(given.features)  # those that are named are inputs
        not_ignored = FieldMapping(ignore=given.ignore)
        self._free = [name for name in values if not_ignored.is_feature(name) and name not in roles]

    def assigned(self) -> list[Field]:
        """Return the fields with their roles."""
        given = self._given
        times = self._time_types()
        parts = given.time_parts or self._time_parts(times)
        if parts:
            self._free = [name for name in self._free if name not in parts]
            self._assign_time(parts, times)
        labels = self._values.get(given.target or "", ())
        ids = (
            name
            for name in self._free
            if _is_id(self._fields[name], self._n) and not _has_labels(self._values[name], labels)
        )
        self._assign("id", given.id_field or next(ids, None))
        self._assign("weight", given.weight_field)
        label = (given.target, "") if given.target is not None else self._possible_label()
        self._assign("label", *label)
        if parts and label[0] in self._fields:
            self._test_weekday(parts, self._fields[label[0]])
        self._compare(has_order=bool(parts) and self._fields[parts[0]].why != Why.NEWEST_FIRST)
        for name, each in self._fields.items():
            if not parts and each.is_number and _is_named_time(name) and each.role == "input":
                numbers = all_read_as(self._present[name], "number", given.notation)
                if each.n_distinct >= FEW and is_monotonic(numbers) and not are_years(numbers):
                    self._set(name, why=Why.TIME_AS_NUMBER)
        for name, each in self._fields.items():
            if each.role in ("input", "ignored") and not given.is_feature(name):
                self._set(name, role="ignored", type="auto", why=Why.AS_GIVEN, maybe_code=False)
        return list(self._fields.values())

    def _without(self, nulls: Collection[str]) -> dict[str, list[Any]]:
        return {
            name: [value for value in seen if not is_missing(value, nulls)]
            for name, seen in self._values.items()
        }

    def _set(self, name: str, **what: Any) -> None:
        self._fields[name] = self._fields[name]._replace(**what)

    def _assign(self, role: Role, name: str | None, why: str = "") -> None:
        """Give a field a role; a label stays an amount, and one that can't be learned says so."""
        if name not in self._fields:
            return
        each, is_label = self._fields[name], role == "label"
        texts = {as_text(value) for value in self._present[name]}
        if is_label and each.is_class and len({*map(spelled, texts)}) < len(texts):
            why = Why.SPELLINGS
        if is_label and each.kinds and not each.is_number:
            has_digits = each.n_distinct > FEW and all(
                any(map(str.isdigit, as_text(value))) for value in self._present[name]
            )
            why = (Why.DIGITS if has_digits else why) if each.is_class else Why.HARDLY
            for text in _CLASSES & {*self._given.null_values} if each.is_class else ():
                having = [name for name, seen in self._values.items() if text in seen]
                if having == [name] and self._values[name].count(text) > _OFTEN * self._n:
                    why, each = Why.CLASS_OR_NULL, each._replace(sentinel=text)
        # Of forecasts, the label is an input, too, which a run would say how it takes it.
        is_input = each.type == "number" and self._given.target_is_input and not each.is_class
        kind = each.type if is_label and (is_dressed(each.type) or is_input) else "auto"
        self._fields[name] = each._replace(
            role=role, type=kind, why=why, maybe_code=each.maybe_code and is_label
        )

    def _possible_label(self) -> tuple[str | None, str]:
        """Return the name of the label, and why."""
        own = FieldMapping(features=self._given.features)  # they are inputs, so none is the label
        named = own.features != FieldMapping().features
        inputs = [each for name in self._free if (each := self._fields[name]).role == "input"]
        free = [e for e in inputs if e.why != Why.TIME and not (named and own.is_feature(e.name))]
        last = {each.name: _UNIT.sub("", each.name).rpartition(".")[2] for each in free}
        by_name = [e for usual in _LABELS for e in free if last[e.name].lower() == usual]
        free = [each for each in free if each.n_distinct > 1] or [*free]
        free = [each for each in free if each.name.lower() not in _TIME_WORDS] or free
        in_name = (*_LABELS[1:4], *_LABELS[_EXACT:])
        by_name += [e for usual in in_name for e in free if is_named(last[e.name], (usual,))]
        two = [each for each in free if each.n_distinct == 2 and each.is_class]
        is_flag = [e is free[-1] or "boolean" in e.kinds or last[e.name][:3] == "is_" for e in two]
        flags = [*compress(two, is_flag)][-1:]
        for found, why in (
            (by_name[:1], Why.LABEL_BY_NAME),
            (flags if flags in (two, free[-1:]) else [], Why.LABEL_BY_GUESS + "it has two values"),
            ([e for e in free if e.is_number][-1:], Why.LABEL_BY_GUESS + "the last number"),
            (free[-1:], Why.LABEL_BY_GUESS + "the last field"),
        ):
            if found:
                return found[0].name, why
        return None, ""

    def _numbers(self, name: str) -> list[float | None]:
        kind = self._fields[name].type if is_dressed(self._fields[name].type) else "number"
        return [read_as(value, kind, self._given.notation) for value in self._values[name]]

    def _compare(self, *, has_order: bool) -> None:
        """Ignore inputs that count the records, as a time does; name copies of the label."""
        fields = [each for each in self._fields.values() if each.is_number]
        many = [each for each in fields if each.n_distinct >= FEW]
        classes = [e.name for e in self._fields.values() if e.role == "label" and e.is_class]
        for each in [*self._fields.values()]:
            seen = self._values[each.name]
            if each.n_distinct > FEW and each.n_missing:  # whether there is a value may tell
                seen = [is_missing(value, self._given.null_values) for value in seen]
            is_open = each.role == "input" and each.why != Why.AS_GIVEN
            if is_open and any(tells(seen, self._values[name]) for name in classes):
                self._set(each.name, why=Why.COPY)
        labels = [self._numbers(each.name) for each in many if each.role == "label"]
        columns = {}
        for each in [each for each in fields if each.role == "input"]:
            numbers = self._numbers(each.name)
            repeats = FEW < each.n_distinct <= each.n / 10 and each.why != Why.AS_GIVEN
            if has_order and each.name in self._free and _counts(numbers[:1_000]):  # then gaps
                self._set(each.name, role="ignored", type="auto", why=Why.COUNTS)
            elif any(each in many and is_copy(numbers, label) for label in labels):
                self._set(each.name, why=each.why if each.why == Why.AS_GIVEN else Why.COPY)
            elif repeats and any(are_codes(numbers, label) for label in labels):
                self._set(each.name, type="category", why=Why.BY_LABELS)
            elif each in many and each.why != Why.AS_GIVEN:
                columns[each.name] = numbers
        for a, sign, b in filter(None, (parts_of(columns, label) for label in labels)):
            self._set(a, note=f"makes the label, {a!r} {sign} {b!r}: is it known before the label?")
        read = {e.name: [n for n in self._numbers(e.name) if n is not None] for e in many}
        rising = [name for name, numbers in read.items() if is_monotonic(numbers)]
        for each in [e for e in self._fields.values() if e.role == "label" and e.n >= FEW]:
            blocks = len([*groupby(map(str, self._present[each.name]))])
            in_blocks = 1 < blocks == each.n_distinct < each.n
            if self._given.target_is_input:
                self._set(each.name, note=Why.METER * counts_up(read.get(each.name, ())))
            elif not has_order and (in_blocks if each.is_class else rising == [each.name]):
                self._set(each.name, note="comes sorted: errors of a run in this order say little; "
                          "shuffle what came otherwise.")  # fmt: skip

    def _test_weekday(self, parts: Sequence[str], label: Field) -> None:
        """Leave out the weekday of days whose label does not depend on it."""
        each, notation = self._fields[parts[0]], self._given.notation
        columns = [self._values[name] for name in (*parts, label.name)]
        if "weekday" not in each.features or not label.is_number or len({*map(len, columns)}) > 1:
            return
        kinds = [own.type if own.type != "auto" else usual
                 for own, usual in ((each, "time"), (label, "number"))]  # fmt: skip
        days, numbers = [], []
        for *cells, cell in zip(*columns, strict=True):
            time = cells[0] if len(cells) == 1 else joined(map(as_text, cells))
            if (day := read_as(time, kinds[0], notation)) is not None:
                days.append(day)
                numbers.append(read_as(cell, kinds[1], notation))
        if step_of(days) == DAY and not has_weeks(days, numbers):
            features = tuple(name for name in each.features if name != "weekday")
            self._set(each.name, features=features)

    def _time_types(self) -> dict[str, FieldType]:
        """Return the types of the fields that are times, the likeliest first.

        Texts are times in any order; numbers need a usual name, or an order.
        """
        found: dict[str, tuple[tuple[bool, bool], FieldType]] = {}
        for name in self._free:
            each = self._fields[name]
            if not {"boolean", "list", "bytes"}.isdisjoint(each.kinds) or each.n_distinct < 2:
                continue
            if each.why == Why.OTHER_DECIMALS:  # 13.5 would be a time of 1970
                continue
            present = self._present[name]
            is_text = 2 * each.kinds.get("text", 0) > len(present)
            kind = _time_type(name, present, is_text, self._given.notation)
            if kind is None:
                continue
            ordered = ordered_share(all_read_as(present, kind, self._given.notation)) >= ORDERED
            exact = name.rpartition(".")[2].lower() in WORDS["times"]
            if exact or ordered or is_text or (kind != "time" and _is_named_time(name)):
                found[name] = ((not ordered, not exact), kind)
        return {name: found[name][1] for name in sorted(found, key=lambda name: found[name][0])}

    def _time_parts(self, times: Mapping[str, FieldType]) -> tuple[str, ...]:
        """Return the field of the time, or those of date and clock, or of year, month and day."""
        dates = [name for name, kind in times.items() if kind == "time"]
        if dates:
            days = all_read_as(self._present[dates[0]], "time", self._given.notation)
            if len(set(days)) < len(days) and not any(time % DAY for time in days):
                others = (name for name in self._free if name != dates[0])
                clocks = (name for name in others if _is_clock(name, self._present[name]))
                pairs = ((dates[0], name) for name in clocks)
                return next(filter(self._joined_type, pairs), (dates[0],))
        else:
            by_word = {name.lower(): name for name in reversed(self._free)}
            for rows in (_PARTS, [_PARTS[0], _WORDS_OF_UNITS]):
                named = (next((by_word[w] for w in words if w in by_word), "") for words in rows)
                parts = tuple(takewhile(bool, named))
                if len(parts) > 1 and self._joined_type(parts):
                    return parts
        return tuple(times)[:1]

    def _joined_type(self, parts: Sequence[str]) -> FieldType | None:
        return _time_type(" ".join(parts), self._joined(parts), True, self._given.notation)

    def _joined(self, parts: Sequence[str]) -> list[Any]:
        """Return the values of a time; of several fields their texts together."""
        if len(parts) == 1:
            return self._present.get(parts[0], [])
        columns = [self._values.get(name, ()) for name in parts]
        rows = zip(*columns, strict=False)
        return [joined(map(as_text, row)) for row in rows if None not in row]

    def _assign_time(self, parts: Sequence[str], times: Mapping[str, FieldType]) -> None:
        """Give fields the role of the time, with its form, features, order and odd values."""
        first, given = parts[0], self._given
        kind = given.types.get(JOIN.join(parts), "")
        if not kind.startswith("time"):
            kind = times.get(JOIN.join(parts)) or self._joined_type(parts) or "time"
        present = self._joined(parts)
        mark = mark_of_times(self._fields.get(first), present, kind, given.notation)
        known = all_read_as([v for v in present if v != mark], kind, given.notation)
        odd = [value for value in present if read_as(value, kind, given.notation) is None]
        falls = step_of(known) and ordered_share(known) < 0.1
        far = has_odd_years(known) or (known and min(known) > now() + _SOON)
        why = Why.NEWEST_FIRST if falls else Why.CALENDAR if far else ""
        if known and all(_ROUNDED.fullmatch(as_text(value)) for value in present):
            why = Why.ROUNDED
        for place, name in enumerate(parts):
            if name in self._fields:
                self._set(
                    name, role="time", type="auto" if place or kind == "time" else kind,
                    why="" if place else why, maybe_code=False, sentinel=None, grouped="",
                    place=place, features=features_of(known),
                )  # fmt: skip
        if first in self._fields:
            self._set(first, n_odd=len(odd), odd=[*odd, ""][0], sentinel=mark)
        if len(parts) == 1 and len({*known}) < len(known) and not any(t % DAY for t in known):
            for name, each in self._fields.items():
                if each.role == "input" and each.is_number and is_named(name, WORDS["clocks"]):
                    self._set(name, why=Why.UNJOINED)
        if not given.time_field:
            for name in times.keys() - {*parts}:  # a second time: how much later it is
                is_later = len(parts) == 1 and times[name] == times[first] == "time"
                later = f"time since {first}" if is_later else "time"
                present = self._present[name]
                odd = [v for v in present if read_as(v, times[name], given.notation) is None]
                mark = mark_of_times(self._fields[name], present, times[name], given.notation)
                self._set(
                    name, role="input", type=later, why=Why.TIME, sentinel=mark,
                    n_odd=len(odd), odd=[*odd, ""][0],
                )  # fmt: skip


_SOON = 1.6e8
"""Five years from now, in seconds, after which times are hardly meant."""

_CLASSES, _OFTEN = {"-", "none", "None"}, 0.05
"""Texts in null_values that may be a class, and the share of labels from which they may."""

_PARTS = [WORDS[words] for words in ("years", "months_of_year", "days_of_month", "hours")]
"""Names of the fields that make a time together."""


def _counts(numbers: Sequence[float | None]) -> bool:
    n = sum(b - a == 1 for a, b in pairwise(number or 0.0 for number in numbers))
    return min(n, len(set(numbers))) >= _COUNTED * len(numbers) > FEW


_COUNTED = 0.95
"""Share of records that are one more than the one before."""


def _field(
    name: str, present: Sequence[Any], n_missing: int, given: FieldMapping, named_as_code: bool
) -> Field:
    pairs = [(value, kind_of(value, given.notation)) for value in present]
    others = [value for value, kind in pairs if kind == "text"]
    decimal = given.notation.decimal
    amounts = {text: each for text in others if (each := amount(text, decimal)) is not None}
    other = Notation("," if decimal == "." else ".")
    units = {each.unit for each in amounts.values()} - {""}
    n_numbers = sum(kind in NUMERIC or value in amounts for value, kind in pairs if kind != "list")
    plain = any(each.unit == "" for each in amounts.values()) or any(k in NUMERIC for _, k in pairs)
    if plain and any(unit.lower().rstrip(".") in _SIDES for unit in units):
        units |= {"none"}  # the other side of an account
    dressed, enough = "", MOSTLY * len(pairs)
    texts = [value for value in present if isinstance(value, str)]
    are_parts = are_part_numbers(texts)
    if are_parts:
        amounts = {}
    n_units = sum(each.unit != "" for each in amounts.values())
    if 2 * n_units < len(pairs) and all(len(unit) == 1 and unit.islower() for unit in units):
        units = {" ".join(sorted(units))} - {""}  # marks of footnotes: 12.3p beside 12.1
    durations = {text for text in others if seconds_of(text) is not None}
    if amounts and n_numbers >= enough and len(units) <= 1:
        dressed = " in ".join(("amount", *units))
        pairs = [(value, "amount" if value in amounts else kind) for value, kind in pairs]
    elif durations and sum(value in durations for value in others) >= enough:
        dressed = "duration"
        pairs = [(value, dressed if value in durations else kind) for value, kind in pairs]
    kinds = Counter(kind for _, kind in pairs)
    distinct = Counter(map(str, present))
    numbers = [value for value, kind in pairs if kind in (*NUMERIC, *DRESSED)]
    finite = all_read_as(numbers, dressed or "number", given.notation)
    mostly = 2 * len(finite) > len(present)
    low, high = (min(finite), max(finite)) if mostly else _extremes(distinct)
    whole = bool(numbers) and all(map(float.is_integer, finite))
    is_version = is_named(name, WORDS["versions"]) and 2 * len(distinct) <= len(present)
    coded = (whole and named_as_code) or is_version
    code = Why.BY_NAME if coded and len(distinct) > 1 else ""
    numbers_as_text = [value for value, kind in pairs if kind == "number as text"]
    if have_leading_zeros(numbers_as_text, len(pairs)):
        code = "leading zeros"
        low, high = _extremes(distinct)
    elif are_parts:
        code = "part numbers"
        low, high = _extremes(distinct)
    no_numbers = (str(value) for value, kind in pairs if kind not in (*NUMERIC, *DRESSED))
    n_distinct = len(distinct if code else {*finite, *no_numbers})  # 1 is 1.0
    role, kind, why = _guess(present, kinds, n_distinct, code)
    note = ""
    if dressed and role != "ignored":
        in_units = {text for text, each in amounts.items() if each.unit}
        with_unit = durations if dressed == "duration" else in_units
        bare, others = (
            all_read_as(
                [n for n in numbers if (n in with_unit) == has_unit], dressed, given.notation
            )
            for has_unit in (False, True)
        )
        is_percent = units == {"%"} and any(bare)
        in_dress = "durations" if dressed == "duration" else "numbers in dress"
        kind, why = dressed, Why.PERCENT if is_percent else in_dress
        bare = [number for number in bare if number]  # 0 needs no unit
        are_many = min(len(bare), len(others)) > len(pairs) / FEW
        if are_many and not is_percent and not 0.1 <= abs(_ratio(bare, others)) <= 10.0:
            note = Why.BARE
        elif any(map(_TWO_PARTS.fullmatch, texts)) and any(map(_THREE_PARTS.fullmatch, texts)):
            note = Why.CLOCKS
    elif amounts and 2 * n_numbers >= len(pairs) and (len(units) > 1 or why == Why.NEW):
        several = f"{Why.DIFFERENT_UNITS}: {', '.join(sorted(units)[:5])}"
        why = several if len(units) > 1 else Why.SOME_NUMBERS
    elif n_numbers < enough <= n_numbers + sum(is_number(text, other) for text in others):
        role, kind, why = "ignored", "auto", Why.OTHER_DECIMALS
    if name in given.types or given.type_of(name) != "auto":
        role, kind, why = "input", given.type_of(name), Why.AS_GIVEN
    elif role == "ignored" and name in given.features:
        role, why = "input", ""
    elif role != "label" and any(map(is_total, texts)):
        why = Why.TOTALS
    elif not dressed and 2 * n_numbers < len(pairs) and 2 * kinds["text"] > len(present):
        why = _unread_times(name, texts, why) or why
    is_open = why in ("", "leading zeros", Why.BY_NAME, Why.ALSO_TEXTS, Why.NEW, Why.FREE)
    if is_open and kind in ("auto", "category") and (code or kinds["text"]):
        role, kind, why = ("input", "text", "") if are_tags(texts) else (role, kind, why)
        if role == "input" and len({*map(spelled, texts)}) < len({*texts}):
            why = Why.VARIANTS
        words = {text.strip().lower() for text in distinct}
        marks = words <= _GOOD | _BAD and words & _GOOD and words & _BAD
        if role == "input" and marks and is_named(name, WORDS["qualities"]):
            why = Why.QUALITY
    field = Field(name, kinds, n_missing, n_distinct, low, high, role, kind, why, note=note)
    if groups(texts, other.decimal) == "maybe":
        field = field._replace(grouped="thousands")
    elif groups(texts, decimal) == "yes":
        field = field._replace(grouped="decimals")
    if dressed or (finite and field.is_number):
        field = without_sentinel(field, finite)
    if odd := [value for value, kind in pairs if kind in TEXTS]:
        if field.type == "number" or field.is_number:
            return field._replace(n_odd=len(odd), odd=odd[0])
        is_mixed = why in (Why.ALSO_TEXTS, Why.SOME_NUMBERS)  # these texts are the reason
        return field._replace(low=odd[0]) if is_mixed else field
    is_open = role == "input" and field.is_number and why != Why.AS_GIVEN
    few = 2 < n_distinct <= min(FEW, len(present) / 10)
    return field._replace(maybe_code=is_open and whole and few)


def _unread_times(name: str, texts: Sequence[str], why: str) -> str:
    """Return why texts that look like times or numbers are none, unless they are read later."""
    if look_like_dates(texts):
        return Why.DATES
    if why in (Why.NEW, Why.FREE) and all(map(_is_object, texts[:FEW])):
        return Why.JSON
    forms = (_DATED, _CLOCK, _PERIOD)
    if len({*texts}) == 1:
        return ""
    is_time = sum(any(f.fullmatch(text.strip()) for f in forms) for text in texts)
    has_digits = all(any(map(str.isdigit, text)) for text in texts)
    named = _is_named_time(name) and has_digits
    if is_time >= MOSTLY * len(texts) or named:
        return Why.UNREAD
    forms_of = {_DIGITS.sub("#", text) for text in texts}
    has_number = all("#" in f and f[:2] != "##" and not f[0].isalpha() for f in forms_of)
    few = why in ("", Why.NEW) and len(forms_of) <= _FORMS < FEW < len({*texts})
    return Why.SOME_NUMBERS if has_number and few else ""


def _ratio(numbers: Sequence[float], others: Sequence[float]) -> float:
    return median(numbers) / (median(others) or 1.0)


def _is_object(text: str) -> bool:
    try:
        return text.startswith("{") and isinstance(from_json(text), dict)
    except ValueError:
        return False


_DIGITS, _FORMS = re.compile(r"\d[\d.,]*"), 5
"""What varies in texts that are numbers, and how many ways to write them are looked at."""
_SIDES = {"cr", "dr"}


def _guess(
    present: Sequence[Any], kinds: Counter[str], n_distinct: int, code: str
) -> tuple[Role, FieldType, str]:
    """Guess the role and type of a field; `code` says why its numbers are codes, if they are."""
    n = len(present)
    n_odd = sum(kinds[kind] for kind in TEXTS)
    n_long = sum(isinstance(value, str) and len(value.split()) >= _WORDS for value in present)
    is_new = n >= FEW and n - n_distinct < _REPEATING * n
    is_free = n >= FEW and n_distinct > _FREE * n and n_long > n / 2
    is_number = sum(kinds[kind] for kind in NUMERIC) >= MOSTLY * n
    new = Why.NEW_BY_NAME if code == Why.BY_NAME else Why.NEW
    rules: tuple[tuple[Any, Role, FieldType, str], ...] = (
        (not n, "ignored", "auto", "no values"),
        (kinds["list"], "ignored", "auto", "a list or an object"),
        (kinds["bytes"], "ignored", "auto", "bytes"),
        (not DRESSED.isdisjoint(kinds), "input", "auto", ""),
        (is_number and code and is_new, "ignored", "auto", new),
        (is_number and code, "input", "category", code),
        (is_number and n_odd, "input", "number", f"{n_odd} are no numbers"),
        (is_number and kinds["number as text"], "input", "number", "numbers as text"),
        (is_number, "input", "auto", ""),
        ({*kinds} == {"boolean as text"}, "input", "boolean", "booleans as text"),
        (kinds["text"] and is_new, "ignored", "auto", Why.NEW),
        (is_free, "ignored", "auto", Why.FREE),
        (kinds["number as text"], "input", "category", Why.ALSO_TEXTS),
        (True, "input", "auto", ""),
    )
    return next((role, kind, why) for applies, role, kind, why in rules if applies)


def _is_named_time(name: str) -> bool:
    return is_named(name, _TIME_WORDS) or name.rpartition(".")[2].lower() in WORDS["times"]


def _time_type(
    name: str, present: Sequence[Any], is_text: bool, notation: Notation
) -> FieldType | None:
    """Return the type with which most values are times; None: they are none."""
    texts = [_in_full(as_text(value).strip(), notation) for value in present]
    ends = [[*map(int, found.groups())] for text in texts if (found := _PERIOD.search(text))]
    spans = {(60 * (hour - h) + minute - m) % 1_440 for h, m, hour, minute in ends}
    if len(spans) == 1 < len({(h, m) for h, m, *_ in ends}):
        return None  # 00:00-01:00, 01:00-02:00 would be read as hours with offsets
    unit = next((unit for unit, words in _UNITS.items() if is_named(name, WORDS[words])), "")
    unit = next((own for own in ("gps", "mjd") if own in name.lower()), unit)
    form = time_form(texts, is_text, _is_named_time(name), unit)
    if form:
        return f"time {form}"
    times = all_read_as(present, "time", notation)
    if not times or len(times) < MOSTLY * len(present):
        return None
    usual = form == "" or is_text or all(_OLDEST <= time <= _LATEST for time in times)
    return "time" if usual else None


def _in_full(text: str, notation: Notation) -> str:
    """Return a text with its number in full, if it is in science notation."""
    number = notation.number(text) if "e" in text.lower() else None
    return as_text(float(number)) if number else text


def _is_clock(name: str, present: Sequence[Any]) -> bool:
    """Whether the values are times of day: 14:30, or whole numbers with the name of hours."""
    texts = [joined(("", as_text(value).strip())).strip() for value in present]
    digits = {(len(text.removesuffix(".0")) + 1) // 2 for text in texts if text.strip("0.")}
    hours = is_named(name, WORDS["clocks"]) and all(map(_HOURS.fullmatch, texts))
    # 30 beside 1230 is half past midnight, which would be read as an hour.
    hours = hours and len(digits) == 1
    return len(texts) > 1 and (hours or all(_CLOCK.fullmatch(text) for text in texts))


def _is_id(each: Field, n: int) -> bool:
    if each.role == "time" or each.n_missing or each.n_distinct < _ID_DISTINCT * n or n < 2:
        return False
    last = each.name.rpartition(".")[2]
    ends = (each.low, each.high)
    whole = all(isinstance(end, str) or float(end).is_integer() for end in ends)
    return whole and any(_IDS.search(name) for name in (last, last.lower()))


def _has_labels(ids: Sequence[Any], labels: Sequence[Any]) -> bool:
    """Whether one id comes with two labels: of a house or a customer, not of a record."""
    known: dict[str, Any] = {}
    pairs = [(i, y) for i, y in zip(ids, labels, strict=False) if not is_missing(y, NULLS)]
    return len(ids) == len(labels) and any(known.setdefault(str(i), y) != y for i, y in pairs)


def _extremes(distinct: Counter[str]) -> tuple[Any, Any]:
    ordered = distinct.most_common()
    return (ordered[0][0], ordered[-1][0]) if ordered else (None, None)
