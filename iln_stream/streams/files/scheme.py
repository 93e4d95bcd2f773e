"""Schemes for files and for standard input and output."""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from iln_stream.errors import NoStreamError, SinkError, SourceError
from iln_stream.streams.addresses import Form, Scheme
from iln_stream.streams.base import Sink, Source
from iln_stream.streams.files.csv import CsvSource, columns_of, separator_of
from iln_stream.streams.files.json_lines import JsonLinesSink, JsonLinesSource


class FileScheme(Scheme):
    """A path: reads `.jsonl`, `.csv` and `.parquet` files; appends JSON lines to any file."""

    is_shared = False

    @property
    def address(self) -> str:
        """The path."""
        return self.name

    @property
    def place(self) -> str:
        """The absolute path."""
        return str(Path(self.name).resolve())

    @property
    def form(self) -> Form:  # type: ignore[override]
        """Rows of CSV files, a table of Parquet files, otherwise JSON."""
        if self._is(".csv"):
            return "rows"
        return "table" if self._is_parquet else "json"

    def columns(self) -> Sequence[str] | None:
        """Return the header of a CSV file, or the columns of a Parquet file."""
        path = Path(self.name)
        if self._is(".csv"):
            return columns_of(path, self.options.separator)
        return _parquet(path).columns_of(path) if self._is_parquet else None

    def separator(self) -> str | None:
        return separator_of(Path(self.name)) if self._is(".csv") else None

    def source(self) -> Source:
        """Open the file as its extension tells."""
        path, limit = Path(self.name), self.options.limit
        if self._is(".csv"):
            return CsvSource(path, limit=limit, separator=self.options.separator)
        if self._is_parquet:
            return _parquet(path).ParquetSource(path, limit=limit)  # type: ignore[no-any-return]
        if self._is(".jsonl"):
            return JsonLinesSource(path, limit=limit)
        raise SourceError(
            f"source = {self.name!r}: give kafka, kafka:TOPIC, a .jsonl or .csv file (or .gz), a "
            ".parquet file, -, river:NAME, synthetic:NAME, or package.module:attribute of a source"
        )

    def sink(self, partition: int = 0) -> Sink:
        """Open the file for appending."""
        return JsonLinesSink(Path(self.name))

    def written(self) -> Source:
        """Open the current lines of the file, whatever its extension is."""
        path = Path(self.name)
        try:
            with path.open("rb") as file:
                n_lines = sum(1 for _ in file)
        except OSError as error:
            kind = NoStreamError if isinstance(error, FileNotFoundError) else SourceError
            raise kind(f"can't read {path}: {error.strerror}") from error
        return JsonLinesSource(path, limit=n_lines)

    def sibling(self, suffix: str) -> str:
        """Return a path in the same folder."""
        return f"{self.name}.{suffix}"

    @property
    def _is_parquet(self) -> bool:
        return self.name.endswith(".parquet")

    def _is(self, extension: str) -> bool:
        return self.name.endswith((extension, f"{extension}.gz"))


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
