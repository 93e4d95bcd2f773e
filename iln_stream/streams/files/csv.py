"""Events from a CSV file with a header."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from iln_stream.errors import SourceError
from iln_stream.streams.river import RiverDatasetSource


class CsvSource(RiverDatasetSource):
    """Reads a CSV file: one column is the label, the others are inputs.

    A cell with a number is a number, other text is a category, and an empty cell is absent.

    Parameters
    ----------
    file
        Path of a UTF-8 file whose first row has the column names.
    target
        Column of the label.
    limit
        Maximum number of rows.

    """

    def __init__(self, file: Path | str, target: str, limit: int | None = None) -> None:
        path = Path(file)
        try:
            with _opened(path) as opened:
                header = next(csv.reader(opened), [])
        except OSError as error:
            raise SourceError(f"can't read {file}: {error.strerror}") from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise SourceError(f"{path.name} is not a CSV file in UTF-8: {error}") from error
        if target not in header:
            raise SourceError(f"{path.name} has no column {target!r}; it has {', '.join(header)}")
        if twice := sorted(name for name in set(header) if header.count(name) > 1):
            raise SourceError(f"{path.name} has more than one column named {', '.join(twice)}")
        super().__init__(_rows(path, target), stream=path.name, limit=limit)


def _rows(path: Path, target: str) -> Iterator[tuple[dict[str, Any], Any]]:
    with _opened(path) as opened:
        # Cells beyond the header are kept as a list, so that the row becomes a dead letter.
        rows = csv.DictReader(opened, restkey="cells beyond the header")
        try:
            for row in rows:
                cells = {name: _cell(text) for name, text in row.items() if text}
                yield cells, cells.pop(target, None)
        except (UnicodeDecodeError, csv.Error) as error:
            raise SourceError(
                f"{path.name} is not CSV in UTF-8 after line {rows.line_num}: {error}"
            ) from error


def _opened(path: Path) -> TextIO:
    # Spreadsheets write a byte order mark, which "utf-8" would read as part of a column name.
    return path.open(newline="", encoding="utf-8-sig")


def _cell(text: str | list[str]) -> Any:
    if isinstance(text, list) or "_" in text:  # float() would read 1_000
        return text
    try:
        return float(text)
    except ValueError:
        return text
