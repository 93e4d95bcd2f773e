"""Guessing the mapping and the notation of records."""

import datetime as dt
import json

import numpy as np
import pytest

from iln_stream.records.fields import FieldMapping
from iln_stream.records.guessed_notation import guessed_notation
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
    """Each field gets the role and type that a person would give it; its range and counts are those
    of the records, and codes keep their leading zeros."""
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
        "currency": ("input", "auto", ""),  # later records may have another one
        "amount": ("input", "auto", ""),
        "price": ("label", "auto", "by its name"),
        "shelf": ("input", "auto", ""),
    }
    fields = {each.name: each for each in inspect_fields(orders())}
    numbers = [float(each["temp"]) for each in orders() if each["temp"] != "NA"]
    temp, codes = fields["temp"], fields["zip"]
    assert (temp.low, temp.high) == (min(numbers), max(numbers))
    assert (temp.n_missing, temp.n_distinct) == (200 - len(numbers), len(set(numbers)))
    assert {codes.low, codes.high} <= {each["zip"] for each in orders()}


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


@pytest.mark.parametrize(
    ("values", "role"),
    [
        ([1.7e9 + i for i in range(50)], "time"),
        ([(1.7e9 + i) * 1000 for i in range(50)], "time"),
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


@pytest.mark.parametrize(
    ("name", "is_code"),
    [
        ("machine.no", True),
        ("store-nbr", True),
        ("CustomerID", True),
        ("ZIPCode", True),
        ("no", False),
        ("casino", False),
        ("zip_sales", False),
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


@pytest.mark.parametrize(("effect", "kind"), [(lambda i: i * 17 % 23, "category"), (float, "auto")])
def test_codes_by_their_labels(effect, kind):
    """Of more than 20 whole numbers those are codes whose labels differ between neighbours as much
    as between others; labels that grow with the number are those of a quantity."""
    rng = np.random.default_rng(0)
    routes = rng.integers(100, 123, 600).tolist()
    found = inspect_fields([{"route": i, "load": effect(i) + rng.normal()} for i in routes])
    assert found[0].type == kind


def test_states_of_a_sensor_make_no_codes():
    """A sensor's whole numbers and the label depend on a state that changes now and then: the
    numbers are no codes. Of 20 draws, one may be taken for one."""
    n_taken = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        level, loads = rng.integers(0, 26, 16).repeat(60), 9 * rng.normal(size=16).repeat(60)
        seen = zip(level + rng.integers(0, 2, 960), loads + rng.normal(size=960), strict=True)
        found = inspect_fields([{"seen": int(x), "load": float(y)} for x, y in seen])
        n_taken += found[0].type == "category"
    assert n_taken <= 1


def test_possible_codes():
    """Few different whole numbers may be codes; many, two, fractions and texts are no question."""
    records = [
        {"line": i % 3 + 1, "text": str(i % 4), "humid": i % 40, "on": i % 2, "part": i % 4 / 2,
         "label": i % 5}
        for i in range(200)
    ]  # fmt: skip
    found = inspect_fields(records, FieldMapping("label"))
    assert [each.name for each in found if each.maybe_code] == ["line", "text", "label"]
    votes = [{"votes.no": i % 9, "votes.yes": i % 7, "price": i / 2} for i in range(100)]
    assert inspect_fields(votes)[0].type == "auto"  # a quantity, no number of something
    few = inspect_fields(records[:20], FieldMapping("label"))
    assert not any(each.maybe_code for each in few)


@pytest.mark.parametrize(("n", "type_"), [(3, "category"), (600, "category"), (1000, "auto")])
def test_codes_of_few_and_of_many_values(n, type_):
    """A code is a category if its values come again, and else no input."""
    found = field([i % n for i in range(1000)], "machine.no")
    assert found.type == type_
    assert found.role == ("ignored" if n == 1000 else "input")
    given = field([i % n for i in range(1000)], "machine.no", types={"machine.no": "number"})
    assert (given.role, given.type) == ("input", "number")


def test_a_sentinel_of_two_fields():
    """A number that stands apart in each field is missing in all; one within a field's values, and
    one that other values are beside, stays a value."""
    rows = [{"co": i % 9, "no": 10 * (i % 90), "t": i % 7, "cos": i % 40 - 20, "price": i}
            for i in range(300)]  # fmt: skip
    for row in rows[::9]:
        row |= {"co": -200, "no": -200, "t": -2000}
    for row in rows[1::9]:
        row["t"] = -1
    found = inspect_fields(rows, FieldMapping("price"))
    assert [(each.name, each.sentinel, each.apart) for each in found[:4]] == [
        ("co", "-200", None), ("no", None, "-200"), ("t", "-2000", None), ("cos", None, None),
    ]  # fmt: skip
    assert (found[0].low, found[0].high) == (1, 8)  # without it
    assert proposed(found)["null_values"][-2:] == ["-200", "-2000"]
    for row in rows:
        row["cos"] = -200 + row["cos"]
    assert proposed(inspect_fields(rows, FieldMapping("price")))["null_values"][-1] == "-2000"


@pytest.mark.parametrize(
    ("values", "times", "low", "sentinel"),
    [
        (-999, 2, 1.5, "-999"),
        (-99.9, 1, -40.0, "-99.9"),
        (9999, 2, 1.5, "9999"),
        (2147483647, 2, 1.5, "2147483647"),
        (-999, 9, -3000.0, "-999"),  # among the others
        (-1, 60, 0, "-1"),
        (-1, 9, 0, None),  # as other counts
        (9999, 1, 1.5, None),
        (999, 2, 1.5, None),  # a price
        (-12.5, 9, 1.5, None),  # a power cut
        (64000, 9, 1.5, None),
        (-99, 2, -90, None),
    ],
)
def test_what_is_written_for_a_missing_value(values, times, low, sentinel):
    """Nines and the limits of integers apart from all others need not come often; other numbers
    are none. On 5,118 columns of 797 public files 11 numbers are found, 3 of them zeros that
    count."""
    rows = [{"a": low + i % 70 * 1.0, "price": i} for i in range(500)]
    if low == -3000.0:
        rows = [{"a": 61.5 * i + low, "price": i} for i in range(500)]
    for i in range(times):
        rows[3 + 7 * i]["a"] = values
    assert inspect_fields(rows, FieldMapping("price"))[0].sentinel == sentinel


def test_the_weekday_of_days():
    """It is proposed if the label depends on it, of one series or of several; on weather it costs 1
    to 12 % of accuracy. Of hours, and of labels that are classes, it is not tested."""
    for week, step, label in ((0, 86_400, False), (2, 86_400, True), (0, 3_600, True)):
        rows = [{"at": 1.7e9 + step * (i // 2), "price": week * (i // 2 % 7) + i % 5 / 3 + i / 9}
                for i in range(300)]  # fmt: skip
        assert ("weekday" in inspect_fields(rows)[0].features) is label
    rows = [{"at": 1.7e9 + 86_400 * i, "sky": "abc"[i % 3]} for i in range(60)]
    assert inspect_fields(rows, FieldMapping("sky"))[0].features == ("weekday",)


def test_what_counts_the_records():
    """A number of the row is no input beside the time; without a time it may be all that grows."""
    rows = [{"at": 1.7e9 + 60 * i, "sno": i + 7, "n": i % 7, "price": i / 2} for i in range(60)]
    sno, n, _ = inspect_fields(rows)[1:]
    assert (sno.role, sno.why, n.role) == ("ignored", "counts the records", "input")
    assert inspect_fields([{**row, "at": 1} for row in rows])[1].role == "input"


def test_texts_of_several_words():
    """They are categories if a third of them come again, and free text otherwise."""
    for n, role in ((39, "input"), (45, "ignored")):
        assert field([f"chips and {i % n}" for i in range(60)]).role == role


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
    assert field([*map(str, range(1_000, 1_999)), "0012"]).type == "number"  # a slip, and no code
    (found,) = inspect_fields([{"a": 10**400}], FieldMapping(""))  # no double holds it
    assert found.kinds == {"number": 1}
    assert (field(["b", "b", "b", "a", "7"]).low, field(["b", "7", "8", "9"]).low) == ("b", "b")


@pytest.mark.parametrize(
    ("name", "role"),
    [
        *((name, "id") for name in ("tx", "transaction_id", "a.orderId", "GUID")),
        *((name, "input") for name in ("valid", "monkey")),
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


@pytest.mark.parametrize(
    ("texts", "decimal"),
    [
        (["21,5", "3", "-1,25"], ","),
        (["1.250,00", "980,50"], ","),
        (["1,250", "12,500"], "."),  # thousands, or decimals: nobody knows
        (["21,5", "warm"], "."),
        (["21,5"] * 9 + ["warm"], ","),
        (["21.5"] * 9 + ["1,5"], "."),
    ],
)
def test_guessed_decimals(texts, decimal):
    """A comma is taken as decimal only where most texts are such numbers; if fields contradict each
    other, the usual notation wins a tie, and the majority else."""
    assert guessed_notation({"a": text} for text in texts).decimal == decimal
    assert guessed_notation([{"a": "1,5", "b": "2.25"}]).decimal == "."
    assert guessed_notation([{"a": "1,5", "b": "2.25", "c": "3,5"}]).decimal == ","


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["31.12.2026", "NA", "1.1.2027 14:30"], "dmy"),
        (["01.02.2026"], "dmy"),
        (["12/31/2026", "01/02/2026"], "mdy"),
        (["01/02/2026"], "ymd"),
        (["31/12/2026", "12/31/2026"], "ymd"),
        (["31.12.2026", "later"], "ymd"),
        (["31.12.2026"] * 9 + ["later"], "dmy"),
    ],
)
def test_guessed_orders(texts, order):
    """Day or month above 12, or dots, tell the order; otherwise it stays the usual one."""
    assert guessed_notation({"a": text} for text in texts).date_order == order


def test_the_form_of_a_given_time():
    """A time that the settings name is read by its form, too; one without values has none."""
    weeks = [{"w": 202040 + i, "price": i / 2} for i in range(12)]
    (found, _) = inspect_fields(weeks, FieldMapping("price", time_field="w"))
    assert (found.role, found.type) == ("time", "auto")  # no name says that they are weeks
    named = [{"week": 202040 + i, "price": i / 2} for i in range(12)]
    (found, _) = inspect_fields(named, FieldMapping("price", time_field="week"))
    assert (found.role, found.type) == ("time", "time %G%V")
    (found, _) = inspect_fields([{"week": None, "price": 1.5}], FieldMapping(time_field="week"))
    assert (found.role, found.type) == ("time", "auto")


def test_an_id_with_two_labels_is_none():
    """A house that is sold twice is no repeated record, which would not be learned."""
    records = [{"id": f"h{i % 990}", "rooms": i % 7, "price": 100 + i} for i in range(1_000)]
    roles = {each.name: each.role for each in inspect_fields(records, FieldMapping("price"))}
    assert roles["id"] == "ignored"
    again = records[:990] + records[:10]
    roles = {each.name: each.role for each in inspect_fields(again, FieldMapping("price"))}
    assert roles["id"] == "id"


@pytest.mark.parametrize(("mark", "kind"), [(";", "text"), (", ", "text"), (" ", "auto")])
def test_tags(mark, kind):
    """Texts that list some of a few words become their words; those of two parts do not."""
    words = ("red", "new", "big", "old", "far")
    tags = [mark.join(w for at, w in enumerate(words) if 7 * i >> at & 1) for i in range(1, 90)]
    records = [{"tags": tag or "none", "town": ("Ulm, DE", "Bern, CH")[i % 2], "price": i % 9}
               for i, tag in enumerate(tags)]  # fmt: skip
    found = {each.name: each.type for each in inspect_fields(records)}
    assert (found["tags"], found["town"]) == (kind, "auto")
