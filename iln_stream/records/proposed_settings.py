"""Settings that learn records, proposed from their fields."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from iln_stream.records.decoding import shorten
from iln_stream.records.fields import JOIN
from iln_stream.records.guessed_notation import look_like_dates
from iln_stream.records.inspected import Field, Why
from iln_stream.records.values import NULLS, Notation, is_number

_ROLES = (
    ("target", "label"), ("id_field", "id"), ("time_field", "time"), ("weight_field", "weight"),
)  # fmt: skip
_BY_WHY = {
    Why.HARDLY: "target = {name} has texts that hardly repeat, such as {low}: they are neither "
    "numbers nor classes. Name another target, or the type of its numbers (types).",
    Why.DIGITS: "target = {name} has {e.n_distinct} classes, such as {low}: if they are numbers, "
    "write them without further marks, in one unit.",
    Why.SPELLINGS: "target = {name} has {e.why} alone: write each in one way.",
    Why.VARIANTS: "{name} has {e.why} alone: write each in one way.",
    Why.LABEL_BY_NAME: "target = {name} is the label {e.why}.{others}",
    Why.LABEL_BY_GUESS: "target = {name} is {e.why}, as no name says which is the label.{others}",
    Why.DATES: "{name} has dates with the year last, such as {low}: set date_order to dmy (day "
    "first) or mdy (month first), and time_field or types. If a spreadsheet has swapped both in "
    "some of them, correct these first.",
    Why.UNJOINED: "{name} is taken as a number, such as {low}: if it is the time of day of a date "
    "in another field, write it as 14:30, and name both in time_field.",
    Why.UNREAD: "{name} looks like times that are not read, such as {low}: name their form, as of "
    'strptime, in types ("time %d.%m.%Y %H:%M"), and the field in time_field.',
    Why.TIME_AS_NUMBER: "{name} is taken as a number, such as {low}, though it is named like a "
    'time: if it is one, name its form in types ("time %Y%m%d", "time hours since 1970-01-01"), '
    "and the field in time_field.",
    Why.CALENDAR: "{name} has times such as {low}, of years far from ours: if they are of another "
    "calendar, or their digits are not read as they are meant, correct them at the sender.",
    Why.PERCENT: "{name} has numbers with % and numbers without, which are read alike: write all "
    "in one way if 5% and 0.05 are the same.",
    Why.QUALITY: "{name} says which records are bad, it seems: if their values should not be "
    "learned, leave them out (where).",
    Why.ROUNDED: "{name} has times that a spreadsheet has rounded to hours or more: export the "
    "column as numbers without an exponent.",
    Why.JSON: "{name} is ignored, as its texts are JSON: a decoder can read them (decoder).",
    Why.CLASS_OR_NULL: "{name} is {e.sentinel} in many records: that is a class, or no value if it "
    "is among null_values.",
    Why.TOTALS: "{name} has totals or averages among its values: such rows are learned as others "
    "are; leave them out (where).",
    Why.NEWEST_FIRST: "{name} falls from record to record: `run` learns in the order of the file, "
    "and refuses one with the newest first: sort it by time.",
    **dict.fromkeys(
        (Why.SOME_NUMBERS, Why.OTHER_DECIMALS, Why.DIFFERENT_UNITS, Why.ALSO_TEXTS),
        "{name} is no number ({e.why}), such as {low}: write its numbers in one way, with one "
        "unit, list texts without a number among null_values, and it is.",
    ),
    Why.FREE: "{name} is ignored, as it is free text: if its words matter, take it out of ignore "
    'and give it the type "text" (types).',
    Why.COPY: "{name} says what the label says (they are correlated): add it to ignore if it "
    "becomes known with the label.",
}
"""What to say of a field by why it has its role."""

_REMARKS: dict[str, Callable[[Field], Any]] = {
    "{name} is always {low} in the {n_read:,} records that were read: read more (--records), or "
    "name another target.": lambda e: (
        e.role == "label" and e.n_distinct == 1 < e.n and e.why != Why.CLASS_OR_NULL
    ),
    "{name} has no value in {e.n_missing:,} records, which are only predicted: if that is the "
    "other class, write it out.": lambda e: e.role == "label" and e.n_distinct == 1 and e.n_missing,
    "{name} has {e.n_distinct} different whole numbers: if they are classes, set learner = "
    '"infinite-layer-classifier".': lambda e: (
        e.role == "label" and e.maybe_code and not e.is_class and e.n_distinct > 1
    ),
    "{name} is the id, and {n_again:,} of {e.n:,} values came before: with recent_ids, a record "
    "whose id came lately is not learned again. If they are no repeats, take out id_field and "
    "recent_ids.": lambda e: e.role == "id" and e.repeats,
    "{name}: {e.n_odd} of {e.n} values are no {kinds}, the first is {odd}. Their records become "
    "dead letters: {advice}.": lambda e: e.n_odd and e.role in ("input", "label", "time"),
    "{name} has marks that are always before three digits, and are read as those of {e.grouped}: "
    "if that is wrong, give decimal the other one of . and ,": lambda e: (
        e.grouped and e.is_number and e.role in ("input", "label")
    ),
    "{name} {e.note}": lambda e: e.note and e.role in ("input", "label"),
}
"""What else to say, of which fields."""

_CODES = {
    Why.BY_NAME: "Numbers taken as categories, a guess from their names: {named}. If they "
    'are quantities, give them the type "number".',
    Why.BY_LABELS: "Whole numbers taken as categories, as neighbours differ as much as others: "
    '{named}. If they are quantities, give them the type "number".',
    Why.NEW_BY_NAME: "Whole numbers ignored as ids, a guess from their names: {named}, of which "
    "hardly one comes again. If they are quantities, take them out of ignore, and give them the "
    'type "number".',
}
"""What to say of all fields together that are codes by their names."""

_MOST_NAMES = 10
_MOST_CHARACTERS = 40


def proposed(fields: Sequence[Field], given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the settings that learn records with these fields.

    All settings of fields that are `given` are returned; guesses complete them.
    """
    given = {name: value for name, value in (given or {}).items() if value is not None}
    by_role = {each.role: each.name for each in fields}
    settings: dict[str, Any] = {name: by_role[role] for name, role in _ROLES if role in by_role}
    guessed = [each for each in fields if each.why != Why.AS_GIVEN]
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
    types = {
        settings["time_field"] if each.role == "time" else each.name: each.type
        for each in guessed
        if each.type != "auto"
    }
    if types := {**given.get("types", {}), **types}:
        settings["types"] = types
    classes = {e.sentinel for e in fields if e.why == Why.CLASS_OR_NULL and e.n_distinct == 1}
    nulls = [*(text for text in NULLS if text not in classes), *sentinels_of(fields)]
    if "null_values" not in given and nulls != [*NULLS]:
        settings["null_values"] = nulls
    return settings


def sentinels_of(fields: Sequence[Field]) -> list[str]:
    """Return numbers that stand for missing values, and are no values of other fields.

    A number that people take for it is negative, or written with nines alone: -200, -999, 9999.
    """
    texts = dict.fromkeys(each.sentinel or "" for each in _marked(fields))
    return [text for text in texts if not is_number(text) or _is_null(text, fields)]


def _marked(fields: Iterable[Field]) -> list[Field]:
    """Return the fields with a value that may mean a missing one."""
    roles = ("input", "label", "time")
    given = [each for each in fields if each.sentinel and each.role in roles]
    return [each for each in given if each.why != Why.CLASS_OR_NULL]


def _is_null(number: str, fields: Iterable[Field]) -> bool:
    """Whether a number looks like a missing value, and is between no field's ordinary values."""
    others = [each for each in fields if each.is_number and each.apart != number]
    used = [each for each in others if each.role in ("input", "label")]
    looks_so = number[0] == "-" or set(number) == {"9"}
    return looks_so and not any(each.low <= float(number) <= each.high for each in used)


def remarks(
    fields: Sequence[Field],
    given: Mapping[str, Any] | None = None,
    n_read: int = 0,
    *,
    labels_by_id: bool = False,
) -> list[str]:
    """Return a line for each guess of a proposal, of so many records, that somebody has to check.

    With `labels_by_id`, an id comes twice: with the event and with its label.
    """
    numbers = [as_toml(each.name) for each in fields if each.role == "input" and each.is_number]
    taken = () if "null_values" in (given or {}) else sentinels_of(fields)
    rules = [(text, lambda e, why=why: e.why.startswith(why)) for why, text in _BY_WHY.items()]
    found = [
        text.format(
            e=each,
            name=as_toml(each.name),
            low=as_toml(each.low),
            others=f" Other numbers: {_listed(numbers)}." if numbers else "",
            n_read=n_read,
            n_again=each.n - each.n_distinct,
            kinds="times" if each.role == "time" else "numbers",
            odd=as_toml(shorten(str(each.odd), _MOST_CHARACTERS)),
            advice=_advice(each),
        )
        for text, applies in (*rules, *_REMARKS.items())
        for each in fields
        if applies(each) and not (labels_by_id and each.role == "id")
    ]
    for why, text in _CODES.items():
        if named := [
            f"{as_toml(e.name)} ({e.n_distinct:,} values)" for e in fields if e.why == why
        ]:
            found.append(text.format(named=_listed(named)))
    marked = _marked(fields)
    for sentinel in dict.fromkeys(each.sentinel for each in marked):
        names = [as_toml(each.name) for each in marked if each.sentinel == sentinel]
        null = (
            "null_values says that it is missing; take it out if it is a value"
            if sentinel in taken
            else "if it means a missing value, add it to null_values"
        )
        are = "is" if len(names) == 1 else "are"
        found.append(f"{_listed(names)} {are} {sentinel} at times, unlike others: {null}.")
    if codes := [each.name for each in fields if each.maybe_code and each.role == "input"]:
        types = ", ".join(f'{as_toml(name)} = "category"' for name in codes)
        found.append(
            "Few different whole numbers: counts, or codes? If they are codes, add to types: "
            + types
        )
    return found


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def as_toml(value: Any) -> str:
    """Return a value as TOML, on one line; texts and lists are written as in JSON."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{as_toml(k)} = {as_toml(v)}' for k, v in value.items())} }}"
    if isinstance(value, datetime):
        value = value.isoformat()
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _advice(field: Field) -> str:
    """Return what to do with values that are no numbers or times."""
    if field.role == "time" and look_like_dates([str(field.odd)]):
        return "set date_order to dmy (day first) or mdy (month first); other times stay the same"
    if field.role != "time" and any(is_number(str(field.odd), Notation(mark)) for mark in ".,"):
        advice = (
            "some numbers have a decimal comma and some a dot; write all of them in one way at the "
            "sender or in a decoder"
        )
    else:
        advice = "correct them at the sender, or list such a text among null_values"
    return f"{advice}, or give the field the type category" if field.role == "input" else advice
