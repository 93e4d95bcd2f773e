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

_BATCH = 500

BEYOND = "cells beyond the header"
"""Field of a row that has more cells than the header."""


class CsvSource:
    """Reads a CSV file; each record is a row, as texts by column.

    Parameters
    ----------
    file
        Path of a UTF-8 file whose first row has the column names; `.gz` is decompressed.
    limit
        Maximum number of rows.

    Raises
    ------
    SourceError
        When the file can't be read, is not CSV, or has two columns with one name.

    """

    partitions = (0,)
    connected = True
    lag = None

    def __init__(self, file: Path | str, limit: int | None = None) -> None:
        path = Path(file)
        columns_of(path)
        self.stream = path.name
        self._rows = islice(_rows(path), limit)
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


def columns_of(path: Path) -> list[str]:
    """Return the column names of a CSV file.

    Raises
    ------
    SourceError
        When the file can't be read, is not CSV, or has two columns with one name.

    """
    try:
        with _opened(path) as opened:
            header = next(csv.reader(opened), [])
    except (OSError, EOFError) as error:
        raise SourceError(f"can't read {path}: {_why(error)}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path.name} is not a CSV file in UTF-8: {error}") from error
    if twice := sorted(name for name in set(header) if header.count(name) > 1):
        raise SourceError(f"{path.name} has more than one column named {', '.join(twice)}")
    return header


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with _opened(path) as opened:
        # Cells beyond the header are kept, so that the row becomes a dead letter.
        rows = csv.DictReader(opened, restkey=BEYOND)
        try:
            yield from rows
        except (UnicodeDecodeError, csv.Error) as error:
            raise SourceError(
                f"{path.name} is not CSV in UTF-8 after line {rows.line_num}: {error}"
            ) from error
        except (OSError, EOFError) as error:
            raise SourceError(
                f"can't read {path} after line {rows.line_num}: {_why(error)}"
            ) from error


def _opened(path: Path) -> TextIO:
    # Spreadsheets write a byte order mark, which "utf-8" would read as part of a column name.
    return io.TextIOWrapper(open_binary(path), newline="", encoding="utf-8-sig")


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
