"""Settings that learn records, and what to check in them."""

from iln_stream.records.fields import FieldMapping
from iln_stream.records.inspection import inspect_fields
from iln_stream.records.proposed_settings import proposed, remarks

RECORDS = [
    {"order_id": f"o-{i}", "ts": f"2026-01-01T08:00:{i}Z", "temp": str(i / 7), "up": "true",
     "zip": f"0106{i % 7}", "note": f"n{i}", "currency": "EUR", "amount": i / 3, "shelf": i % 4,
     "price": i / 2, "user": {"age": 18 + i}}
    for i in range(10, 60)
]  # fmt: skip


def test_codes_by_their_names_are_guesses():
    """Remarks name them, with what to do if they are quantities."""
    records = [
        {"machine": {"no": i % 12}, "zip": 10_000 + i % 3, "invoice_id": 7 * i, "price": i / 2}
        for i in range(100)
    ]
    assert remarks(inspect_fields(records)) == [
        'target = "price" is the label by its name.',
        'Numbers taken as categories, a guess from their names: "machine.no" (12 values), '
        '"zip" (3 values). If they are quantities, give them the type "number".',
    ]
    records = [{"id": i, **each} for i, each in enumerate(records)]
    assert "invoice_id" in proposed(inspect_fields(records))["ignore"]
    assert remarks(inspect_fields(records))[2:] == [
        'Whole numbers ignored as ids, a guess from their names: "invoice_id" (100 values), of '
        "which hardly one comes again. If they are quantities, take them out of ignore, and give "
        'them the type "number".'
    ]


def test_given_settings_win():
    """Each given setting is in the proposal, and guesses complete them; inputs that are named are
    not the label, and not ignored."""
    named = {"features": ("currency", "price", "amount")}
    settings = proposed(inspect_fields(RECORDS, FieldMapping(**named)), named)
    assert (settings["target"], settings["features"]) == ("user.age", named["features"])
    assert settings.keys() & {"ignore", "types"} == set()
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


def test_odd_texts():
    """A remark counts texts of a number's field that are no numbers, of the label as well."""
    records = [{"a": "21,5" if i % 10 == 3 else i % 40 / 3, "y": i or "lost"} for i in range(100)]
    fields = inspect_fields(records)
    assert proposed(fields)["types"] == {"a": "number"}
    target, *found = remarks(fields)
    assert target == 'target = "y" is the label by its name. Other numbers: "a".'
    assert found[0].startswith('"a": 10 of 100 values are no numbers, the first is "21,5".')
    assert "some numbers have a decimal comma and some a dot" in found[0]
    assert found[1].startswith('"y": 1 of 100 values are no numbers, the first is "lost".')
    assert ("category" in found[0], "category" in found[1]) == (True, False)
    assert remarks(inspect_fields(records, FieldMapping("y", ignore=("a",)))) == found[1:]


def test_objects_and_lists_that_are_null_in_some_records():
    """A null instead of an object or a list is no field: to ignore it would ignore the inputs below
    it."""
    records = [
        {"sky": {"temp": i / 3} if i % 4 else None, "tags": ["a", "b"][: i % 3] or None, "y": i / 2}
        for i in range(60)
    ]
    fields = inspect_fields(records)
    assert [each.name for each in fields] == ["y", "sky.temp", "tags=a", "tags=b"]
    mapping = FieldMapping(**proposed(fields))
    assert all(map(mapping.is_feature, ("sky.temp", "tags=a", "tags=b")))


def test_values_of_the_time_that_are_no_times():
    """A remark counts them, also where the field is given."""
    records = [{"at": f"2026-01-{i:02d}" if i != 7 else "total", "y": i / 2} for i in range(1, 29)]
    expected = '"at": 1 of 28 values are no times, the first is "total". '
    for given in (None, FieldMapping("y", time_field="at")):
        found = remarks(inspect_fields(records, given))[-1]
        assert found.startswith(expected)
