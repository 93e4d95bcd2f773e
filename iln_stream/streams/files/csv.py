"""Records from a CSV file with a header."""

import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from iln_stream.errors import SourceError
from iln_stream.streams.base import Record, StreamPartition


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading; one whose name ends in `.gz` is decompressed."""
    return cast(BinaryIO, gzip.open(path) if path.suffix == ".gz" else path.open("rb"))


SEPARATORS = {",": ",", ";": ";", "tab": "\t", "|": "|"}
"""Characters by the names that the setting `separator` has for them."""


def guessed_separator(lines: Sequence[str], preferred: str = ",") -> str | None:
    """Return the name of the separator that gives each line as many cells as the first has.

    Parameters
    ----------
    lines
        The beginning of a file; a quoted cell may have line breaks.
    preferred
        Taken if it fits, even if another one gives more cells.

    Returns
    -------
    str or None
        None if no separator gives at least two columns.

    Examples
    --------
    >>> from iln_stream.streams.files.csv import guessed_separator
    >>> guessed_separator(["temp;price", "21,5;12,5", "3,0;9"])
    ';'

    """
    widths = {name: _width(lines, character) for name, character in SEPARATORS.items()}
    if widths[preferred]:
        return preferred
    best = max(widths, key=lambda name: widths[name])
    return best if widths[best] else None


def _width(lines: Sequence[str], character: str) -> int:
    """Return the number of columns; 0 if rows differ, or have a single cell."""
    try:
        found = [len(row) for row in csv.reader(lines, delimiter=character) if row]
    except csv.Error:
        return 0
    if len(found) > 2:
        found.pop()  # the last line may be the first one of a quoted cell
    return found[0] if len(set(found)) == 1 and found[0] > 1 else 0


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
        self._origin = StreamPartition(self.stream, 0)
        self._rows = islice(_rows(path, columns, SEPARATORS[separator]), limit)
        self._offset = 0
        self.exhausted = False

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next rows without waiting."""
        records = [
            Record(offset, row, self._origin)
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
