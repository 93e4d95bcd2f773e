"""Decoding of records in this package's own form."""

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from pydantic import ValidationError

from iln_stream.errors import IlnWarning, told
from iln_stream.records.messages import Event, Label
from iln_stream.reporting import MetricSpec

_NUMBER_AS_TEXT = re.compile(r"\s*[+-]?(?!0\d)(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
"""With a decimal point or comma; digits after a leading zero are a code, such as a postcode."""

MOST_WARNINGS = 20


class NumbersAsText:
    """Counts texts that look like numbers but are categories, and warns once of each name.

    In events a text is a category: `"21.5"` becomes the input `temp=21.5`, one of its own for each
    number. That is right for codes, and a mistake of the sender otherwise.

    Examples
    --------
    >>> import warnings
    >>> from iln_stream.records.decoding import NumbersAsText
    >>> texts = NumbersAsText()
    >>> with warnings.catch_warnings(record=True):
    ...     texts.watch({"temp": "21.5", "sky": "clear", "zip": "01067", "wind": 3.0})
    1

    """

    def __init__(self) -> None:
        self._warned: set[str] = set()

    def watch(self, x: Mapping[str, Any]) -> int:
        """Return how many inputs are numbers as text."""
        n = 0
        for name, value in x.items():
            # A number has no letter in front: the pattern takes three times as long to tell.
            if type(value) is str and not value[:1].isalpha() and _NUMBER_AS_TEXT.fullmatch(value):
                n += 1
                if name not in self._warned and len(self._warned) < MOST_WARNINGS:
                    self._warn(name, value)
        return n

    def _warn(self, name: str, value: str) -> None:
        self._warned.add(name)
        comma = ' and decimal = ","' if "," in value else ""
        warnings.warn(
            f"x.{name}: the text {value[:40]!r} is taken as a category. If it is a number, send it "
            f'without quotes, or set target = y and types = {{"x.{name}" = "number"}}{comma}',
            IlnWarning,
            stacklevel=3,
        )


LARGEST_PAYLOAD = 1 << 20
"""Bytes. A larger payload has more inputs than a learner has columns for."""

MOST_INPUTS = 10_000
"""Of an event: each takes up to 0.1 ms, whether the learner has a column for it or not."""

MOST_ERRORS = 3000
"""Of a payload: each takes pydantic some microseconds to describe. A wrong input has three."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
"""A string in JSON."""

_NUMBER = re.compile(r"\s*[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?\s*|\s*|(?i:nan|[-+]?inf\w*)")
"""Text that is meant as a number, or as a missing one."""

CLASS_REMEDY = "if it is a class, set learner = infinite-layer-classifier"

_SPACES = b" \t\n\r"
"""White space in JSON."""


class MalformedError(ValueError):
    """The payload is not an event; the message names the wrong fields and what they should be."""


class SkippedError(MalformedError):
    """The record is no event and is left out: the loop counts it, and it is no dead letter."""


def decode(
    payload: bytes | Mapping[str, Any] | None,
    event_type: type[Event] = Event,
    label_type: type[Label] = Label,
) -> Event | Label:
    """Decode an event, or the label of an earlier event, which has `id` and `y` but no `x`.

    Parameters
    ----------
    payload
        JSON text, or the fields as a mapping; None for a record without a value (a tombstone).
    event_type, label_type
        Models that the payload must match; those of a task define which labels are valid.

    Raises
    ------
    MalformedError
        When the payload is neither.

    Examples
    --------
    >>> decode(b'{"x": {"a": 1.5, "up": true}, "y": 2}').y
    2.0
    >>> decode(b'{"x": {"a": "NaN"}, "y": "2"}')
    Traceback (most recent call last):
    ...
    iln_stream.records.decoding.MalformedError: y: expected a finite number, got '2'

    """
    if payload is None:
        raise MalformedError("the record has no value; an event is a JSON object")
    try:
        if not isinstance(payload, bytes):
            return event_type.model_validate(payload)
        check_size(payload)
        event = event_type.model_validate_json(payload)
    except ValidationError as error:
        details = error_details(error)
        if (label := _label(payload, label_type, details)) is None:
            raise MalformedError(reason(details)) from None
        return label
    require_distinct_keys(payload, len(event.x) + len(event.model_fields_set))
    return event


def check_size(payload: bytes) -> None:
    """Raise MalformedError if a payload has more than `LARGEST_PAYLOAD` bytes."""
    if len(payload) > LARGEST_PAYLOAD:
        raise MalformedError(
            f"event: {len(payload):,} bytes; at most {LARGEST_PAYLOAD:,} are allowed"
        )


def too_many_inputs(n: int) -> MalformedError:
    """Return the error of an event that has more than `MOST_INPUTS` inputs."""
    return MalformedError(
        f"x: {n:,} inputs; at most {MOST_INPUTS:,} are allowed: send fewer, or ignore fields"
    )


def require_distinct_keys(payload: bytes, n_keys: int) -> None:
    """Raise MalformedError if an object of a valid payload has a key twice.

    Outside of strings a colon follows each key and stands nowhere else, so the payload has as many
    colons as keys. If as many distinct keys were decoded, none was dropped. Strings may have
    colons, too, as a timestamp does; a quote before a colon is rarer, and strings are removed last.
    For ten inputs this takes 0.5 to 1 us of an event's 3 us; `_find_repeated_key` would parse the
    event again in Python, which takes 6.6 us. `n_keys` distinct keys were decoded from it.
    """
    if (
        payload.count(b":") > n_keys
        and payload.translate(None, _SPACES).count(b'":') > n_keys
        and _STRING.sub(b"", payload).count(b":") > n_keys
    ):
        _find_repeated_key(payload)


def _label(
    payload: bytes | Mapping[str, Any], model: type[Label], details: Iterable[Mapping[str, Any]]
) -> Label | None:
    """Return the payload as a label; None if it is none, as it has no id or no y."""
    if not any(each["type"] == "missing" and each["loc"] == ("x",) for each in details):
        return None
    try:
        if not isinstance(payload, bytes):
            return model.model_validate(payload)
        label = model.model_validate_json(payload)
    except ValidationError as error:
        wrong = error_details(error)
        if any(each["loc"] == ("id",) or each["type"] == "missing" for each in wrong):
            return None
        raise MalformedError(reason(wrong)) from None
    require_distinct_keys(payload, len(label.model_fields_set))
    return label


def _find_repeated_key(payload: bytes) -> None:
    """Raise MalformedError if an object has a key twice: parsers would drop one of its values."""

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen = dict(pairs)
        if len(seen) < len(pairs):
            ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
            raise MalformedError(f"{_name(twice)}: this key occurs more than once in one object")
        return seen

    json.loads(payload, object_pairs_hook=distinct)


def payload_bytes(payload: bytes | Mapping[str, Any] | None) -> bytes:
    """Return the payload as bytes, for a dead letter."""
    if payload is None:
        return b""
    if isinstance(payload, bytes):
        return payload
    return json.dumps(payload, default=repr).encode()


def error_details(error: ValidationError, root: str = "event") -> Sequence[Mapping[str, Any]]:
    """Return the errors of a payload; `root` names the whole payload.

    Raises
    ------
    MalformedError
        When it has more than `MOST_ERRORS`: to describe those of a megabyte takes seconds.

    """
    if error.error_count() > MOST_ERRORS:
        raise MalformedError(
            f"{root}: more than {MOST_ERRORS:,} errors, too many to list; check the form of its "
            "fields"
        )
    return error.errors(include_url=False)


def reason(details: Iterable[Mapping[str, Any]], root: str = "event", most: int = 5) -> str:
    """Return one line that names each wrong field once; `root` names the whole payload."""
    problems: dict[str, str] = {}
    remedy: tuple[str, ...] = ()
    for detail in details:
        # Values of x have a union type; pydantic reports an error for each of its members.
        path = detail["loc"]
        if "x" in path:
            path = path[: path.index("x") + 2]
        field = ".".join(_name(part) for part in path) or root
        if field in problems:
            continue
        if len(detail["loc"]) > len(path):
            message = "expected a finite number, boolean, string or null"
            if isinstance(detail["input"], dict):
                message += f' (send nested fields by their path, such as "{path[-1]}.a")'
        else:
            message, y = told(detail), detail["input"]
            # A label that is no number, and looks like a class.
            if path == ("y",) and isinstance(y, bool | str) and not _NUMBER.fullmatch(str(y)):
                remedy = (CLASS_REMEDY,)
        given = shown(detail["input"])
        is_id = path[-1:] == ("id",) and "x" not in path
        hint = f' (ids are text: send "{given}")' if is_id and _is_number(detail["input"]) else ""
        problems[field] = f"{field}: {message}, got {given}{hint}"
    lines = list(problems.values())
    more = f" (and {len(lines) - most} more)" if len(lines) > most else ""
    return "; ".join([*lines[:most], *remedy]) + more


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _name(part: object) -> str:
    """Return a field's name, quoted if it has a line break or another unprintable character."""
    text = str(part)
    return shorten(text if text.isprintable() else repr(text))


def shown(value: object) -> str:
    """Return a value as Python writes it, or its beginning."""
    return shorten(repr(value))


def shorten(text: str, width: int = 60) -> str:
    """Return the beginning of a text that is longer."""
    return text if len(text) <= width else f"{text[: width - 3]}..."


def one_hot(x: Mapping[str, float | bool | str | None]) -> dict[str, float]:
    """Return x as numbers: a string v of input k becomes `"k=v": 1.0`, a boolean 0.0 or 1.0.

    Nulls are left out. For an absent input the default learner takes 0 if 0 is an ordinary value of
    it (an indicator, or values around 0), or else treats it as unknown.

    Raises
    ------
    MalformedError
        When there are more than `MOST_INPUTS`, or two would get the same name.

    Examples
    --------
    >>> one_hot({"wind": 3.5, "sky": "clear", "holiday": True, "rain": None})
    {'wind': 3.5, 'sky=clear': 1.0, 'holiday': 1.0}

    """
    if len(x) > MOST_INPUTS:
        raise too_many_inputs(len(x))
    if set(map(type, x.values())) == {float}:
        return dict(x)  # type: ignore[arg-type]  # as usual, and three times as fast
    numbers: dict[str, float] = {}
    for name, value in x.items():
        if type(value) is float:
            numbers[name] = value
        elif isinstance(value, str):
            category = f"{name}={value}"
            if category in x or category in numbers:
                raise MalformedError(f"x.{name}: two inputs would get the name {category!r}")
            numbers[category] = 1.0
        elif value is not None:
            numbers[name] = float(value)
    return numbers


def without_nulls(x: Mapping[str, Any]) -> dict[str, Any]:
    """Return x with its texts; booleans become numbers."""
    return {k: v if isinstance(v, str) else float(v) for k, v in x.items() if v is not None}


class Example(NamedTuple):
    """A decoded record.

    Parameters
    ----------
    x
        Inputs as numbers, by name. None: the record is the label of an earlier event.
    y
        The label. None: the event is only predicted.
    id
        The sender's id of the event. None: it has none.
    time
        When the event happened: POSIX seconds. None: unknown.
    weight
        How much the event counts when it is learned, at least 0. None: not given.
    series
        Names the series that the record belongs to; empty: the stream is one series.

    """

    x: dict[str, float] | None
    y: float | bool | str | None
    id: str | None
    time: float | None
    weight: float | None = None
    series: tuple[str, ...] = ()


class Decoder(Protocol):
    """Makes examples of records."""

    def __call__(self, payload: bytes | Mapping[str, Any] | None, written: float | None) -> Example:
        """Decode a record that was written at a time, in POSIX seconds; None: unknown.

        Raises
        ------
        MalformedError
            When the record is no example; the message names the field.

        """


class EnvelopeDecoder:
    """Decodes events of the form `{"x": {...}, "y": ..., "id": ..., "timestamp": ...}`.

    Texts that look like numbers are categories, as all texts are; they are counted and warned of.

    Parameters
    ----------
    event_type, label_type
        Define which labels are valid; see `decode`.
    look
        Looks at each payload first, and raises `SkippedError` for those to leave out. None: none.
    as_texts
        Whether texts stay the values of their inputs, as learners of text want them.

    Examples
    --------
    >>> from iln_stream.records import EnvelopeDecoder
    >>> EnvelopeDecoder()(b'{"x": {"sky": "clear"}, "y": 2, "id": "a-17"}', 60.0)
    Example(x={'sky=clear': 1.0}, y=2.0, id='a-17', time=60.0, weight=None, series=())

    """

    def __init__(
        self,
        event_type: type[Event] = Event,
        label_type: type[Label] = Label,
        look: Callable[[bytes | Mapping[str, Any] | None], Any] | None = None,
        *,
        as_texts: bool = False,
    ) -> None:
        self._shaped = without_nulls if as_texts else one_hot
        self._look = look
        self._event_type = event_type
        self._label_type = label_type
        self._numbers_as_text = NumbersAsText()
        self.n_numbers_as_text = 0

    def __call__(self, payload: bytes | Mapping[str, Any] | None, written: float | None) -> Example:
        """Decode an event, or the label of an earlier one."""
        if self._look is not None:
            self._look(payload)
        event = decode(payload, self._event_type, self._label_type)
        moment = event.timestamp
        time = written if moment is None else moment.timestamp()
        # An empty id is none: all events with it would be repeats of one.
        event_id = event.id if event.id is None or event.id.strip() else None
        if not isinstance(event, Event):
            if event_id is None:
                raise MalformedError("id: empty; a label has the id of its event")
            return Example(None, event.y, event_id, time, event.weight)
        if str in map(type, event.x.values()):
            self.n_numbers_as_text += self._numbers_as_text.watch(event.x)
        return Example(self._shaped(event.x), event.y, event_id, time, event.weight)

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the count of numbers that came as text."""
        spec = suspicious_metric(lambda: {"number_as_category": self.n_numbers_as_text})
        return (spec._replace(of_process=True),)


def suspicious_metric(read: Callable[[], Mapping[str, float]]) -> MetricSpec:
    """Return the metric of inputs that are perhaps read in another way than the sender meant."""
    return MetricSpec(
        "iln_inputs_suspicious_total",
        "counter",
        "Inputs that the sender may have meant otherwise: texts that are taken as numbers or "
        "booleans (text_as_number, text_as_boolean), and numbers as text in events, which are read "
        "as categories (number_as_category).",
        read,
        "kind",
    )
