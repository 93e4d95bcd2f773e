"""`CsvSource`: the rows of a CSV file as events."""

import pytest

from iln_stream.errors import SourceError
from iln_stream.events import MalformedError, decode
from iln_stream.streams.files import CsvSource


def rows(tmp_path, content, target="y", **options):
    file = tmp_path / "table.csv"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    source = CsvSource(file, target, **options)
    records = []
    while not source.exhausted:
        records += source.poll(0.0)
    return records


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("1", 1.0),
        ("-1.5e3", -1500.0),
        (" 2 ", 2.0),
        ("clear", "clear"),
        ("1_000", "1_000"),
        ("1,5", "1,5"),
        ("2026-01-31", "2026-01-31"),
        ("True", "True"),
        ("größer", "größer"),
    ],
)
def test_types_of_cells(tmp_path, cell, value):
    """A cell with a number is a number; other text is a category, unchanged."""
    (record,) = rows(tmp_path, f'a,y\n"{cell}",0\n')
    assert record.payload == {"x": {"a": value}, "y": 0.0}


def test_target_is_not_an_input(tmp_path):
    """The label's column is not an input, whatever its position."""
    records = rows(tmp_path, "a,y,b\n1,2,3\n4,5,6\n")
    assert [record.payload for record in records] == [
        {"x": {"a": 1.0, "b": 3.0}, "y": 2.0},
        {"x": {"a": 4.0, "b": 6.0}, "y": 5.0},
    ]
    assert [record.offset for record in records] == [0, 1]


def test_empty_cells(tmp_path):
    """An empty or missing cell is an absent input, or no label; it is not 0 or a category."""
    records = rows(tmp_path, "a,b,y\n1,,2\n,3,\n4\n")
    assert [record.payload for record in records] == [
        {"x": {"a": 1.0}, "y": 2.0},
        {"x": {"b": 3.0}, "y": None},
        {"x": {"a": 4.0}, "y": None},
    ]


def test_cells_beyond_the_header(tmp_path):
    """A row with too many cells (an unquoted comma) is malformed; the rows around it are not."""
    records = rows(tmp_path, "a,y\n1,2\n1,5,2\n3,4\n")
    decode(records[0].payload)
    with pytest.raises(MalformedError, match=r"x\.cells beyond the header: .*got \['2'\]"):
        decode(records[1].payload)
    decode(records[2].payload)


@pytest.mark.parametrize("cell", ["nan", "inf", "1e999"])
def test_numbers_that_are_not_finite(tmp_path, cell):
    """Infinity and nan are refused with the name of their column."""
    (record,) = rows(tmp_path, f"a,y\n{cell},1\n")
    with pytest.raises(MalformedError, match=r"x\.a: expected a finite number"):
        decode(record.payload)


def test_text_as_label(tmp_path):
    """A label that is not a number is malformed."""
    (record,) = rows(tmp_path, "a,y\n1,high\n")
    with pytest.raises(MalformedError, match="y: Input should be a valid number, got 'high'"):
        decode(record.payload)


def test_header_only(tmp_path):
    """A file without rows is an empty stream."""
    assert rows(tmp_path, "a,y\n") == []


def test_quotes_and_line_ends(tmp_path):
    """Quoted commas and line breaks and Windows' line ends are read correctly."""
    (record,) = rows(tmp_path, 'a,"the b",y\r\n"1, or\r\n2",3,4\r\n')
    assert record.payload == {"x": {"a": "1, or\r\n2", "the b": 3.0}, "y": 4.0}


def test_byte_order_mark(tmp_path):
    """A byte order mark is not part of the first column's name."""
    (record,) = rows(tmp_path, "\ufeffy,a\n1,2\n")
    assert record.payload == {"x": {"a": 2.0}, "y": 1.0}


def test_limit(tmp_path):
    """The source ends after `limit` rows."""
    assert len(rows(tmp_path, "a,y\n" + "1,2\n" * 20, limit=7)) == 7


def test_more_rows_than_a_batch(tmp_path):
    """A long file is read completely and in order."""
    records = rows(tmp_path, "a,y\n" + "".join(f"{i},0\n" for i in range(2345)))
    assert [record.payload["x"]["a"] for record in records] == list(range(2345))
    assert [record.offset for record in records] == list(range(2345))


@pytest.mark.parametrize("content", ["a,b\n1,2\n", ""], ids=["another header", "empty file"])
def test_no_such_target(tmp_path, content):
    """The error for a missing label column has its name and the existing columns."""
    with pytest.raises(SourceError, match=r"table\.csv has no column 'y'; it has"):
        rows(tmp_path, content)


def test_missing_file(tmp_path):
    """The error for a missing file has its name."""
    with pytest.raises(SourceError, match=r"can't read .*nowhere\.csv: No such file"):
        CsvSource(tmp_path / "nowhere.csv", "y")


@pytest.mark.parametrize(
    "content",
    [b"a,y\xff\n1,2\n", b"a,y\n1,2\n\xe9t\xe9,3\n", b"a,y\n1,2\n" + b"x" * 200_000 + b",1\n"],
    ids=["header not UTF-8", "row not UTF-8", "a cell without end"],
)
def test_no_csv(tmp_path, content):
    """A file that is not CSV in UTF-8 is refused with a message, wherever the error is."""
    with pytest.raises(SourceError, match=r"table\.csv is not .*CSV.*UTF-8"):
        rows(tmp_path, content)


def test_duplicate_columns_are_refused(tmp_path):
    """Two columns of the same name are refused, since one of them would be lost."""
    file = tmp_path / "twice.csv"
    file.write_text("a,b,a,y\n1,2,3,4\n")
    with pytest.raises(SourceError, match="more than one column named a"):
        CsvSource(file, target="y")
