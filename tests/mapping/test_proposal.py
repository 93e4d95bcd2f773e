"""`proposed` and `remarks`: settings that learn records, and what to check in them."""

from iln_stream.mapping import FieldMapping
from iln_stream.mapping.inspection import inspect_fields
from iln_stream.mapping.proposal import proposed, remarks

RECORDS = [
    {"order_id": f"o-{i}", "ts": f"2026-01-01T08:00:{i}Z", "temp": str(i / 7), "up": "true",
     "zip": f"0106{i % 7}", "note": f"n{i}", "currency": "EUR", "amount": i / 3, "shelf": i % 4,
     "price": i / 2, "user": {"age": 18 + i}}
    for i in range(10, 60)
]  # fmt: skip


def test_no_label_is_proposed_where_there_is_none():
    """TOML has no null: the proposal leaves out a role that no field has."""
    assert proposed(inspect_fields([{"a": [0] * 1_001}])) == {"ignore": ["a"]}


def test_codes_that_never_repeat():
    """A second order number is ignored, although its name is that of a code."""
    records = [{"id": i, "invoice_id": 10_000 + i, "price": i / 2} for i in range(100)]
    assert proposed(inspect_fields(records)) == {
        "target": "price", "id_field": "id", "ignore": ["invoice_id"]
    }  # fmt: skip


def test_given_settings_win():
    """Each given setting is in the proposal, and guesses complete them."""
    given = {
        "target": "amount", "id_field": "note", "time_features": ("hour",), "weight_field": "shelf",
        "ignore": ("order_id", "user"), "types": {"up": "category", "t*p": "number"},
        "null_values": ("NA", "EUR"), "time_field": None,
    }  # fmt: skip
    assert proposed(inspect_fields(RECORDS, FieldMapping(**given)), given) == {
        "target": "amount", "id_field": "note", "time_field": "ts", "time_features": ("hour",),
        "weight_field": "shelf", "ignore": ["order_id", "user", "currency"],
        "types": {"up": "category", "t*p": "number", "zip": "category"},
        "null_values": ("NA", "EUR"),
    }  # fmt: skip


def test_given_features():
    """Inputs that are named are not the label, and are not ignored; others are no inputs."""
    given = {"features": ("currency", "price", "amount")}
    fields = inspect_fields(RECORDS, FieldMapping(**given))
    settings = proposed(fields, given)
    assert settings["target"] == "user.age"
    assert settings["features"] == given["features"]
    assert settings.keys() & {"ignore", "types"} == set()
    inputs = {each.name for each in fields if each.role == "input"}
    assert inputs == set(given["features"])


def test_a_guessed_label():
    """A remark says that a label is a guess, and names the other numbers."""
    records = [{"a": i / 3, "b": i / 7, "zip": 10115 + i % 3, "sky": "clear"} for i in range(9)]
    assert remarks(inspect_fields(records)) == [
        'target = "b" is a guess: the last number, since no name says which is the label. '
        'Other numbers: "a".'
    ]
    assert remarks(inspect_fields(records, FieldMapping("b")), {"target": "b"}) == []


def test_a_given_field_that_no_record_has():
    """A remark names the setting and the field."""
    given = {"target": "pirce"}
    fields = inspect_fields([{"price": 1.5}], FieldMapping(**given))
    assert remarks(fields, given) == ['No record that was read has the field "pirce" (target).']


def test_odd_texts():
    """A remark counts texts of a number's field that are no numbers, of the label as well."""
    records = [{"a": "21,5" if i % 10 == 3 else i / 3, "y": i or "lost"} for i in range(100)]
    fields = inspect_fields(records)
    assert proposed(fields)["types"] == {"a": "number"}
    found = remarks(fields)
    assert found[0].startswith('"a": 10 of 100 values are no numbers, the first is "21,5".')
    assert found[1].startswith('"y": 1 of 100 values are no numbers, the first is "lost".')
    assert ("category" in found[0], "category" in found[1]) == (True, False)
    assert remarks(inspect_fields(records, FieldMapping("y", ignore=("a",)))) == found[1:]
