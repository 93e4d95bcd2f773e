"""What the records show of a field, and what is concluded from it."""

import re
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from iln_stream.records.values import FieldType, Notation, is_boolean, is_dressed, is_number
from iln_stream.records.words import WORDS

MOSTLY = 0.8
"""Share of numbers or times from which a field is one of them; a few odd texts, as those of
subtotals, change nothing."""

FEW = 20
"""Records from which texts that do not repeat say something about the field."""

Role = Literal["label", "input", "id", "time", "weight", "ignored"]

NUMERIC = {"number", "number as text"}
DRESSED = {"amount", "duration"}
TEXTS = {"text", "boolean as text"}


class Why(StrEnum):
    """Why a field has its role or type."""

    # The label:
    LABEL_BY_NAME = "by its name"
    LABEL_BY_GUESS = "a guess: "
    HARDLY = "texts that hardly repeat"  # it is neither a number nor a class
    DIGITS = "classes with digits"
    SPELLINGS = "classes that differ in capitals or blanks, or .0"
    METER = "rises as the counts of a meter do: its change is learned (forecast)."  # a note
    CLASS_OR_NULL = "a class, or no value"
    # Categories:
    BY_NAME = "a code by its name"
    BY_LABELS = "a code by its labels"
    VARIANTS = "values that differ in capitals or blanks, or .0"
    ALSO_TEXTS = "numbers and other text"
    # Ignored:
    FREE = "free text"
    NEW = "hardly a value repeats"
    NEW_BY_NAME = f"{BY_NAME}, and {NEW}"
    SOME_NUMBERS = "numbers and texts that hardly repeat"
    DIFFERENT_UNITS = "numbers with different units"
    OTHER_DECIMALS = "numbers with another decimal sign than the others"
    JSON = "JSON as text"
    DATES = "dates with day or month first"
    UNREAD = "times of a form that is not read"
    COUNTS = "counts the records"  # the time says the same
    # Notes:
    BARE = "has numbers with a unit, and others without that are far from them: write it with all."
    CLOCKS = (
        "has clocks with three parts, and with two, which are read as hours and minutes: write "
        "minutes and seconds as 0:32:55."
    )
    # Others:
    AS_GIVEN = "as given"
    TIME = "a time"  # an input
    TIME_AS_NUMBER = "a number with the name of a time"  # an input, as there is no time
    UNJOINED = "a time of day that is not read"  # an input beside a date
    PERCENT = "numbers with and without %"  # an input
    QUALITY = "qualities of values"  # an input
    TOTALS = "totals among its values"
    NEWEST_FIRST = "newest first"  # times that can't be learned in order
    CALENDAR = "years far from ours"  # the time
    ROUNDED = "rounded times"
    COPY = "says what the label says"  # an input that may not be known before the label


class Field(NamedTuple):
    """What the records show of a field."""

    name: str  # its dotted path
    kinds: Mapping[str, int]  # how many values are a number, a boolean, a number as text, ...
    n_missing: int  # records in which it is absent, null, or a text that means a missing value
    n_distinct: int
    low: Any  # the smallest number but for the sentinel; or the most frequent text
    high: Any  # the largest number; or the least frequent text
    role: Role  # what it probably is
    type: FieldType  # what its values should be taken as
    why: str = ""  # why it is ignored, has another type than it looks like, or is the label
    maybe_code: bool = False  # an input of few whole numbers, which may be codes of categories
    n_odd: int = 0  # how many texts of a number are no numbers, or of the time no times
    odd: Any = ""  # the first of them
    features: tuple[str, ...] = ()  # of the time: the inputs that may be made of it
    # A number apart from the others, or a text among numbers that comes again and again, that may
    # mean a missing value; of a label, one that may be a class.
    sentinel: str | None = None
    # The smallest or largest number, if it comes again and again, and the gap beside it is the
    # widest: what is a sentinel of another field is one here.
    apart: str | None = None
    place: int = 0  # where it stands among the fields that make the time
    note: str = ""  # what else is odd about its values, as the rest of a sentence
    grouped: str = ""  # as what marks are read that may be the other one: decimals, or thousands

    @property
    def n(self) -> int:
        """Number of values."""
        return sum(self.kinds.values())

    @property
    def repeats(self) -> bool:
        """Whether a value came more than once."""
        return self.n_distinct < self.n

    @property
    def is_number(self) -> bool:
        """Whether most values are numbers, and the field is not taken as a category."""
        n_numbers = sum(self.kinds.get(kind, 0) for kind in NUMERIC)
        mostly = self.n > 0 and n_numbers >= MOSTLY * self.n
        return is_dressed(self.type) or (mostly and self.type in ("auto", "number"))

    @property
    def is_class(self) -> bool:
        """Whether its values are classes: texts or booleans that repeat, or few whole numbers."""
        n = self.n
        is_text = not self.is_number and not self.kinds.keys() & {"bytes", "list"}
        most = min(FEW, n / 2) if is_named(self.name, WORDS["classes"]) else 2
        ends = (self.low, self.high)
        whole = all(isinstance(end, float | int) and float(end).is_integer() for end in ends)
        few = whole and n > 2 and 2 <= self.n_distinct <= max(2, most)
        return few or (is_text and (n < FEW or 2 * self.n_distinct <= n))


def kind_of(value: Any, notation: Notation) -> str:
    """Return what a value is: a number, a number as text, a list, ..."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        if is_number(value, notation):
            return "number as text"
        return "boolean as text" if is_boolean(value) else "text"
    return "bytes" if isinstance(value, bytes) else "list"


WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
"""A word of a name: machine_no, machineNo and machine.no have two."""


def is_named(name: str, words: Collection[str]) -> bool:
    """Return whether a name has one of some words."""
    return any(word.lower() in words for word in WORD.findall(name))
