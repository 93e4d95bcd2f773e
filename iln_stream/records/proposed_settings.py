"""Settings that learn records, proposed from their fields."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from iln_stream.records.fields import JOIN
from iln_stream.records.inspection import (
    ALSO_TEXTS,
    AS_GIVEN,
    BY_NAME,
    COPY,
    DATES,
    DIFFERENT_UNITS,
    HARDLY,
    LABEL_BY_NAME,
    NEW_BY_NAME,
    NEWEST_FIRST,
    OTHER_DECIMALS,
    SOME_NUMBERS,
    UNREAD,
    Field,
    look_like_dates,
)
from iln_stream.records.values import NULLS, Notation, is_number

_ROLES = (
    ("target", "label"), ("id_field", "id"), ("time_field", "time"), ("weight_field", "weight"),
)  # fmt: skip
_REMARKS: dict[str | tuple[str, ...], str] = {
    DATES: "has dates with the year last, such as {low}: set date_order to dmy (day first) or mdy "
    "(month first), and time_field or types",
    UNREAD: "looks like times that are not read, such as {low}: name their form, as of strptime, "
    'in types ("time %d.%m.%Y %H:%M"), and the field in time_field',
    NEWEST_FIRST: "falls from record to record: `run` learns in the order of the file, and refuses "
    "one with the newest first: sort it by time",
    (
        SOME_NUMBERS,
        OTHER_DECIMALS,
        DIFFERENT_UNITS,
        ALSO_TEXTS,
    ): "is no number ({why}), such as {low}: write its "
    "numbers in one way, with one unit, list texts without a number among null_values, and it is",
    COPY: "says what the label says (they are correlated): add it to ignore if it becomes known "
    "with the label",
}
"""What to say of an input, or of an ignored field, by why it is one."""

_CODES = {
    BY_NAME: "Whole numbers taken as categories, a guess from their names: {named}. If they are "
    'quantities, give them the type "number".',
    NEW_BY_NAME: "Whole numbers ignored as ids, a guess from their names: {named}, of which hardly "
    "one comes again. If they are quantities, take them out of ignore, and give them the type "
    '"number".',
}
"""What to say of all fields together that are codes by their names."""

_MOST_NAMES = 10
_MOST_CHARACTERS = 40


def proposed(fields: Sequence[Field], given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the settings that learn records with these fields.

    Parameters
    ----------
    fields
        What `inspect_fields` found.
    given
        Settings of fields that are given. All are returned; guesses complete them.

    """
    given = {name: value for name, value in (given or {}).items() if value is not None}
    by_role = {each.role: each.name for each in fields}
    settings: dict[str, Any] = {name: by_role[role] for name, role in _ROLES if role in by_role}
    guessed = [each for each in fields if each.why != AS_GIVEN]
    times = sorted((each for each in fields if each.role == "time"), key=lambda each: each.place)
    if times:
        settings["time_field"] = JOIN.join(each.name for each in times)
        if times[0].features:
            settings["time_features"] = list(times[0].features)
    ignored = [each.name for each in guessed if each.role == "ignored"]
    if "time_features" not in settings and not any(each.role == "input" for each in fields):
        # With an id and without inputs, a record would be the label of an earlier event.
        ignored += [name for name in [settings.pop("id_field", None)] if name]
    settings.update(given)
    if ignore := [*given.get("ignore", ()), *ignored]:
        settings["ignore"] = ignore
    types = {each.name: each.type for each in guessed if each.type != "auto"}
    if types := {**given.get("types", {}), **types}:
        settings["types"] = types
    if "null_values" not in given and (sentinels := sentinels_of(fields)):
        settings["null_values"] = [*NULLS, *sentinels]
    return settings


def sentinels_of(fields: Sequence[Field]) -> list[str]:
    """Return numbers that stand for missing values, and are no values of other fields.

    A number that people take for it is negative, or written with nines alone: -200, -999, 9999.
    """
    found = {e.sentinel: e for e in fields if e.sentinel and e.role in ("input", "label")}
    return [
        text
        for text in found
        if (text[0] == "-" or set(text) == {"9"}) and not any(_has(each, text) for each in fields)
    ]


def _has(field: Field, text: str) -> bool:
    """Whether a number is between the ordinary values of a field."""
    if not field.is_number or field.apart == text or field.role not in ("input", "label"):
        return False
    return bool(field.low <= float(text) <= field.high)


def remarks(
    fields: Sequence[Field], given: Mapping[str, Any] | None = None, *, labels_by_id: bool = False
) -> list[str]:
    """Return a line for each guess of a proposal that somebody has to check.

    With `labels_by_id`, an id comes twice: with the event and with its label.
    """
    learned = [each for each in fields if each.role in ("input", "label")]
    labels = [each for each in fields if each.role == "label"]
    found = [_of_label(each, fields) for each in labels if each.why]
    found += [text for each in labels if (text := _of_values(each))]
    if not labels_by_id:
        found += [_of_id(each) for each in fields if each.role == "id" and each.repeats]
    found += [_of_odd_values(e) for e in fields if e.n_odd and (e in learned or e.role == "time")]
    found += [
        f"{as_toml(each.name)} {text.format(low=as_toml(each.low), why=each.why)}."
        for each in fields
        for whys, text in _REMARKS.items()
        if each.role != "label" and each.why.startswith(whys)
    ]
    found += [
        f"{as_toml(each.name)} has marks that are always before three digits, and are read as "
        f"those of {each.grouped}: if that is wrong, give decimal the other one of . and ,"
        for each in learned
        if each.grouped and each.is_number
    ]
    taken = () if "null_values" in (given or {}) else sentinels_of(fields)
    found += [_of_sentinel(each, each.sentinel in taken) for each in learned if each.sentinel]
    for why, text in _CODES.items():
        if named := [
            f"{as_toml(e.name)} ({e.n_distinct:,} values)" for e in fields if e.why == why
        ]:
            found.append(text.format(named=_listed(named)))
    if codes := [each.name for each in fields if each.maybe_code and each.role == "input"]:
        types = ", ".join(f'{as_toml(name)} = "category"' for name in codes)
        found.append(
            "Few different whole numbers: counts, or codes? If they are codes, add to types: "
            + types
        )
    return found


def _of_sentinel(field: Field, is_taken: bool) -> str:
    advice = (
        "null_values says that it is missing; take it out if it is a value"
        if is_taken
        else "if it means a missing value, add it to null_values"
    )
    return (
        f"{as_toml(field.name)} is {field.sentinel} again and again, far from its other values: "
        f"{advice}."
    )


def _listed(names: Sequence[str]) -> str:
    """Return the first names, and how many there are more."""
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def as_toml(value: Any) -> str:
    """Return a value as TOML, on one line; texts and lists are written as in JSON."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{as_toml(k)} = {as_toml(v)}' for k, v in value.items())} }}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _of_label(label: Field, fields: Sequence[Field]) -> str:
    text = f"target = {as_toml(label.name)}"
    if label.why == HARDLY:
        return (
            f"{text} has texts that hardly repeat, such as {as_toml(str(label.low))}: they are "
            "neither numbers nor classes. Name another target, or the type of its numbers (types)."
        )
    by_name = label.why == LABEL_BY_NAME
    guess = f"{label.why}, as no name says which is the label"
    text += f" is the label {LABEL_BY_NAME}." if by_name else f" is {guess}."
    others = [each.name for each in fields if each.role == "input" and each.is_number]
    return f"{text} Other numbers: {_listed([*map(as_toml, others)])}." if others else text


def _of_values(label: Field) -> str:
    """Return what to say of a label of few values; empty: nothing."""
    name = as_toml(label.name)
    if label.n_distinct == 1 and sum(label.kinds.values()) > 1:
        return (
            f"{name} is always {as_toml(label.low)} in the records that were read: read more "
            "(--records), or name another target."
        )
    if label.maybe_code and not label.is_class:
        return (
            f"{name} has {label.n_distinct} different whole numbers: if they are classes, set "
            'learner = "infinite-layer-classifier".'
        )
    return ""


def _of_id(field: Field) -> str:
    n = sum(field.kinds.values())
    return (
        f"{as_toml(field.name)} is the id, and {n - field.n_distinct:,} of {n:,} values came "
        "before: with recent_ids, a record whose id came lately is not learned again. If they are "
        "no repeats, take out id_field and recent_ids."
    )


def _of_odd_values(field: Field) -> str:
    n, of = field.n_odd, sum(field.kinds.values())
    odd = str(field.odd)
    shown = as_toml(odd if len(odd) <= _MOST_CHARACTERS else f"{odd[: _MOST_CHARACTERS - 3]}...")
    kind = "times" if field.role == "time" else "numbers"
    if field.role == "time" and look_like_dates([odd]):
        advice = "set date_order to dmy (day first) or mdy (month first); other times stay the same"
    elif field.role != "time" and any(is_number(odd, Notation(mark)) for mark in ".,"):
        advice = (
            "some numbers have a decimal comma and some a dot; write all of them in one way at the "
            "sender or in a decoder"
        )
    else:
        advice = "correct them at the sender, or list such a text among null_values"
    if field.role == "input":
        advice += ", or give the field the type category"
    return (
        f"{as_toml(field.name)}: {n} of {of} values are no {kind}, the first is {shown}. Their "
        f"records become dead letters: {advice}."
    )
