"""`FileScheme` and `StandardScheme`: files and standard streams as addresses."""

import os

import pytest
from support.list_source import drained

from iln_stream.errors import NoStreamError, SourceError
from iln_stream.streams import StreamOptions, stream_at


def at(address, **options):
    return stream_at(str(address), StreamOptions(**options))


def test_write_then_read(tmp_path):
    """`written` returns the lines in the file when it is called, whatever the extension."""
    stream = at(tmp_path / "letters.txt")
    with pytest.raises(NoStreamError, match=r"can't read .*letters\.txt"):
        stream.written()
    sink = stream.sink()
    sink.write(None, b"1")
    sink.flush()
    source = stream.written()
    sink.write(None, b"2")
    sink.close()
    assert [record.payload for record in drained(source)] == [b"1"]


def test_one_place_has_one_spelling(tmp_path, monkeypatch):
    """Two paths of one file have the same `place`."""
    monkeypatch.chdir(tmp_path)
    assert at("e.jsonl").place == at(tmp_path / "sub" / ".." / "e.jsonl").place


@pytest.mark.parametrize("name", ["e.jsonl", "e.csv", "e.parquet"])
def test_unreadable(tmp_path, name):
    """The error for a file that is missing, or a folder, has its name and the reason."""
    for problem in ("No such file", ".*[Ii]s a dir"):
        with pytest.raises(SourceError, match=f"can't read {tmp_path / name}: {problem}"):
            at(tmp_path / name).source()
        (tmp_path / name).mkdir(exist_ok=True)


def test_sibling():
    """A sibling has the suffix appended to the path."""
    assert at("a/e.jsonl").sibling("replayed") == "a/e.jsonl.replayed"


@pytest.mark.parametrize("name", ["e.csv", "e.jsonl"])
def test_a_pipe_is_no_file(tmp_path, name):
    """What tells the form of the records would be lost: it is refused, with the remedy."""
    os.mkfifo(tmp_path / name)
    stream = at(str(tmp_path / name))
    for read in (stream.source, stream.columns, stream.layout):
        if name == "e.csv" or read == stream.source:
            with pytest.raises(SourceError, match="it is a pipe: give -, and redirect it"):
                read()


def test_unknown_extension():
    """A file with another extension can't be read, and the error has the possible sources."""
    with pytest.raises(
        SourceError, match=r"give kafka, .* a file \(\.csv, .*\.jsonl, .*; \.parquet\)"
    ):
        at("e.doc").source()


@pytest.mark.parametrize("address", ["{}", "sqlite:{}"])
def test_a_link_to_itself(tmp_path, address):
    """It has an address, and opening it is an error of ours."""
    link = tmp_path / "loop.jsonl"
    link.symlink_to(link.name)
    stream = stream_at(address.format(link), StreamOptions())
    assert str(link) in stream.place
    with pytest.raises(SourceError, match=r"loop\.jsonl"):
        stream.source()


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_closed_standard_streams(stream, monkeypatch):
    """A closed standard stream is an error, not a crash."""
    monkeypatch.setattr(f"sys.{stream}", None)
    opened = at("-")
    with pytest.raises(Exception, match="is closed; name a file, or open it"):
        opened.source() if stream == "stdin" else opened.sink()
