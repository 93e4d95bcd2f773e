"""Files that a disk damaged, or that hold more than the memory: an error, and no other result."""

import bz2
import gzip
import io
import lzma
import zipfile

import pyarrow as pa
import pytest
from pyarrow import parquet

from iln_stream.errors import SourceError
from iln_stream.streams.addresses import StreamOptions, stream_at
from iln_stream.streams.files import csv
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
    records = []
    while not source.exhausted:
        records += source.poll(0.0)
    source.close()
    return records


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
