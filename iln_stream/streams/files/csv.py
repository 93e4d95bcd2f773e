"""Records from a CSV file with a header."""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from iln_stream.errors import SourceError
from iln_stream.streams.base import Record
from iln_stream.streams.files.opening import open_binary
from iln_stream.streams.files.separators import SEPARATORS, guessed_separator

_BATCH = 500

_FIRST_LINES = 50
"""Lines from which the separator is guessed."""

BEYOND = "cells beyond the header"
"""Field of a row that has more cells than the header."""


class CsvSource:
    """Reads a CSV file; each record is a row, as texts by column.

    Parameters
    ----------
    file
        Path of a UTF-8 file whose first row has the column names; `.gz` is decompressed.
    separator
        Name of the separator, among `SEPARATORS`.
    limit
        Maximum number of rows.

    Raises
    ------
    SourceError
        When the file can't be read, is not CSV, seems to have another separator, or has two
        columns with one name.

    """

    partitions = (0,)
    connected = True
    lag = None

    def __init__(self, file: Path | str, limit: int | None = None, separator: str = ",") -> None:
        path = Path(file)
        columns = columns_of(path, separator)
        self.stream = path.name
        self._rows = islice(_rows(path, columns, SEPARATORS[separator]), limit)
        self._offset = 0
        self.exhausted = False

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next rows without waiting."""
        records = [
            Record(offset, row)
            for offset, row in enumerate(islice(self._rows, _BATCH), start=self._offset)
        ]
        self._offset += len(records)
        self.exhausted = len(records) < _BATCH
        return records

    def close(self) -> None:
        """Close the file."""
        self._rows = iter(())  # type: ignore[assignment]


def columns_of(path: Path, separator: str = ",") -> list[str]:
    """Return the column names of a CSV file, without spaces around them.

    Raises
    ------
    SourceError
        When the file can't be read, is not CSV, seems to have another separator, or has two
        columns with one name.

    """
    lines = _first_lines(path)
    guessed = guessed_separator(lines, separator)
    if guessed not in (separator, None):
        raise SourceError(
            f"{path.name}: its columns seem to be separated by {guessed}, not by {separator}: set "
            f"separator = {guessed!r}"
        )
    try:
        header = next(csv.reader(lines, delimiter=SEPARATORS[separator]), [])
    except csv.Error as error:
        raise SourceError(f"{path.name} is not a CSV file in UTF-8: {error}") from error
    header = [name.strip() for name in header]
    if twice := sorted(name for name in set(header) if header.count(name) > 1):
        raise SourceError(f"{path.name} has more than one column named {', '.join(twice)}")
    return header


def separator_of(path: Path) -> str | None:
    """Return the separator that a CSV file seems to have; None: a file of one column."""
    return guessed_separator(_first_lines(path))


def _first_lines(path: Path) -> list[str]:
    try:
        with _opened(path) as opened:
            return list(islice(opened, _FIRST_LINES))
    except (OSError, EOFError) as error:
        raise SourceError(f"can't read {path}: {_why(error)}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path.name} is not a CSV file in UTF-8: {error}{_CONVERT}") from error


def _rows(path: Path, columns: Sequence[str], separator: str) -> Iterator[dict[str, Any]]:
    with _opened(path) as opened:
        # Cells beyond the header are kept, so that the row becomes a dead letter.
        rows = csv.DictReader(opened, columns, restkey=BEYOND, delimiter=separator)
        try:
            next(rows, None)  # the header
            yield from rows
        except (UnicodeDecodeError, csv.Error) as error:
            advice = _CONVERT if isinstance(error, UnicodeDecodeError) else ""
            raise SourceError(
                f"{path.name} is not CSV in UTF-8 after line {rows.line_num}: {error}{advice}"
            ) from error
        except (OSError, EOFError) as error:
            raise SourceError(
                f"can't read {path} after line {rows.line_num}: {_why(error)}"
            ) from error


def _opened(path: Path) -> TextIO:
    # Spreadsheets write a byte order mark, which "utf-8" would read as part of a column name.
    return io.TextIOWrapper(open_binary(path), newline="", encoding="utf-8-sig")


_CONVERT = "; convert it, for instance by `iconv -f WINDOWS-1252 -t UTF-8`"


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
