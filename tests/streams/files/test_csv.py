"""`CsvSource`: the rows of a CSV file as records."""

import csv
import gzip
import re
from random import Random

import pytest

from iln_stream.errors import SourceError
from iln_stream.streams.files import CsvSource


def rows(tmp_path, content, name="table.csv", **options):
    file = tmp_path / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    source = CsvSource(file, **options)
    records = []
    try:
        while not source.exhausted:
            records += source.poll(0.0)
    except SourceError as error:
        error.n_read = len(records)
        raise
    source.close()
    return records


@pytest.mark.parametrize(
    ("content", "payloads"),
    [
        ("a,y\n", []),
        ("a,y\n1,2\n4,\n", [{"a": "1", "y": "2"}, {"a": "4", "y": ""}]),
        ("a,y\n1\n1,5,2\n", [{"a": "1", "y": None}, {"a": "1", "y": "5", None: ["2"]}]),
        ('a,"the b"\r\n"1, or\r\n2", 3\r\n', [{"a": "1, or\r\n2", "the b": " 3"}]),
        ("\ufeffa , the b\n1,größer\n", [{"a": "1", "the b": "größer"}]),
        ("a;b;c,y\n1;2;3,4\n", [{"a;b;c": "1;2;3", "y": "4"}]),
    ],
    ids=["header only", "cells", "lengths", "quotes", "byte order mark", "other separators"],
)
def test_rows_as_they_are(tmp_path, content, payloads):
    """Cells are texts by column, whose names have no spaces around; a missing cell is None, and
    cells beyond the header are kept, so that they can be refused."""
    assert [record.payload for record in rows(tmp_path, content)] == payloads


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("odd", ["1.5", '"1"', '"a{end}b, ""c"""', '"a" b', 'a "b"', "", "\ufeff"])
def test_a_long_file_is_taken_apart_as_its_lines_are(tmp_path, end, odd):
    """Many lines at once, with quotes, line breaks in cells, odd quotes and blank lines anywhere,
    give the rows that a reader of each row by itself finds."""
    random, lines = Random(1), ["a,b,c"]
    for n in range(3_000):
        cells = [f"{n}", f"{random.random()}", odd.format(end=end) if n % 29 == 3 else "x"]
        lines.append("" if n % 501 == 7 else ",".join(cells))
    found = [(each.offset, *each.payload.values()) for each in rows(tmp_path, end.join(lines))]
    whole = [next(csv.reader(line.splitlines(keepends=True))) for line in lines[1:] if line]
    assert found == [(offset, *row) for offset, row in enumerate(whole)]


@pytest.mark.parametrize(
    "odd",
    [
        "mean,12.1 C,3.2 C",
        "time,sensor replaced,",
        "load,,",
        "NA,NA,NA",
        "load,yes,no",
        "Temp,in C",
    ],
)
def test_what_is_no_second_header(tmp_path, odd):
    """Footers, notes and rows without values are rows, though they may begin with a column's
    name."""
    content = "time,NA,load\n" + "1,2,3\n" * 9 + f"{odd}\n4,5,6\n"
    found = rows(tmp_path, content)
    assert found[-1].payload == {"time": "4", "NA": "5", "load": "6"}
    assert len(found) == 11
    title = "Measured in Ulm, hourly\n" + "1,20.5,1.5,3\n" * 9
    assert len(rows(tmp_path, title, columns="abcd")) == 9
    with pytest.raises(SourceError, match="its first row is no header"):
        rows(tmp_path, title)


@pytest.mark.parametrize("at", [9_000, 12_000, 20_000])
def test_a_byte_that_is_no_text(tmp_path, at):
    """All rows before it are read, and the error says their number."""
    whole = ("a,b\n" + "".join(f"{i},x{i}\n" for i in range(3_000))).encode()
    n = whole[:at].count(b"\n")
    with pytest.raises(SourceError, match=f"after line {n}: it is not in UTF-8") as error:
        rows(tmp_path, whole[:at] + b"\xe4" + whole[at:])
    assert error.value.n_read == n - 1


@pytest.mark.parametrize("first", [1, 300])
def test_a_line_that_is_too_long(tmp_path, first):
    """It is refused by its number, wherever its end is."""
    content = "a,b\n" + "1,2\n" * first + ",".join("1" * (17 << 19)) + "\n5,6\n"
    with pytest.raises(SourceError, match=f"line {first + 2} is longer than 16,777,216"):
        rows(tmp_path, content)


def test_compressed(tmp_path):
    """A file is decompressed, as its first bytes say; a damaged one is an error with its name,
    after the rows before it."""
    data = gzip.compress(b"a,y\n" + b"1,2\n" * 10_000)
    assert len(rows(tmp_path, data, "table.csv.gz")) == len(rows(tmp_path, data)) == 10_000
    assert len(rows(tmp_path, b"a,y\n1,2\n", "table.csv.gz")) == 1
    with pytest.raises(SourceError, match=r"can't read .*table\.csv\.gz"):
        rows(tmp_path, data[:-20], "table.csv.gz")
    whole = gzip.compress(
        "".join(["a,y\n", *(f"{i**5 % 7919},{i}\n" for i in range(3_000))]).encode()
    )
    with pytest.raises(SourceError, match="it is damaged") as error:
        rows(tmp_path, whole[: len(whole) // 2], "table.csv.gz")
    assert error.value.n_read % 128 > 0  # also those of the last batch


@pytest.mark.parametrize(("separator", "character"), [(";", ";"), ("tab", "\t"), ("|", "|")])
def test_separators(tmp_path, separator, character):
    """With its separator a file is read; without, the error names the setting that reads it."""
    content = "a,y;b\n1,5;'x,y'\n2,5;z\n".replace("a,y", "a").replace(";", character)
    found = rows(tmp_path, content, separator=separator)
    assert [record.payload for record in found] == [
        {"a": "1,5", "b": "'x,y'"},
        {"a": "2,5", "b": "z"},
    ]
    with pytest.raises(SourceError, match=re.escape(f"set separator = '{separator}'")):
        rows(tmp_path, content)


def test_more_rows_than_a_batch(tmp_path):
    """A long file is read completely and in order, or up to `limit`."""
    content = "a,y\n" + "".join(f"{i},0\n" for i in range(2345))
    records = rows(tmp_path, content)
    assert [record.payload["a"] for record in records] == [str(i) for i in range(2345)]
    assert [record.offset for record in records] == list(range(2345))
    assert len(rows(tmp_path, content, limit=7)) == 7


@pytest.mark.parametrize(
    "content",
    [b"a,y\xff\n1,2\n", b"a,y\n1,2\n\xe9t\xe9,3\n", b"a,y\n1,2\n" + b"x" * 200_000 + b",1\n"],
    ids=["header not UTF-8", "row not UTF-8", "a cell without end"],
)
def test_no_csv(tmp_path, content):
    """A file that is not CSV in UTF-8 is refused with a message, wherever the error is."""
    with pytest.raises(SourceError, match=r"table\.csv.*: it is not (CSV|in UTF-8)"):
        rows(tmp_path, content)


def test_duplicate_columns_are_refused(tmp_path):
    """Two columns of the same name are refused, since one of them would be lost."""
    file = tmp_path / "twice.csv"
    file.write_text("a,b,a,y\n1,2,3,4\n")
    with pytest.raises(SourceError, match="more than one column named a"):
        CsvSource(file)


@pytest.mark.parametrize("later", ["", '300,"a ""quoted"" text"\n', '300,"",5\n'])
def test_an_open_quote_swallows_no_rows(tmp_path, later):
    """A quote that is never closed, or only by that of a later cell, is an error that names the
    line before it; odd quotes within a line are read as they are."""
    content = "a,b,y\n" + '1,"x"y,2\n\n1," ""z"" ",2\n' * 100 + '1,"open,2\n' + "1,x,2\n" * 90
    with pytest.raises(SourceError, match=r"line 301: .*a quote is open over 9\d lines") as error:
        rows(tmp_path, content + later)
    assert error.value.n_read == 200  # rows before it are read first
    found = [record.payload["b"] for record in rows(tmp_path, content.replace('"open', "open"))]
    assert found == ["xy", ' "z" '] * 100 + ["open"] + ["x"] * 90
    with pytest.raises(SourceError, match=r"after line 4: .*a quote is open over 1 lines"):
        rows(tmp_path, '# of 2026\na,b\n1,2\n# cut:\n3,"cut')
