"""Which fields of a record are label, inputs, id and time."""

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from iln_stream.errors import IlnWarning
from iln_stream.records.time_inputs import CALENDAR, TIME_FEATURES, time_zone_of
from iln_stream.records.values import (
    NULLS,
    SINCE,
    USUAL,
    FieldType,
    Notation,
    as_text,
    check_type,
    is_missing,
)
from iln_stream.records.words import WORDS

JOIN = " + "
"""Between the fields that make a time together."""

CROSS = "*"
"""Between the fields of a cross."""

_PARTS = 2


@dataclass(frozen=True)
class FieldMapping:
    """Roles and types of a record's fields. Nested fields are named by dotted path, `user.age`.

    A pattern has `*`, `?` and `[abc]`, as file names do; it also matches the field of exactly this
    name, `temp [C]`. A name also stands for everything below it: `user` for `user.age`.

    Raises
    ------
    ValueError
        When a field has two roles, a type or a time feature is unknown, or a column with lags or
        means is not a numeric input.

    """

    # The field of the label. None: records have no label.
    target: str | None = None
    # names or patterns of the inputs; those with another role are left out
    features: Sequence[str] = ("*",)
    ignore: Sequence[str] = ()  # names or patterns of fields that are no inputs
    id_field: str | None = None  # the field of the event's id
    # The field of the event's time, or several that make it together, `date + time`. None: the time
    # at which the record was written.
    time_field: str | None = None
    # Types by name or pattern. The exact name counts, or else the first match; `auto` for other
    # fields.
    types: Mapping[str, FieldType] = field(default_factory=dict)
    null_values: Sequence[str] = NULLS  # texts that mean a missing value, as null does
    time_features: Sequence[str] = ()  # inputs made of the event's time, among `TIME_FEATURES`
    notation: Notation = USUAL  # how texts write numbers and dates
    # The field of how much the event counts when it is learned. None: all count the same.
    weight_field: str | None = None
    # inputs made of the values that columns had some records before: these numbers of records, by
    # column
    lags: Mapping[str, Sequence[int]] = field(default_factory=dict)
    # inputs made of the means of columns over the last records: these numbers of records
    rolling_means: Mapping[str, Sequence[int]] = field(default_factory=dict)
    # the fields that tell several series of one stream apart; none: the stream is one series
    series: Sequence[str] = ()
    # inputs made of several fields together, `zone*hour`: a category for each combination
    crosses: Sequence[str] = ()
    # the time zone of hours, weekdays and days of the year, such as `Europe/Berlin`
    time_zone: str = "UTC"
    # whether the target's value is an input, too, as in forecasts: their label is a later value
    target_is_input: bool = False

    def __post_init__(self) -> None:
        roles = [name for name in self._roles if name]
        for name in roles:
            if roles.count(name) > 1:
                raise ValueError(
                    f"{name!r} can't be two of target, id_field, time_field and weight_field"
                )
        for name in self.series:
            if name in roles:
                raise ValueError(f"series: {name!r} has another role and can't tell series apart")
        for name, kind in self.types.items():
            check_type(name, kind)
        for cross in self.crosses:
            parts = cross.split(CROSS)
            if len(parts) < _PARTS or "" in parts or len(set(parts)) < len(parts):
                raise ValueError(
                    f"crosses: {cross!r} must name two or more different fields, such as zone*hour"
                )
        time_zone_of(self.time_zone)
        for name in self.time_features:
            if name not in TIME_FEATURES:
                raise ValueError(f"time_features: {name!r} is not among {', '.join(TIME_FEATURES)}")
        for setting, columns in (("lags", self.lags), ("rolling_means", self.rolling_means)):
            for name in columns:
                self._check_series(setting, name)

    def _check_series(self, setting: str, name: str) -> None:
        if not self.is_feature(name):
            remedy = (
                "set horizon, so that the label is a later value of it"
                if name == self.target
                else "name it in features, and not in ignore"
            )
            raise ValueError(f"{setting}: {name!r} is not an input: {remedy}")
        if (kind := self.type_of(name)) in ("category", "text"):
            raise ValueError(f"{setting}: {name!r} has the type {kind} (types); take it out")

    @property
    def time_parts(self) -> tuple[str, ...]:
        """The fields of the time: `date + time` are two, joined by a blank."""
        return tuple(self.time_field.split(JOIN)) if self.time_field else ()

    @cached_property
    def durations(self) -> dict[str, str]:
        """The fields whose input is the time since another field, and that field."""
        named = {name: kind for name, kind in self.types.items() if kind.startswith(SINCE)}
        return {name: kind.removeprefix(SINCE) for name, kind in named.items()}

    @property
    def time_type(self) -> FieldType:
        """The type of the time: `time`, or one with a form."""
        kind = self.types.get(self.time_field or "", "time")
        return kind if kind.startswith("time") else "time"

    @property
    def _roles(self) -> tuple[str | None, ...]:
        return self.target, self.id_field, self.weight_field, *self.time_parts

    def is_feature(self, name: str) -> bool:
        """Return whether a field is an input."""
        if name in self._roles:
            return name == self.target and self.target_is_input
        return matches(name, self.features) and not matches(name, self.ignore)

    def type_of(self, name: str) -> FieldType:
        """Return the type of a field."""
        if name in self.types:
            return self.types[name]
        return next(
            (kind for pattern, kind in self.types.items() if matches(name, (pattern,))), "auto"
        )


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a field has one of these names or patterns."""
    return any(
        name == pattern
        or fnmatchcase(name, pattern)
        or name.startswith((f"{pattern}.", f"{pattern}="))
        for pattern in patterns
    )


RECORDS_KEY = "@key"
"""The name that means the key of the record itself, where settings name a field."""

N_RECORDS = 1_000
"""Records in which each named field should have occurred."""

_MOST_NAMES = 1_000
_MOST_LISTED = 10
_CONSEQUENCES = {
    "target": ", so no record has a label and nothing is learned",
    "id_field": ", so no record has an id",
    "time_field": ", so the time is that of the record",
    "weight_field": ", so all count the same",
    "aggregates": ", so those that need it are absent",
}
_SHORT = 2


class UnseenFields:
    """Warns of settings whose field did not occur in the first records, as misspelt ones do.

    Of records that are not `labelled`, `target`, its type and `weight_field` are not checked.
    `of_labels` says that they are labels of events in another log, `aggregated` which fields
    aggregates need.

    Examples
    --------
    >>> import warnings
    >>> from iln_stream.records.fields import FieldMapping
    >>> from iln_stream.records.fields import UnseenFields
    >>> unseen = UnseenFields(FieldMapping(target="Price"))
    >>> unseen.see(["rooms", "price"])
    >>> unseen.passed(has_time=True)
    False
    >>> with warnings.catch_warnings(record=True) as given:
    ...     unseen.finish()
    >>> print(given[0].message)
    target = 'Price': no record of 1 has such a field, so no record has a label and nothing is \
learned; did you mean 'price'?

    """

    def __init__(
        self,
        mapping: FieldMapping,
        *,
        labelled: bool = True,
        of_labels: bool = False,
        aggregated: Iterable[str] = (),
    ) -> None:
        self._where = "labels: " if of_labels else ""
        target = mapping.target
        ours = labelled or target is None
        named: dict[str, Iterable[str | None]] = {
            "target": [target if labelled else None],
            "id_field": [mapping.id_field],
            "time_field": mapping.time_parts,
            "weight_field": [mapping.weight_field if labelled else None],
            "features": mapping.features,
            "ignore": mapping.ignore,
            "types": (n for n in mapping.types if ours or not matches(target or "", (n,))),
            "lags": mapping.lags,
            "rolling_means": mapping.rolling_means,
            "aggregates": aggregated,
            "crosses": (p for c in mapping.crosses for p in c.split(CROSS) if p not in CALENDAR),
        }
        self._pending = [(setting, name) for setting in named for name in named[setting] if name]
        if (of_time := ("types", mapping.time_field or "")) in self._pending:
            self._pending.remove(of_time)  # it may be several fields
        self._time_features = mapping.time_features  # until a record has a time
        self._names: dict[str, None] = {}
        self._n = 0

    def see(self, names: Sequence[str]) -> None:
        """Take names of a record's fields; names that came before may be left out."""
        self._pending = [
            (setting, name)
            for setting, name in self._pending
            if name not in names
            and (setting in _CONSEQUENCES or not any(matches(each, (name,)) for each in names))
        ]
        room = _MOST_NAMES - len(self._names)
        self._names.update(dict.fromkeys(names[: max(0, room)]))

    def passed(self, has_time: bool) -> bool:
        """Count a record, warn after the last of `N_RECORDS`, and return whether that was all."""
        self._n += 1
        if has_time:
            self._time_features = ()
        if self._n >= N_RECORDS:
            self.finish()
        return not (self._pending or self._time_features)

    def finish(self) -> None:
        """Warn now, as there are no further records to check."""
        if self._n == 0:
            return
        n = f"of the first {self._n:,}" if self._n >= N_RECORDS else f"of {self._n:,}"
        for setting, name in self._pending:
            _warn(
                f"{self._where}{setting} = {name!r}: no record {n} has such a field"
                f"{_CONSEQUENCES.get(setting, '')}; {self._remedy(setting, name)}"
            )
        if self._time_features:
            _warn(
                f"time_features = {','.join(self._time_features)!r}: no record {n} has a time, so "
                "there are no such inputs; name the field of the time in time_field"
            )
        self._pending, self._time_features = [], ()

    def _remedy(self, setting: str, name: str) -> str:
        """Return the field that may be meant, or those that records have."""
        meant = {each.lower(): each for each in reversed(self._names)}
        for each in reversed(self._names):
            meant.setdefault(each.lower().rpartition(".")[2], each)
        cutoff = 1.0 if len(name) <= _SHORT else 0.6  # "by" is not meant by "y"
        for close in get_close_matches(name.lower(), meant, n=1, cutoff=cutoff):
            return f"did you mean {meant[close]!r}?"
        listed = ", ".join(list(self._names)[:_MOST_LISTED]) or "no field"
        more = ", ..." if len(self._names) > _MOST_LISTED else ""
        none = (
            '; if labels have no time, set time_field = "" in labels_settings'
            if self._where and "time" in setting
            else ""
        )
        later = ", unless labels come later" if setting == "target" else ""
        return f"correct {setting}{later}: the records have {listed}{more}{none}"


def _warn(message: str) -> None:
    warnings.warn(message, IlnWarning, stacklevel=2)


def late_labels(
    records: Iterable[Mapping[str, Any]], target: str | None, nulls: Collection[str]
) -> tuple[str, str] | None:
    """Return id and label, if labels are records of their own among those of the events.

    `target` is the label, if it is known; `nulls` are texts that mean a missing value.

    >>> from iln_stream.records.fields import late_labels
    >>> clicks = [{"id": i, "ad": 7} for i in "abc"] + [{"id": i, "paid": 1.5} for i in "bac"]
    >>> late_labels(clicks, None, [])
    ('id', 'paid')

    """
    records = [{n: v for n, v in each.items() if not is_missing(v, nulls)} for each in records]
    shapes = Counter(map(frozenset, records))
    common = frozenset[str].intersection(*shapes) if len(shapes) > 1 else frozenset[str]()
    if target is None:
        own = list(shapes)[-1] - common  # labels come after their events
        target = min(own) if len(own) == 1 else None
    if target is None or not common:
        return None
    labels = [each for each in records if target in each]
    events = [each for each in records if target not in each]
    counts = Counter(name for each in events for name in each)
    inputs = {n for n, k in counts.items() if n not in common and k >= _USUAL * len(events)}
    if not labels or not inputs or any(name in each for each in labels for name in inputs):
        return None
    found = {
        name: _texts(events, name).get(name, set()) & _texts(labels, name).get(name, set())
        for name in common
    }
    name = max(sorted(found), key=lambda name: (len(found[name]), name not in WORDS["times"]))
    n = len(found[name])
    return (name, target) if n >= _MET and 2 * n > min(len(labels), len(events)) else None


def ids_of_labels(
    records: Sequence[Mapping[str, Any]], nulls: Collection[str]
) -> tuple[str, str] | None:
    """Return the ids of events and of labels among them, if they have different names.

    >>> from iln_stream.records.fields import ids_of_labels
    >>> clicks = [{"id": i, "ad": 7} for i in "abc"] + [{"of": i, "paid": 1.5} for i in "bac"]
    >>> ids_of_labels(clicks, [])
    ('id', 'of')

    """
    records = [{n: v for n, v in each.items() if not is_missing(v, nulls)} for each in records]
    shapes = [*dict.fromkeys(map(frozenset, records))]
    common = frozenset[str].intersection(*shapes) if len(shapes) > 1 else frozenset[str]()
    for shape in shapes[: -_LATEST_SHAPES - 1 : -1]:  # labels come after their events
        own = shape - common
        labels = [{n: each[n] for n in own} for each in records if own <= each.keys()]
        events = [
            {n: v for n, v in each.items() if n not in shape}
            for each in records
            if own.isdisjoint(each)
        ]
        if len(own) > 1 and min(map(len, events), default=0) > 1:  # ids, and label or inputs
            of_events, of_labels = ids = common_field(events, labels) or ("", "")
            theirs = _texts(labels, of_labels).get(of_labels, set())
            found = _texts(events, of_events).get(of_events, set()) & theirs
            if len(found) >= max(_MET, _USUAL * len(theirs)):
                return ids
    return None


_LATEST_SHAPES = 5
"""Sets of fields that may be those of labels."""

_MET = 3
"""Labels that meet their event, so that no gaps of a short file are taken for late labels."""

_USUAL = 0.8
"""Share of events that have an input which labels of their own lack."""

_LEAST = 0.5
"""Share of different values, so that a number of bags is not taken for an id."""


def common_field(
    events: Sequence[Mapping[str, Any]],
    labels: Sequence[Mapping[str, Any]],
    of_events: str | None = None,
    of_labels: str | None = None,
) -> tuple[str, str] | None:
    """Return the field of events and the field of labels that have the most values in common.

    `of_events` and `of_labels` are these fields, if they are known.

    >>> from iln_stream.records.fields import common_field
    >>> orders = [{"order": 7, "bags": 1}, {"order": 8, "bags": 2}]
    >>> common_field(orders, [{"for": "8", "minutes": 31}, {"for": "9", "minutes": 30}])
    ('order', 'for')

    """
    in_events, in_labels = _texts(events, of_events), _texts(labels, of_labels)
    common = {
        (a, b): len(values & others)
        for a, values in in_events.items()
        for b, others in in_labels.items()
    }
    best = max(common, key=lambda pair: common[pair], default=None)
    return best if best is not None and common[best] else None


def _texts(records: Sequence[Mapping[str, Any]], only: str | None) -> dict[str, set[str]]:
    """Return the different values of each field, as ids have them, if most are different."""
    found: dict[str, list[str]] = {}
    for record in records:
        for name, value in record.items():
            if only in (None, name) and type(value) in (int, str, float) and value == value:
                found.setdefault(name, []).append(as_text(value))
    values = {name: set(texts) for name, texts in found.items()}
    return {name: v for name, v in values.items() if only or len(v) >= _LEAST * len(found[name])}
