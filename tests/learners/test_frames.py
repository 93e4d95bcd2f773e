import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from iln_stream.errors import IlnWarning
from iln_stream.learners.tables import TableEvents, labels, targets
from iln_stream.records.decoding import one_hot

COLUMNS = {
    "temp": [21.5, None, -0.0, 3.0],
    "rooms": [3, 4, 2**60 + 1, 0],
    "sky": ["clear", None, "grey", "clear"],
    "holiday": [True, False, None, True],
    "nothing": [None, None, None, None],
}
EVENTS = [
    {name: values[i] for name, values in COLUMNS.items()} for i in range(len(COLUMNS["temp"]))
]
TABLES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def all_rows(frame):
    return list(frame.rows(0, len(frame)))


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_row_is_an_event_of_the_service(table):
    """Numbers, booleans, texts and missing values become what the service makes of them."""
    frame = TableEvents(table(COLUMNS))
    assert len(frame) == len(EVENTS)
    for found, x in zip(all_rows(frame), EVENTS, strict=True):
        expected = one_hot(x)
        assert found == expected
        assert {type(value) for value in found.values()} == {float}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_nan_is_missing(table):
    """As null is, which pandas does not tell apart."""
    assert all_rows(TableEvents(table({"a": [1.0, float("nan")], "b": [2.0, 3.0]}))) == [
        {"a": 1.0, "b": 2.0},
        {"b": 3.0},
    ]


def test_kinds_of_columns():
    """Nullable, categorical, mixed, decimal and small types are read; names may be integers."""
    table = pd.DataFrame(
        {
            "nullable": pd.array([1, None], "Int64"),
            "flag": pd.array([None, True], "boolean"),
            "category": pd.Categorical(["u", None]),
            "mixed": pd.Series(["x", 2.5], dtype=object),
            "decimal": pd.Series([Decimal("0.5"), None], dtype=object),
            "small": np.array([0.1, 0.2], np.float32),
            7: [1, 2],
        }
    )
    small = float(np.float32(0.1)), float(np.float32(0.2))
    assert all_rows(TableEvents(table)) == [
        {"nullable": 1.0, "category=u": 1.0, "mixed=x": 1.0, "decimal": 0.5, "small": small[0],
         7: 1.0},
        {"flag": 1.0, "mixed": 2.5, "small": small[1], 7: 2.0},
    ]  # fmt: skip
    encoded = pa.table({"a": pa.array(["u", None]).dictionary_encode()})
    assert all_rows(TableEvents(encoded)) == [{"a=u": 1.0}, {}]
    typed = pl.DataFrame({"a": ["u", None]}, schema={"a": pl.Categorical})
    assert all_rows(TableEvents(typed)) == [{"a=u": 1.0}, {}]
    assert all_rows(TableEvents(pl.DataFrame({"a": [Decimal("0.5"), None]}))) == [{"a": 0.5}, {}]


def test_what_is_refused():
    """The error names the column, or the input, and what is wrong with it."""
    with pytest.raises(ValueError, match=r"column 'a' is inf in row 1: inputs must be finite"):
        TableEvents(pl.DataFrame({"a": [1.0, float("inf")]}))
    with pytest.raises(ValueError, match=r"column 'when' is of type Date: .* to seconds"):
        TableEvents(pl.DataFrame({"when": [datetime.date(2020, 1, 1)]}))
    with pytest.raises(ValueError, match=r"column 'a' has \[1\]: an input is a number"):
        TableEvents(pd.DataFrame({"a": [[1], "x"]}))
    with pytest.raises(ValueError, match=r"two inputs would get the name 'sky=clear'"):
        TableEvents(pd.DataFrame({"sky": ["clear"], "sky=clear": [1.0]}))
    with pytest.raises(TypeError):
        TableEvents([{"a": 1.0}])


def test_numbers_as_text_are_warned_of():
    """Each would silently be a category, also with one text for what is missing, or with decimal
    commas; texts of which some are no numbers are categories."""
    texts = {
        "temp": ["21.5", None, "3", "4", "5"],
        "wind": ["1", "2", "3", "4", "NA"],
        "rain": ["1,5", "2,5", "0,5", "1,0", "2,0"],
        "code": ["7", "x", "8", "y", "9"],
    }
    with pytest.warns(IlnWarning) as given:
        TableEvents(pl.DataFrame(texts)).warn()
    temp, wind, rain = (str(each.message) for each in given)
    assert "column 'temp' has numbers as text: " in temp
    assert "column 'wind' has numbers as text (and others, such as 'NA')" in wind
    assert "column 'rain' has numbers as text: " in rain


def test_labels():
    """Series of any kind, arrays and lists; each has a value, and there are as many as rows."""
    for y in (pd.Series([1, 2]), pl.Series([1, 2]), pa.chunked_array([[1, 2]]), [1, 2]):
        assert targets(y, 2).tolist() == [1.0, 2.0]
        assert labels(y, 2) == [1, 2]
    assert targets(np.array([1, 2]), 2).tolist() == [1.0, 2.0]
    assert labels(pl.Series(["u", "v"]), 2) == ["u", "v"]
    with pytest.raises(ValueError, match=r"y is nan in row 1, .* in 2 rows"):
        targets(pl.Series([1.0, None, float("inf")]), 3)
    with pytest.raises(ValueError, match=r"y is missing in row 1"):
        labels(pd.Series(["u", None]), 2)
    with pytest.raises(ValueError, match=r"y has 2 rows, and X has 3"):
        targets([1.0, 2.0], 3)
    with pytest.raises(ValueError, match=r"y has 2 rows, and X has 3"):
        labels([1, 2], 3)
