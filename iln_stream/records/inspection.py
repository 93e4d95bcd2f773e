"""Guessing the mapping of records from the first of them."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import Any, Literal, NamedTuple

from iln_stream.records.fields import FieldMapping
from iln_stream.records.parsing import INDICATOR, flatten
from iln_stream.records.values import (
    NULLS,
    USUAL,
    DateOrder,
    FieldType,
    Notation,
    is_boolean,
    is_number,
    posix_seconds,
)

_DATE = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2\d{4}\b.*")
_NO_THOUSANDS = re.compile(r",(\d{0,2}|\d{4,})$")
_WITH_COMMA = Notation(decimal=",")

MOSTLY = 0.8
"""Share of numbers or times from which a field is one of them; a few odd texts, as those of
subtotals, change nothing."""


def guessed_notation(records: Iterable[Mapping[str, Any]]) -> Notation:
    """Return how the texts of flat records write numbers and dates.

    A decimal comma needs a field in which most texts are such numbers, and not all may be ones
    with a comma between thousands. The order of day and month needs a field of mostly dates in
    which one of them is above 12, or dots, which stand after the day.

    Examples
    --------
    >>> from iln_stream.records.inspection import guessed_notation
    >>> guessed_notation([{"temp": "21,5", "day": "31.12.2026"}, {"temp": "3", "day": "1.1.2027"}])
    Notation(decimal=',', date_order='dmy')

    """
    texts: dict[str, list[str]] = {}
    for record in records:
        for name, value in record.items():
            if isinstance(value, str) and value.strip() not in NULLS:
                texts.setdefault(name, []).append(value.strip())
    decimals = [_decimal(values) for values in texts.values()]
    orders = {_order(values) for values in texts.values()} - {None}
    return Notation(
        "," if decimals.count(",") > decimals.count(".") else ".",
        (orders.pop() if len(orders) == 1 else None) or "ymd",
    )


def _decimal(values: Sequence[str]) -> Literal[".", ","] | None:
    """Return what stands before decimals, if only one of comma and dot can."""
    n_with_comma = sum(_WITH_COMMA.number(value) is not None for value in values)
    n_usual = sum(USUAL.number(value) is not None for value in values)
    enough = MOSTLY * len(values)
    if n_with_comma >= max(enough, n_usual) and any(map(_NO_THOUSANDS.search, values)):
        return ","
    return "." if n_usual >= enough and n_usual > n_with_comma else None


def has_other_decimal_sign(text: str) -> bool:
    """Return whether a text that the notation does not read is a number in another one.

    >>> from iln_stream.records.inspection import has_other_decimal_sign
    >>> has_other_decimal_sign("20,5"), has_other_decimal_sign("20.5"), has_other_decimal_sign("x")
    (True, True, False)

    """
    return USUAL.number(text) is not None or _WITH_COMMA.number(text) is not None


def look_like_dates(values: Sequence[str]) -> bool:
    """Return whether most texts are dates with the year last: `01/02/2026`.

    >>> from iln_stream.records.inspection import look_like_dates
    >>> look_like_dates(["01/02/2026", "02/02/2026 14:30"])
    True

    """
    n = sum(_DATE.fullmatch(value.strip()) is not None for value in values)
    return n > 0 and n >= MOSTLY * len(values)


def _order(values: Sequence[str]) -> DateOrder | None:
    if not look_like_dates(values):
        return None
    dates = [found for value in values if (found := _DATE.fullmatch(value))]
    days_first = any(int(each[1]) > 12 for each in dates)
    months_first = any(int(each[3]) > 12 for each in dates)
    if days_first and months_first:
        return None
    if months_first:
        return "mdy"
    return "dmy" if days_first or all(each[2] == "." for each in dates) else None


Role = Literal["label", "input", "id", "time", "weight", "ignored"]

_LABELS = ("y", "target", "label", "class", "outcome", "price", "value", "sales", "demand")
_TIMES = ("timestamp", "time", "datetime", "date", "ts", "event_time", "created_at", "at", "when")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
"""A word of a name: machine_no, machineNo and machine.no have two."""
_CODES = {"code", "id", "plz", "postalcode", "postcode", "sku", "zip", "zipcode"}
_NUMBERS = {"nbr", "no", "nr"}
"""Last words of the names of whole numbers that are categories; the latter after another word."""
_NOT_NUMBERS = {"yes", "no2", "nox"}
"""Names beside which `no` means the answer or the gas."""
_IDS = re.compile(r"(^|_)(id|uuid|guid|key|tx|txn|txid|transaction)$|[a-z](Id|ID|Uuid|UUID|Key)$")
"""Names of ids, if hardly a value repeats."""
_ID_DISTINCT = 0.95
"""Share of distinct values from which a field of such a name is the id: records may be repeated."""
LABEL_BY_NAME = "by its name"
"""Why a field with a usual name is the label."""

_FEW = 20
"""Records from which texts that do not repeat say something about the field."""
_REPEATING = 0.1
"""Share of values that occurred before, from which texts are categories."""
_NEW = "hardly a value repeats"
BY_NAME = "a code by its name"
"""Why a field of whole numbers is a category."""
NEW_BY_NAME = "a code by its name, and hardly a value repeats"
"""Why a field of whole numbers is ignored."""
_WORDS = 3
"""Words of a text from which it may be free text."""

DATES = "dates with day or month first"
"""Why a field is ignored whose dates can't be read."""

AS_GIVEN = "as given"
"""Why a field has a role or type that the settings name."""

_OLDEST, _LATEST = 3.15e8, 4.1e9
"""POSIX seconds that are taken as times: the years 1980 to 2099."""


class Field(NamedTuple):
    """What the records show of a field.

    Parameters
    ----------
    name
        Its dotted path.
    kinds
        How many values are of each kind: `number`, `boolean`, `text`, `number as text`, `boolean
        as text`, `bytes`, `list`.
    n_missing
        Records in which it is absent, null, or a text that means a missing value.
    n_distinct
        Number of different values.
    low, high
        Smallest and largest number; of texts, the most and the least frequent one.
    role
        What it probably is.
    type
        What its values should be taken as.
    why
        Why it is ignored, why its type is not what it looks like, or why it is taken for the label;
        empty otherwise.
    maybe_code
        Whether it is an input of few different whole numbers, which may be counts, or codes of
        categories.
    n_odd
        If it is a number: how many of its texts are no numbers. If it is the time: how many of its
        values are no times.
    odd
        The first of them.

    """

    name: str
    kinds: Mapping[str, int]
    n_missing: int
    n_distinct: int
    low: Any
    high: Any
    role: Role
    type: FieldType
    why: str = ""
    maybe_code: bool = False
    n_odd: int = 0
    odd: Any = ""

    @property
    def repeats(self) -> bool:
        """Whether a value came more than once."""
        return self.n_distinct < sum(self.kinds.values())

    @property
    def is_number(self) -> bool:
        """Whether most values are numbers, and the field is not taken as a category."""
        n_numbers = sum(self.kinds.get(kind, 0) for kind in _NUMERIC)
        n = sum(self.kinds.values())
        return n > 0 and n_numbers >= MOSTLY * n and self.type in ("auto", "number")


def inspect_fields(
    records: Iterable[Mapping[str, Any]], given: FieldMapping | None = None
) -> list[Field]:
    """Return what records show of their fields, with a guess of each field's role and type.

    Parameters
    ----------
    records
        Fields of some records, in order; a thousand are plenty.
    given
        What is known of the fields; guesses complete it. An empty `target` means that there is
        no label.

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
    for name in _absent_objects(values):
        del values[name]
    found = [
        _field(name, seen, n, given, _named_as_code(name, values)) for name, seen in values.items()
    ]
    return _as_given(_with_roles(found, values, n, given), given)


def _absent_objects(values: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the paths where some records have null and others an object or a list.

    They are no fields, and to ignore one would ignore all that is below it.
    """
    parents = {
        name[:end] for name in values for end, mark in enumerate(name) if end and mark in ".="
    }
    return [
        name for name in parents.intersection(values) if all(each is None for each in values[name])
    ]


def _with_roles(
    found: list[Field], values: Mapping[str, Sequence[Any]], n: int, given: FieldMapping
) -> list[Field]:
    """Return the fields with the roles that are given, and guesses of the others."""
    own = {given.target, given.id_field, given.time_field, given.weight_field}
    own |= set(given.features)  # those that are named are inputs
    not_ignored = FieldMapping(ignore=given.ignore)
    free = {each.name for each in found if not_ignored.is_feature(each.name)} - own
    times = [each.name for each in found if each.name in free and _is_time(each, values, given)]
    time = given.time_field or next(iter(times), None)
    found = _with_one(found, "time", time)
    found = [_with_odd_times(e, values[e.name], given) if e.role == "time" else e for e in found]
    ids = [each.name for each in found if each.name in free and _is_id(each, n)]
    found = _with_one(found, "id", given.id_field or next(iter(ids), None))
    found = _with_one(found, "weight", given.weight_field)
    if given.target is not None:
        return _with_one(found, "label", given.target)
    if given.features != FieldMapping().features:  # they are inputs, so none is the label
        of_features = FieldMapping(features=given.features)
        free = {name for name in free if not of_features.is_feature(name)}
    name, why = _possible_label([e for e in found if e.name in free and e.role == "input"])
    return _with_one(found, "label", name, why)


def _as_given(found: Sequence[Field], given: FieldMapping) -> list[Field]:
    """Return the fields with the ignored ones that are given."""
    return [
        each._replace(role="ignored", type="auto", why=AS_GIVEN, maybe_code=False)
        if each.role in ("input", "ignored") and not given.is_feature(each.name)
        else each
        for each in found
    ]


def _field(
    name: str, seen: Sequence[Any], n: int, given: FieldMapping, named_as_code: bool
) -> Field:
    present = [value for value in seen if not _is_missing(value, given.null_values)]
    pairs = [(value, _kind(value, given.notation)) for value in present]
    kinds = Counter(kind for _, kind in pairs)
    distinct = Counter(map(str, present))
    numbers = [_as_number(value, given.notation) for value, kind in pairs if kind in _NUMERIC]
    finite = [number for number in numbers if number is not None]
    mostly = 2 * len(finite) > len(present)
    low, high = (min(finite), max(finite)) if mostly else _extremes(distinct)
    whole = bool(numbers) and all(map(_is_whole, numbers))
    code = BY_NAME if whole and len(distinct) > 1 and named_as_code else ""
    if any(kind == "number as text" and _has_leading_zero(value) for value, kind in pairs):
        code = "leading zeros"
        low, high = _extremes(distinct)
    role, kind, why = _guess(present, n - len(present), kinds, len(distinct), code)
    if name in given.types or given.type_of(name) != "auto":
        role, kind, why = "input", given.type_of(name), AS_GIVEN
    elif role == "ignored" and name in given.features:
        role, why = "input", ""
    elif (
        role == "ignored"
        and given.notation.date_order == "ymd"
        and look_like_dates([value for value in present if isinstance(value, str)])
    ):
        why = DATES
    field = Field(name, kinds, n - len(present), len(distinct), low, high, role, kind, why)
    if odd := [value for value, kind in pairs if kind in _TEXTS]:
        is_number = field.type == "number" or field.is_number
        return field._replace(n_odd=len(odd), odd=odd[0]) if is_number else field
    is_open = role == "input" and field.is_number and why != AS_GIVEN
    few = 2 < len(distinct) <= min(_FEW, len(present) / 10)
    return field._replace(maybe_code=is_open and whole and few)


def _is_whole(number: float | None) -> bool:
    return number is None or number.is_integer()


def _named_as_code(name: str, names: Collection[str]) -> bool:
    """Whether whole numbers of this name are codes; `names` are those of all fields."""
    *others, last = [word.lower() for word in _WORD.findall(name)] or [""]
    if last not in _NUMBERS:
        return last in _CODES
    before = name[: -len(last)].lower()
    beside = {each.lower() for each in names}
    return bool(others) and not any(before + each in beside for each in _NOT_NUMBERS)


def _guess(
    present: Sequence[Any], n_missing: int, kinds: Counter[str], n_distinct: int, code: str
) -> tuple[Role, FieldType, str]:
    """Guess the role and type of a field; `code` says why its numbers are codes, if they are."""
    n = len(present)
    if not n or kinds["list"]:
        return "ignored", "auto", "no values" if not n else "a list or an object"
    if kinds["bytes"]:
        return "ignored", "auto", "bytes"
    if n_distinct == 1 and n >= _FEW and not n_missing:
        return "ignored", "auto", "always the same"
    is_new = n >= _FEW and n - n_distinct < _REPEATING * n
    if sum(kinds[kind] for kind in _NUMERIC) >= MOSTLY * n:
        if code and is_new:
            return "ignored", "auto", NEW_BY_NAME if code == BY_NAME else _NEW
        return ("input", "category", code) if code else _guess_of_numbers(kinds)
    if set(kinds) == {"boolean as text"}:
        return "input", "boolean", "booleans as text"
    if kinds["text"] and is_new:
        return "ignored", "auto", _NEW
    if n >= _FEW and n_distinct > n / 2 and _is_free_text(present):
        return "ignored", "auto", "free text"
    if kinds["number as text"]:
        return "input", "category", "numbers and other text"
    return "input", "auto", ""


def _guess_of_numbers(kinds: Counter[str]) -> tuple[Role, FieldType, str]:
    if n_odd := sum(kinds[kind] for kind in _TEXTS):
        return "input", "number", f"{n_odd} are no numbers"
    if kinds["number as text"]:
        return "input", "number", "numbers as text"
    return "input", "auto", ""


def _is_free_text(values: Sequence[Any]) -> bool:
    """Whether most values are texts of several words."""
    n = sum(isinstance(value, str) and len(value.split()) >= _WORDS for value in values)
    return n > len(values) / 2


def _is_time(each: Field, values: Mapping[str, Sequence[Any]], given: FieldMapping) -> bool:
    """Whether the values are times that mostly grow, or times with a usual name."""
    if not {"boolean", "list", "bytes"}.isdisjoint(each.kinds):
        return False
    present, times = _times(values[each.name], given)
    if not times or len(times) < MOSTLY * len(present):
        return False
    if not all(_OLDEST <= time <= _LATEST for time in times):
        return False
    ordered = sum(a <= b for a, b in pairwise(times)) >= 0.9 * (len(times) - 1)
    named = each.name.rpartition(".")[2].lower() in _TIMES
    return named or (ordered and each.n_distinct > 1)


def _times(seen: Sequence[Any], given: FieldMapping) -> tuple[list[Any], list[float]]:
    """Return the values that are not missing, and the times among them as POSIX seconds."""
    present = [value for value in seen if not _is_missing(value, given.null_values)]
    return present, [time for value in present if (time := _time(value, given)) is not None]


def _time(value: Any, given: FieldMapping) -> float | None:
    try:
        return posix_seconds(value, given.notation.date_order)
    except (ValueError, TypeError, OverflowError):
        return None


def _with_odd_times(field: Field, seen: Sequence[Any], given: FieldMapping) -> Field:
    """Return the field of the time with its values that are no times."""
    present, _ = _times(seen, given)
    odd = [value for value in present if _time(value, given) is None]
    return field._replace(n_odd=len(odd), odd=odd[0] if odd else "")


def _is_id(each: Field, n: int) -> bool:
    if each.role == "time" or each.n_missing or each.n_distinct < _ID_DISTINCT * n or n < 2:
        return False
    last = each.name.rpartition(".")[2]
    whole = all(isinstance(value, int | str) for value in (each.low, each.high)) or (
        float(each.low).is_integer() and float(each.high).is_integer()
    )
    return whole and any(_IDS.search(name) for name in (last, last.lower()))


def _possible_label(free: Sequence[Field]) -> tuple[str | None, str]:
    """Return the name of the label, and why."""
    for usual in _LABELS:
        for each in free:
            if each.name.rpartition(".")[2].lower() == usual:
                return each.name, LABEL_BY_NAME
    if numbers := [each.name for each in free if each.is_number]:
        return numbers[-1], "a guess: the last number"
    if free:
        return free[-1].name, "a guess: the last field"
    return None, ""


def _with_one(found: Sequence[Field], role: Role, name: str | None, why: str = "") -> list[Field]:
    """Return the fields with this role for the one of this name."""
    return [
        each._replace(role=role, type="auto", why=why, maybe_code=False)
        if each.name == name
        else each
        for each in found
    ]


_NUMERIC = {"number", "number as text"}
_TEXTS = {"text", "boolean as text"}


def _kind(value: Any, notation: Notation) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        if is_number(value, notation):
            return "number as text"
        return "boolean as text" if is_boolean(value) else "text"
    return "bytes" if isinstance(value, bytes) else "list"


def _is_missing(value: Any, nulls: Collection[str]) -> bool:
    if isinstance(value, str):
        return value.strip() in nulls
    return value is None or value != value


def _as_number(value: Any, notation: Notation) -> float | None:
    number: Any = notation.number(value) if isinstance(value, str) else value
    try:
        number = float(number)
    except OverflowError:  # an integer beyond a double
        return None
    return number if isfinite(number) else None


def _has_leading_zero(text: str) -> bool:
    digits = text.strip().lstrip("+-")
    return len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()


def _extremes(distinct: Counter[str]) -> tuple[Any, Any]:
    ordered = distinct.most_common()
    return (ordered[0][0], ordered[-1][0]) if ordered else (None, None)
