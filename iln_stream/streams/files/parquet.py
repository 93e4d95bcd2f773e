"""Records from a Parquet file. Needs the extra `parquet`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.parquet import ParquetFile

from iln_stream.errors import SourceError
from iln_stream.streams.base import IteratorSource
from iln_stream.streams.files.csv import unreadable

_BATCH = 500

_BUFFER = 1 << 20
"""Bytes that are read at once of each column, however large the file's groups of rows are."""

_PER_SECOND = {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}


class ParquetSource(IteratorSource):
    """Reads a Parquet file; each record is a row, by column.

    Values are Python's: `None` for null, `datetime` values in nested columns and `float` POSIX
    seconds for columns of timestamps, dictionaries for structs and maps.

    Parameters
    ----------
    file
        Path of the file. It is read in batches, so that memory stays bounded.
    limit
        Maximum number of rows.

    Raises
    ------
    SourceError
        When the file can't be read, is no Parquet file, or has two columns with one name.

    """

    def __init__(self, file: Path | str, limit: int | None = None) -> None:
        path = Path(file)
        self._file = _opened(path)
        super().__init__(path.name, _rows(path, self._file), limit)

    def close(self) -> None:
        """Close the file."""
        super().close()
        self._file.close()


def columns_of(path: Path) -> list[str]:
    """Return the names of a Parquet file's columns; fields of structs by dotted path.

    Raises
    ------
    SourceError
        When the file can't be read, is no Parquet file, or has two columns with one name.

    """
    with _opened(path) as file:
        return [name for field in file.schema_arrow for name in _paths("", field)]


def _opened(path: Path) -> Any:
    try:
        file = ParquetFile(
            path, buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True
        )
        names = file.schema_arrow.names
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise SourceError(f"{path.name} is no Parquet file: {error}") from error
    except OSError as error:
        raise unreadable(path, error) from error
    if twice := sorted({name for name in names if names.count(name) > 1}):
        file.close()
        raise SourceError(f"{path.name} has more than one column named {', '.join(twice)}")
    return file


def _paths(prefix: str, field: Any) -> Iterator[str]:
    path = f"{prefix}.{field.name}" if prefix else field.name
    if pa.types.is_struct(field.type):
        for inner in field.type:
            yield from _paths(path, inner)
    else:
        yield path


def _rows(path: Path, file: Any) -> Iterator[dict[str, Any]]:
    names = file.schema_arrow.names
    n_read = 0
    try:
        for batch in file.iter_batches(_BATCH):
            for cells in zip(*map(_values, batch.columns), strict=True):
                yield dict(zip(names, cells, strict=True))
            n_read += batch.num_rows
    except (pa.ArrowException, OSError, ValueError, OverflowError, KeyError) as error:
        raise SourceError(f"can't read {path} after row {n_read}: {error}") from error


def _values(column: Any) -> list[Any]:
    """Return a column's values; in the usual cases fast."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        unit = _PER_SECOND[kind.unit]
        whole = column.cast(pa.int64()).to_pylist()
        return [None if value is None else value / unit for value in whole]
    if pa.types.is_floating(kind) and not column.null_count:
        return column.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]
    return column.to_pylist(maps_as_pydicts="strict")  # type: ignore[no-any-return]
