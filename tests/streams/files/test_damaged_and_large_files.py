"""Files that a disk damaged, or that hold more than the memory: an error, and no other result."""

import bz2
import gzip
import io
import lzma
import time
import zipfile
from contextlib import closing

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.list_source import drained

from iln_stream.errors import SourceError
from iln_stream.streams.addresses import StreamOptions, stream_at
from iln_stream.streams.files import csv, json_lines
from iln_stream.streams.files import parquet as parquet_files
from iln_stream.streams.files.csv import LONGEST_LINE

CONTENTS = {
    "t.csv": b"a,y\n" + b"".join(b"%d,%d\n" % (i, i * i % 7) for i in range(60)),
    "t.jsonl": b"".join(b'{"a":%d,"y":%d}\n' % (i, i * i % 7) for i in range(60)),
    "t.json": b"[%s]" % b",".join(b'{"a":%d}' % i for i in range(60)),
}


def zipped(content, name):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def read(file):
    """Return all records of a file."""
    source = stream_at(str(file), StreamOptions()).source()
    with closing(source):
        return drained(source)


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zip"])
def test_a_damaged_compressed_file(tmp_path, name, suffix):
    """A flipped bit or a lost end of a compressed file changes no record in silence: all are read,
    or the error names the file."""
    compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.get(suffix)
    content = CONTENTS[name]
    data = zipped(content, name) if compress is None else compress(content)
    file = tmp_path / f"{name}{suffix}"
    file.write_bytes(data)
    expected = read(file)
    flipped = [data[:i] + bytes([data[i] ^ 1 << i % 8]) + data[i + 1 :] for i in range(len(data))]
    errors = []
    for damaged in (*flipped, data[:-9], data[: len(data) // 2], data[:20]):
        file.write_bytes(damaged)
        try:
            assert read(file) == expected
        except SourceError as error:
            errors.append(str(error))
    assert len(errors) > len(data) // 2
    assert all(f"{name}{suffix}" in error for error in errors)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv", "t.jsonl.gz", "t.json.gz"])
@pytest.mark.parametrize("before", [b"", b'{"a": 1}\n'])
def test_a_line_without_an_end(tmp_path, name, before):
    """A file whose line is longer than the bound, as a small compressed one may be, is refused
    before it fills the memory; the error names the bound."""
    content = before + b"x" * (3 * LONGEST_LINE)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(SourceError, match=r"line [12] is longer than 16,777,216"):
        read(tmp_path / name)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_large_array(tmp_path, monkeypatch, encoding):
    """What must be in memory as a whole is refused beyond a bound."""
    monkeypatch.setattr(csv, "LARGEST_WHOLE", 1_000)
    file = tmp_path / "t.json.gz"
    text = CONTENTS["t.json"].decode().ljust(1_001)
    file.write_bytes(gzip.compress(text.encode(encoding)))
    with pytest.raises(SourceError, match=r"more than 1,000 bytes.*lines of JSON in UTF-8"):
        read(file)


@pytest.mark.parametrize("element", ["{}", "[]", "0.5"])
def test_an_array_of_many_values(tmp_path, monkeypatch, element):
    """Values take many times as much memory as their text, so that their number is bounded."""
    monkeypatch.setattr(json_lines, "MOST_VALUES", 1_000)
    file = tmp_path / "t.json"
    file.write_text(f"[{','.join([element] * 400)}]")
    assert len(read(file)) == 400
    file.write_text(f"[{','.join([element] * 1_001)}]")
    with pytest.raises(SourceError, match=r"t\.json has about .* values; .* have 1,000: .*jq -c"):
        read(file)


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("n_rows", [0, 20])
def test_many_columns(tmp_path, separator, n_rows):
    """A file of too many columns is refused before its layout is guessed, which took a minute."""
    header = separator.join(f"c{i}" for i in range(200_000))
    row = separator.join(["1.5"] * 200_000)
    (tmp_path / "t.csv").write_text("\n".join([header, *[row] * n_rows]))
    started = time.process_time()
    stream = stream_at(str(tmp_path / "t.csv"), StreamOptions(separator=separator))
    for refused in (stream.layout, stream.columns, stream.source):
        with pytest.raises(SourceError, match=r"200,000 columns; .* 20,000 .* 10,000 can"):
            refused()
    assert time.process_time() - started < 5.0


def test_long_rows(tmp_path):
    """A poll of long rows returns few of them; a row whose cells have line breaks is no longer
    than a line may be."""
    cells = ",".join(['"%s"' % ("x" * 100_000)] * 40)
    file = tmp_path / "t.csv"
    file.write_text(f"{','.join(f'c{i}' for i in range(40))}\n" + f"{cells}\n" * 10)
    source = stream_at(str(file), StreamOptions()).source()
    polled = [len(source.poll(0.0)) for _ in range(4)]
    assert (max(polled), sum(polled)) == (5, 10)
    assert source.exhausted
    lines = ",".join(['"%s"' % ("x\n" * 50_000)] * 200)
    file.write_text(f"{','.join(f'c{i}' for i in range(200))}\n{lines}\n")
    with pytest.raises(SourceError, match=r"longer than 16,777,216"):
        read(file)


def test_large_rows_of_a_parquet_file(tmp_path, monkeypatch):
    """A text that a dictionary repeats is made for a few rows at once; a long list is refused
    before it becomes objects."""
    monkeypatch.setattr(parquet_files, "MOST_DECODED", 1 << 20)
    file = tmp_path / "t.parquet"
    texts = pa.array(["x" * 100_000] * 20).dictionary_encode()
    parquet.write_table(pa.table({"s": texts}), file)
    source = stream_at(str(file), StreamOptions(limit=15)).source()
    polled = [len(source.poll(0.0)) for _ in range(15)]
    assert (max(polled), sum(polled), source.exhausted) == (1, 15, True)
    lists = [[0.5], [(j * 0.618) % 1 for j in range(300_000)]]
    parquet.write_table(pa.table({"a": lists}), file)
    with pytest.raises(SourceError, match=r"row 1 take 2,4.* bytes .* 2,097,152 .*_group_size"):
        read(file)
    parquet.write_table(
        pa.table({"a": [0.5] * 300_000}), file, use_dictionary=False, compression="zstd"
    )
    with pytest.raises(SourceError, match=r"row 0 take 2,4\d+,\d+ bytes"):
        read(file)


def test_many_columns_of_a_parquet_file(tmp_path, monkeypatch):
    """The number of columns is bounded as that of other files."""
    monkeypatch.setattr(csv, "MOST_COLUMNS", 3)
    parquet.write_table(pa.table({c: [1.0] for c in "abcd"}), tmp_path / "t.parquet")
    with pytest.raises(SourceError, match=r"t\.parquet has 4 columns; at most 3"):
        read(tmp_path / "t.parquet")


def test_a_damaged_parquet_file(tmp_path):
    """A flipped bit or a lost end of a Parquet file with checksums of its pages is never a
    traceback, and seldom read: the error names the file. The format has no checksum of what says
    how columns are called and of which type they are."""
    table = pa.table({"s": [f"t{i % 3}" for i in range(40)], "y": [i / 2 for i in range(40)]})
    file = tmp_path / "t.parquet"
    parquet.write_table(table, file, write_page_checksum=True)
    data = file.read_bytes()
    expected = [record.payload for record in read(file)]
    flipped = [data[:i] + bytes([data[i] ^ 1 << i % 8]) + data[i + 1 :] for i in range(len(data))]
    errors = []
    n_other = 0
    for damaged in (*flipped, *(data[:n] for n in range(0, len(data), 9))):
        file.write_bytes(damaged)
        try:
            n_other += [record.payload for record in read(file)] != expected
        except SourceError as error:
            errors.append(str(error))
    assert n_other < len(data) // 30
    assert len(errors) > len(data) // 2
    assert all("t.parquet" in error for error in errors)
