"""`ParquetSource`: the rows of a Parquet file as records."""

import datetime as dt
import re
import subprocess
import sys
from contextlib import closing
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from support.command_line import environment
from support.list_source import drained

from iln_stream.errors import SourceError
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_table_row
from iln_stream.streams import StreamOptions, stream_at
from iln_stream.streams.files.parquet import ParquetSource, columns_of

NOON = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)


def rows(file, **options):
    with closing(ParquetSource(file, **options)) as source:
        records = drained(source)
    assert [record.offset for record in records] == list(range(len(records)))
    return [record.payload for record in records]


def written(tmp_path, table, **options):
    file = tmp_path / "table.parquet"
    parquet.write_table(table, file, **options)
    return file


def test_types(tmp_path):
    """Columns of each type become inputs, id, time and label; null and NaN are missing."""
    table = pa.table(
        {
            "n": pa.array([1, None], pa.int64()),
            "x": pa.array([1.5, None], pa.float32()),
            "nan": pa.array([float("nan"), 2.0]),
            "ok": pa.array([True, None]),
            "sky": pa.array(["clear", "rain"]).dictionary_encode(),
            "price": pa.array([Decimal("12.50"), Decimal("9.00")], pa.decimal128(8, 2)),
            "day": pa.array([NOON.date(), None], pa.date32()),
            "clock": pa.array([dt.time(1, 0, 2), None], pa.time64("us")),
            "took": pa.array([dt.timedelta(seconds=90), None], pa.duration("ms")),
            "shop": pa.array([{"zip": "01067", "open": NOON}, None]),
            "spot": pa.array([[1.5, 2.5], []], pa.list_(pa.float64())),
            "stock": pa.array([[("a", 7)], None], pa.map_(pa.string(), pa.int64())),
            "at": pa.array([NOON, NOON], pa.timestamp("ns", "Europe/Berlin")),
            "key": pa.array([7, 8], pa.uint64()),
        }
    )
    file = written(tmp_path, table)
    mapping = FieldMapping(
        target="price", id_field="key", time_field="at", types={"shop.zip": "category"}
    )
    decode = MappedDecoder(mapping, parse_table_row)
    first, second = (decode(row, None) for row in rows(file))
    midnight = NOON.replace(hour=0).timestamp()
    assert first.x == {
        "n": 1.0, "x": 1.5, "ok": 1.0, "sky=clear": 1.0, "day": midnight, "clock": 3602.0,
        "took": 90.0, "shop.zip=01067": 1.0, "shop.open": NOON.timestamp(), "spot.0": 1.5,
        "spot.1": 2.5, "stock.a": 7.0,
    }  # fmt: skip
    assert (first.y, first.id, first.time) == (12.5, "7", NOON.timestamp())
    assert second.x == {"nan": 2.0, "sky=rain": 1.0}


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_units_of_timestamps(tmp_path, unit):
    """Timestamps of each unit are POSIX seconds; those without a zone are in UTC."""
    table = pa.table({"at": pa.array([NOON.replace(tzinfo=None), None], pa.timestamp(unit))})
    file = written(tmp_path, table, version="2.6")
    assert rows(file) == [{"at": NOON.timestamp()}, {"at": None}]


def test_more_rows_than_a_batch(tmp_path):
    """A file of several groups of rows is read completely and in order, up to a limit."""
    file = written(tmp_path, pa.table({"a": list(range(2345))}), row_group_size=700)
    assert [row["a"] for row in rows(file)] == list(range(2345))
    assert len(rows(file, limit=1001)) == 1001
    assert rows(written(tmp_path, pa.table({"a": pa.array([], pa.int64())}))) == []


def test_memory_is_bounded(tmp_path):
    """Reading the beginning of one large group of rows takes little of the file's size."""
    generator = np.random.default_rng(1)
    table = pa.table({f"x{i}": generator.random(size=1_000_000) for i in range(20)})
    file = written(tmp_path, table, row_group_size=1_000_000, use_dictionary=False)
    assert file.stat().st_size > 140 << 20
    n_read, grown = read_alone(file)
    assert n_read == "51200"
    assert grown < 100 << 10


def test_many_equal_values_in_a_list(tmp_path):
    """A list of millions of equal values, which is a few kB in the file, is refused before it is
    decoded, with the bound; so it takes no memory. A list of a usual file is read."""
    lists = pa.ListArray.from_arrays([0, 40_000_000], pa.array(np.zeros(40_000_000, np.int8)))
    file = written(tmp_path, pa.table({"n": [1], "bomb": lists}), compression="zstd")
    assert file.stat().st_size < 100_000
    problem, grown = read_alone(file)
    assert re.match(r"table.parquet: rows after row 0 take 320,\d+,\d+ .* 536,870,912 are", problem)
    assert grown < 50 << 10
    more = pa.table({"a": [[0.5] * 100] * 700, "b": [[{"c": ["x"]}]] * 700})
    assert len(rows(written(tmp_path, more, row_group_size=200))) == 700


def read_alone(file):
    """Return what a process of its own says of reading a file: the number of records, or the
    error; and by how many KiB its memory grew at most."""
    code = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from iln_stream.errors import SourceError\n"
        "from iln_stream.streams.files.parquet import ParquetSource\n"
        "source = ParquetSource(sys.argv[1])\n"
        "def peak():\n"
        "    text = Path('/proc/self/status').read_text()\n"
        "    return int(re.search(r'VmHWM:\\s+(\\d+) kB', text)[1])\n"
        "before = peak()\n"
        "try:\n"
        "    found = sum(len(source.poll(0.0)) for _ in range(400))\n"
        "except SourceError as error:\n"
        "    found = error\n"
        "print(found, peak() - before, sep='\\n')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(file)],
        env=environment(), capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    found, grown = done.stdout.splitlines()
    return found, int(grown)


def test_files_that_are_wrong(tmp_path):
    """A file of another format and one with a column twice are errors by name."""
    (tmp_path / "a.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match=r"a\.parquet is no Parquet file"):
        ParquetSource(tmp_path / "a.parquet")
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    with pytest.raises(SourceError, match="more than one column named a"):
        columns_of(written(tmp_path, twice))


def test_a_damaged_file(tmp_path):
    """Damage beyond the first rows is an error that says how far reading came."""
    table = pa.table({"a": np.arange(100_000.0)})
    file = written(tmp_path, table, use_dictionary=False, compression="gzip", row_group_size=5_000)
    data = bytearray(file.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 2000] = b"\xff" * 2000
    file.write_bytes(data)
    with pytest.raises(SourceError, match=r"can't read .*table\.parquet after row [1-9]"):
        rows(file)


def test_columns_and_form(tmp_path):
    """The scheme knows the columns, with those of structs by dotted path."""
    table = pa.table({"shop": pa.array([{"zip": "1", "at": {"x": 1.0}}]), "price": [1.0]})
    stream = stream_at(str(written(tmp_path, table)), StreamOptions())
    assert stream.form == "table"
    assert stream.columns() == ["shop.zip", "shop.at.x", "price"]


def test_pyarrow_is_missing(tmp_path, monkeypatch):
    """Without pyarrow the error has the command that installs it."""
    monkeypatch.delitem(sys.modules, "iln_stream.streams.files.parquet")
    monkeypatch.delattr("iln_stream.streams.files.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").touch()
    with pytest.raises(SourceError, match=r"pip install 'iln-stream\[parquet\]'"):
        stream_at(str(tmp_path / "a.parquet"), StreamOptions()).source()
