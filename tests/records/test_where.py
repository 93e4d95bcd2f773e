"""`where`: the language of the expressions that choose records."""

import pytest

from iln_stream.errors import IlnWarning
from iln_stream.records import SkippedError
from iln_stream.records.parsing import parse_json
from iln_stream.records.where import Filtered, Where

RECORD = {
    "op": "c",
    "n": 3,
    "text": "7",
    "none": None,
    "yes": True,
    "tags": ["new", "big"],
    "payload": {"op": "u", "after": {"zip": "01067", "order-id": 5}},
    "a.b": 1,
}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('op == "c"', True),
        ('payload.op in ["c", "u"] and n >= 3', True),
        ('payload["after"]["order-id"] == 5', True),
        ('record["a.b"] == 1', True),
        ('tags[1] == "big" and "new" in tags and "er" not in op', True),
        ("nowhere == null and payload.nowhere.deeper == null", True),
        ("nowhere < 1 or nowhere >= 1 or none > 0", False),
        ("not nowhere > 1", True),
        ('nowhere != "c"', True),
        ("n > op or op < n", False),
        ("text == 7 and text > 6.5", True),
        ("yes == true and yes", True),
        ("n * 2 + 1 == 7 and n % 2 == 1 and -n < 0 and n / 0 == null", True),
        ("op + n == null", True),
        ("1 < n < 3", False),
    ],
)
def test_expressions(expression, expected):
    """Comparisons are as in Python; what a record lacks or can't be compared is no error."""
    assert Where(expression)(RECORD) is expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("day != null or lost != null or kg == null", False),
        ('day == "" and lost == "NA" and lost != "" or kg < 0', True),
        ('day < "2026" or lost > "" or lost or lost in ["NaN", 1]', False),
        ("day == lost and day in [null] and not day and day + 1 == null", True),
        ("low == null and low == -999 and not low < 0 and low + 1 == null", True),
    ],
)
def test_cells_without_a_value(expression, expected):
    """In CSV, which has no null, an empty cell is null, and so is what inputs take for missing; a
    comparison with its text is as before."""
    row = {"day": " ", "lost": "NA", "kg": "3", "low": "-999"}
    assert Where(expression, ["", "NA", "-999"])({**row, "day": ""}) is expected
    assert not Where("day != null", [""])(row)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ('op = "c"', r"at character 4: .*==.*: op = "),
        ('op == "c', "at character 7: unterminated"),
        ("", "invalid syntax"),
        ("op == c and len(op) > 1", "at character 13: Call is not possible"),
        ('__import__("os").remove("x")', "at character 1: Call"),
        ("op.__class__ == (lambda: 1)", "at character 18: Lambda"),
        ("[x for x in tags] == 1", "at character 1: ListComp"),
        ("n ** 9999", "Pow is not possible"),
        ('"a".upper == 1', "at character 1: Attribute"),
        ('class == "a"', "at character 1: invalid syntax"),
    ],
)
def test_what_is_no_expression(expression, message):
    """An error, or what could run code or take for ever, is refused before any record, with its
    place."""
    with pytest.raises(ValueError, match=message):
        Where(expression)


def test_a_field_that_is_misspelt():
    """An expression that leaves out all of the first records is warned of, with the field."""
    read = Filtered(parse_json, Where('opp == "c" and n > 1'))
    with pytest.warns(IlnWarning, match=r"skips all of the first 1,000 records: none has opp;"):
        for _ in range(1_000):
            with pytest.raises(SkippedError):
                read(b'{"op": "c", "n": 1}')
