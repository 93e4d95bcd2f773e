"""`inspect_fields`: guessing the mapping of records."""

import datetime as dt
import json

import numpy as np
import pytest

from iln_stream.records.fields import FieldMapping
from iln_stream.records.inspection import inspect_fields
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_json
from iln_stream.records.proposed_settings import proposed


def orders(n=200):
    """Return records as a shop might write them."""
    rng = np.random.default_rng(1)
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    return [
        {
            "order_id": f"o-{i}",
            "ts": (start + dt.timedelta(minutes=i)).isoformat(),
            "temp": f"{rng.normal():.2f}" if i % 9 else "NA",
            "up": str(rng.random() < 0.5).lower(),
            "zip": f"0{rng.integers(1000, 1010)}",
            "user": {"age": int(rng.integers(18, 80))},
            "tags": ["new"] if i % 3 else [],
            "note": f"hello {rng.random()}",
            "currency": "EUR",
            "amount": float(rng.normal()),
            "price": float(rng.normal()),
            "shelf": int(rng.integers(5)),
        }
        for i in range(n)
    ]


def test_roles_and_types():
    """Each field gets the role and type that a person would give it."""
    found = {each.name: (each.role, each.type, each.why) for each in inspect_fields(orders())}
    assert found == {
        "order_id": ("id", "auto", ""),
        "ts": ("time", "auto", ""),
        "temp": ("input", "number", "numbers as text"),
        "up": ("input", "boolean", "booleans as text"),
        "zip": ("input", "category", "leading zeros"),
        "user.age": ("input", "auto", ""),
        "tags=new": ("input", "auto", ""),
        "note": ("ignored", "auto", "hardly a value repeats"),
        "currency": ("ignored", "auto", "always the same"),
        "amount": ("input", "auto", ""),
        "price": ("label", "auto", "by its name"),
        "shelf": ("input", "auto", ""),
    }


def test_codes_are_shown_as_they_are():
    """A code keeps its leading zeros among the values that are shown."""
    codes = next(each for each in inspect_fields(orders()) if each.name == "zip")
    assert {codes.low, codes.high} <= {each["zip"] for each in orders()}


def test_counts():
    """Missing values, distinct ones and the range are those of the records."""
    temp = next(each for each in inspect_fields(orders()) if each.name == "temp")
    numbers = [float(each["temp"]) for each in orders() if each["temp"] != "NA"]
    assert temp.n_missing == sum(each["temp"] == "NA" for each in orders())
    assert (temp.low, temp.high) == (min(numbers), max(numbers))
    assert temp.n_distinct == len(set(numbers))


def test_the_proposed_settings_learn_the_records():
    """The proposal decodes every record, with the label, the id, the time and all inputs."""
    settings = proposed(inspect_fields(orders()))
    decode = MappedDecoder(FieldMapping(**settings), parse_json)
    for fields in orders():
        example = decode(json.dumps(fields).encode(), None)
        assert example.y == fields["price"]
        assert example.id == fields["order_id"]
        assert example.time == dt.datetime.fromisoformat(fields["ts"]).timestamp()
        assert f"zip={fields['zip']}" in example.x
        assert ("temp" in example.x) == (fields["temp"] != "NA")
        assert {"up", "user.age", "amount", "shelf", "time.hour.sin"} <= example.x.keys()
    assert not decode.n_coerced


def test_a_known_label_is_not_guessed():
    """The label that the user names is taken, whatever its name."""
    found = inspect_fields(orders(), FieldMapping("amount"))
    assert [each.name for each in found if each.role == "label"] == ["amount"]


def test_an_integer_beyond_a_double():
    """A number that no double holds is counted as a number, without a range."""
    (found,) = inspect_fields([{"a": 10**400}], FieldMapping(""))
    assert found.kinds == {"number": 1}


@pytest.mark.parametrize(
    ("values", "role"),
    [
        ([1.7e9 + i for i in range(50)], "time"),
        ([(1.7e9 + i) * 1000 for i in range(50)], "time"),
        ([f"2026/01/{1 + i % 28:02d}" for i in range(28)], "time"),
        ([f"2026/01/{1 + i % 28:02d}" if i % 10 else "subtotal" for i in range(28)], "time"),
        ([f"2026/01/{1 + i % 28:02d}" if i % 3 else "subtotal" for i in range(28)], "input"),
        ([float(i) for i in range(50)], "input"),
        ([True, False] * 25, "input"),
    ],
)
def test_times_are_recognised_by_their_values(values, role):
    """A field of mostly times that grow is the time, whatever its name; a few subtotals change
    nothing. Counters and booleans are no times."""
    found = inspect_fields([{"a": value, "price": 1.5 + i} for i, value in enumerate(values)])
    assert found[0].role == role


def test_codes_by_their_names():
    """Whole numbers with a code's name are proposed as categories; measurements are not."""
    records = [
        {"shop": {"zip": 10115 + i % 5}, "machine_id": i % 30, "errorCode": i % 4, "id": i,
         "humid": i % 40, "code": i / 3, "gateNo": i % 30, "belt_nr": i % 9, "no": i % 7,
         "y": i / 2}
        for i in range(100)
    ]  # fmt: skip
    settings = proposed(inspect_fields(records, FieldMapping("y")))
    codes = dict.fromkeys(("shop.zip", "machine_id", "errorCode", "gateNo", "belt_nr"), "category")
    assert settings["types"] == codes
    assert settings["id_field"] == "id"


@pytest.mark.parametrize(
    ("name", "is_code"),
    [
        ("machine.no", True),
        ("Machine No", True),
        ("store-nbr", True),
        ("CustomerID", True),
        ("ZIP", True),
        ("ZIPCode", True),
        ("no", False),
        ("casino", False),
        ("paid", False),
        ("zip_sales", False),
        ("id_count", False),
        ("größeid", False),
    ],
)
def test_how_codes_are_named(name, is_code):
    """The last word says it, however words are joined; `no` only after another word."""
    found = field([i % 30 for i in range(200)], name)
    assert (found.type, found.why) == (
        ("category", "a code by its name") if is_code else ("auto", "")
    )
    assert field([i / 4 for i in range(200)], name).type == "auto"  # no whole numbers


@pytest.mark.parametrize(("n", "type_"), [(3, "category"), (600, "category"), (1000, "auto")])
def test_codes_of_few_and_of_many_values(n, type_):
    """A code is a category if its values come again, and else no input."""
    found = field([i % n for i in range(1000)], "machine.no")
    assert found.type == type_
    assert found.role == ("ignored" if n == 1000 else "input")
    given = field([i % n for i in range(1000)], "machine.no", types={"machine.no": "number"})
    assert (given.role, given.type) == ("input", "number")


@pytest.mark.parametrize("beside", ["votes.yes", "votes.NO2"])
def test_no_that_is_no_number(beside):
    """Answers and gases are quantities."""
    records = [{"votes.no": i % 9, beside: i % 7, "price": i / 2} for i in range(100)]
    assert inspect_fields(records)[0].type == "auto"


def possible_codes(records):
    """Return the fields of records that are named as possible codes."""
    found = [each for each in inspect_fields(records, FieldMapping("label")) if each.maybe_code]
    return [each.name for each in found]


def test_possible_codes():
    """Few different whole numbers may be codes; many, two, fractions and texts are no question."""
    records = [
        {"line": i % 3 + 1, "text": str(i % 4), "humid": i % 40, "on": i % 2, "part": i % 4 / 2,
         "label": i % 5}
        for i in range(200)
    ]  # fmt: skip
    assert possible_codes(records) == ["line", "text"]
    assert possible_codes(records[:20]) == []


def field(values, name="a", **given):
    """Return what is found of a field with these values, beside a label."""
    records = [{name: value, "price": i / 2} for i, value in enumerate(values)]
    return inspect_fields(records, FieldMapping(**given))[0]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([f"c-{i % 618}" for i in range(1000)], ("input", "auto", "")),
        ([f"o-{min(i, 950)}" for i in range(1000)], ("ignored", "auto", "hardly a value repeats")),
        ([f"to be called {i % 700}" for i in range(1000)], ("ignored", "auto", "free text")),
        ([str(i) if i % 3 else f"call {i}" for i in range(1000)],
         ("ignored", "auto", "hardly a value repeats")),
        ([str(i % 8) if i % 3 else f"x{i % 5}" for i in range(1000)],
         ("input", "category", "numbers and other text")),
    ],
)  # fmt: skip
def test_categories_and_texts_that_hardly_repeat(values, expected):
    """Ids that come again are inputs; order numbers and notes, with numbers or not, are ignored."""
    found = field(values)
    assert (found.role, found.type, found.why) == expected


def test_a_number_with_some_odd_texts():
    """A field is a number if at least 80 % of its values are; others are counted."""
    values = [f"{i / 7:.1f}" for i in range(952)] + ["21,5"] * 12
    found = field(values)
    assert (found.role, found.type, found.n_odd, found.odd) == ("input", "number", 12, "21,5")
    assert field([1.5, 2.5, 3.5, 4.5, "lost"]).type == "number"
    assert field([1.5, 2.5, 3.5, "lost", "lost"]).n_odd == 0
    assert field(["0123", "0124", "0125", "0126", "x"]).type == "category"


def test_many_records():
    """Distinct values are counted to the end: an id stays one after 10,000 records."""
    records = ({"order_id": f"o-{i}", "price": i / 2} for i in range(10_100))
    found = inspect_fields(records)
    assert (found[0].role, found[0].n_distinct) == ("id", 10_100)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        *((name, "id") for name in ("tx", "txid", "transaction_id", "uuid", "a.orderId", "GUID")),
        *((name, "input") for name in ("valid", "paid", "monkey")),
    ],
)
def test_names_of_ids(name, role):
    """A field with the name of an id is the id if at least 95 % of its values are distinct."""
    assert field(range(100, 200), name).role == role
    assert field([*range(100, 195), *range(100, 105)], name).role == role
    assert field([*range(100, 194), *range(100, 106)], name).role != "id"
    assert field([*range(100, 199), None], name).role != "id"


def test_given_roles():
    """Given roles, types and texts of missing values are taken, against names and values."""
    records = [
        {"id": i, "ts": 1.7e9 + i, "no": i, "day": 1.6e9 + i, "w": 1.5, "n": i % 4, "none": "EUR"}
        for i in range(100)
    ]
    given = FieldMapping(
        id_field="no", time_field="day", weight_field="w", types={"n": "number"},
        null_values=("EUR",), features=("ts", "n", "none"),
    )  # fmt: skip
    found = {each.name: each for each in inspect_fields(records, given)}
    roles = {name: each.role for name, each in found.items()}
    assert roles == {
        "id": "ignored", "ts": "input", "no": "id", "day": "time", "w": "weight", "n": "input",
        "none": "input",
    }  # fmt: skip
    assert not found["n"].maybe_code
    assert (found["none"].n_missing, found["none"].n_distinct) == (100, 0)


def test_the_range_of_texts_with_some_numbers():
    """If most values are texts, their extremes are shown, not those of the numbers among them."""
    found = field(["b", "b", "b", "a", "7"])
    assert (found.low, found.high) == ("b", "7")
    assert field(["b", "7", "8", "9"]).low == 7.0


def test_named_inputs_keep_their_role():
    """A field that `features` names is an input, although it looks like the time or the id."""
    found = inspect_fields(orders(), FieldMapping(features=("ts", "order_id", "price")))
    inputs = {each.name for each in found if each.role == "input"}
    assert inputs == {"ts", "order_id", "price"}
