"""Schemes for files and for standard input and output."""

import sys
from collections.abc import Mapping, Sequence
from os.path import realpath  # unlike `Path.resolve`, no error for a link to itself
from pathlib import Path
from types import ModuleType
from typing import Any

from iln_stream.errors import NoStreamError, SinkError, SourceError, did_you_mean
from iln_stream.streams.addresses import Form, Scheme
from iln_stream.streams.base import Sink, Source
from iln_stream.streams.files.csv import (
    SAVE_AS_CSV,
    CsvSource,
    guessed_layout,
    layout_of,
    name_inside,
)
from iln_stream.streams.files.json_lines import (
    JsonArraySource,
    JsonLinesSink,
    JsonLinesSource,
    is_document,
)

_ROWS = (".csv", ".tsv", ".tab", ".psv", ".txt", ".dat", ".data")
_JSON = (".jsonl", ".ndjson", ".json")


class FileScheme(Scheme):
    """A path: reads files of rows, JSON and Parquet; appends JSON lines to any file."""

    is_shared = False
    can_be_lost = False

    @property
    def address(self) -> str:
        """The path."""
        return self.name

    @property
    def place(self) -> str:
        """The absolute path."""
        return realpath(self.name)

    @property
    def form(self) -> Form:  # type: ignore[override]
        """Rows of CSV files, a table of Parquet files, otherwise JSON."""
        if self._is(*_ROWS):
            return "rows"
        return "table" if self.name.endswith(".parquet") else "json"

    def columns(self) -> Sequence[str] | None:
        """Return the header of a CSV file, or the columns of a Parquet file."""
        path = self._path
        if self.form == "rows":
            return layout_of(path, self._separator, self.options.columns).columns
        return _parquet(path).columns_of(path) if self.form == "table" else None

    def layout(self) -> Mapping[str, Any]:
        return guessed_layout(self._path, self._separator) if self.form == "rows" else {}

    @property
    def _path(self) -> Path:
        """The file to read. A pipe is none: what tells the form of its records would be lost."""
        path = Path(self.name)
        if path.is_fifo():
            raise SourceError(f"source = {self.name!r}: it is a pipe: give -, and redirect it")
        return path

    @property
    def _separator(self) -> str:
        """What the setting says; of a `.tsv` file tabs, unless it says something."""
        is_tsv = self._is(".tsv", ".tab") and self.options.separator == ","
        return "tab" if is_tsv else self.options.separator

    def source(self) -> Source:
        """Open the file as its extension tells."""
        path, limit = self._path, self.options.limit
        if self._is(*_ROWS, *_JSON, ".parquet") and not path.exists():
            raise SourceError(f"can't read {path}: No such file or directory{_meant(path)}")
        if self.form == "rows":
            return CsvSource(path, limit, self._separator, self.options.columns)
        if self.form == "table":
            return _parquet(path).ParquetSource(path, limit=limit)  # type: ignore[no-any-return]
        if self._is(*_JSON):
            return (JsonArraySource if is_document(path) else JsonLinesSource)(path, limit=limit)
        raise SourceError(f"source = {self.name!r}: {_advice(path)}{_meant(path)}")

    def n_records(self, source: Source) -> int | None:
        """Return the number of lines, unless counting them takes seconds."""
        if not self.name.lower().endswith((*_ROWS, *_JSON[:2])) or self._path.stat().st_size > 1e9:
            return source.lag
        return min(_n_lines(self._path), self.options.limit or sys.maxsize)

    def sink(self, partition: int = 0) -> Sink:
        """Open the file for appending."""
        return JsonLinesSink(Path(self.name))

    def written(self) -> Source:
        """Open the current lines of the file, whatever its extension is."""
        path = Path(self.name)
        try:
            n_lines = _n_lines(path)
        except OSError as error:
            kind = NoStreamError if isinstance(error, FileNotFoundError) else SourceError
            raise kind(f"can't read {path}: {error.strerror}") from error
        return JsonLinesSource(path, limit=n_lines)

    def sibling(self, suffix: str) -> str:
        """Return a path in the same folder."""
        return f"{self.name}.{suffix}"

    def _is(self, *extensions: str) -> bool:
        return name_inside(Path(self.name)).lower().endswith(extensions)


def _n_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _advice(path: Path) -> str:
    """Say what to do with a file that is not read."""
    if path.is_dir():
        return "it is a folder: give a file in it"
    if name_inside(path).lower().endswith((".xlsx", ".xls", ".ods")):
        return SAVE_AS_CSV
    return (
        "give kafka, kafka:TOPIC, sqlite:PATH, a file (.csv, .tsv, .txt, .jsonl, .ndjson, .json, "
        "also .gz, .bz2, .xz or .zip; .parquet), -, river:NAME, synthetic:NAME, or "
        "package.module:attribute of a source"
    )


def _meant(path: Path) -> str:
    """Return a question whether a file of a similar name is meant; empty: there is none."""
    if path.is_dir() or not path.parent.is_dir():
        return ""
    names = [each.name for each in path.parent.iterdir() if each.name != path.name]
    return did_you_mean(str(path), [str(path.with_name(each)) for each in names])


def _parquet(path: Path) -> ModuleType:
    """Return the module that reads Parquet files; most runs don't need pyarrow."""
    try:
        from iln_stream.streams.files import parquet
    except ImportError as error:
        raise SourceError(
            f"{path.name} needs pyarrow ({error}): pip install 'iln-stream[parquet]'"
        ) from error
    return parquet


class StandardScheme(Scheme):
    """`-`: JSON lines from standard input or to standard output."""

    is_shared = False

    @property
    def address(self) -> str:
        """A dash."""
        return "-"

    def source(self) -> Source:
        """Read standard input."""
        if sys.stdin is None:
            raise SourceError("source = '-': standard input is closed; name a file, or open it")
        return JsonLinesSource(sys.stdin.buffer, stream="stdin", limit=self.options.limit)

    def sink(self, partition: int = 0) -> Sink:
        """Write to standard output."""
        if sys.stdout is None:
            raise SinkError("can't write to -: standard output is closed; name a file, or open it")
        return JsonLinesSink(sys.stdout.buffer)
