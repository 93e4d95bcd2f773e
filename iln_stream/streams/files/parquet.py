"""Records from a Parquet file. Needs the extra `parquet`."""

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.parquet import ParquetFile

from iln_stream.errors import SourceError
from iln_stream.streams.base import PAUSE, IteratorSource
from iln_stream.streams.files.csv import require_few_columns, unreadable

_BATCH = 500

_BUFFER = 1 << 20
"""Bytes that are read at once of each column, however large the file's groups of rows are."""

MOST_DECODED = 1 << 28
"""Bytes in memory of the rows that are decoded at once."""

_PER_SECOND = {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}


class ParquetSource(IteratorSource):
    """Reads a Parquet file; each record is a row, by column.

    Values are Python's: `None` for null, `datetime` values in nested columns and `float` POSIX
    seconds for columns of timestamps, dictionaries for structs and maps. It is read in batches, so
    that memory stays bounded.

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
        require_few_columns(path.name, file.metadata.num_columns)
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
        in_lists = _bytes_in_lists(path, file)
        for number in range(file.num_row_groups):
            group = file.metadata.row_group(number)
            n_bytes = max(group.total_byte_size, in_lists[number])
            if n_bytes > max(MOST_DECODED, 100 * path.stat().st_size):
                raise _too_large(path, n_read, n_bytes)
            fitting = MOST_DECODED * group.num_rows // max(1, n_bytes)
            for batch in file.iter_batches(min(_BATCH, max(1, fitting)), row_groups=[number]):
                if (size := sum(map(_size, batch.columns))) > 2 * MOST_DECODED:
                    raise _too_large(path, n_read, size)
                # Texts and items of lists may take four times as much in Python.
                step = max(1, batch.num_rows * MOST_DECODED // (8 * size + 1))
                for at in range(0, batch.num_rows, step):
                    values = (_values(column[at : at + step]) for column in batch.columns)
                    for cells in zip(*values, strict=True):
                        yield dict(zip(names, cells))  # noqa: B905  # it takes time
                    if step < _BATCH:
                        yield PAUSE
                n_read += batch.num_rows
    except (pa.ArrowException, OSError, ValueError, OverflowError, LookupError) as error:
        raise SourceError(f"can't read {path} after row {n_read}: {error}") from error


def _bytes_in_lists(path: Path, file: Any) -> list[int]:
    """Return for each group of rows how many bytes the values in lists take, at 8 bytes each.

    Runs of equal values take next to nothing in the file, and a row is decoded as a whole.
    """
    columns = range(file.metadata.num_columns)
    lists = [k for k in columns if file.schema.column(k).max_repetition_level]
    if not lists:
        return [0] * file.num_row_groups
    with path.open("rb") as opened:  # pyarrow aborts where this part of the footer is damaged
        opened.seek(-8, os.SEEK_END)
        opened.seek(-8 - int.from_bytes(opened.read(4), "little"), os.SEEK_END)
        footer = io.BytesIO(opened.read())
    try:
        groups = _thrift(footer, 12)[4]
        return [8 * sum(int(group[1][k][3][5]) for k in lists) for group in groups]
    except (TypeError, RecursionError) as error:
        raise ValueError("its footer is damaged") from error


def _thrift(data: BinaryIO, kind: int) -> Any:
    """Read a value in Thrift's compact protocol: a list, a struct by number, bytes or a number."""
    if kind in (9, 10):
        head = data.read(1)[0]
        length = head >> 4 if head < 0xF0 else _unsigned(data)
        return [_thrift(data, head & 15) for _ in range(length)]
    if kind == 12:
        fields, number = {}, 0
        while head := data.read(1)[0]:
            number = number + (head >> 4) if head > 15 else _thrift(data, 4)
            fields[number] = head & 15 < 3 or _thrift(data, head & 15)  # below 3: a truth value
        return fields
    if kind == 8:
        return data.read(_unsigned(data))
    if kind in (4, 5, 6):
        return (n := _unsigned(data)) >> 1 ^ -(n & 1)
    return data.read({3: 1, 7: 8}[kind])[0]


def _unsigned(data: BinaryIO) -> int:
    byte = data.read(1)[0]
    return byte if byte < 128 else byte & 127 | _unsigned(data) << 7


def _size(column: Any) -> int:
    """Return the bytes of a column's values, also of those that a dictionary repeats."""
    if pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type):
        lengths = pc.binary_length(column.dictionary)
        return pc.sum(pc.take(lengths, column.indices)).as_py() or 0
    return column.nbytes  # type: ignore[no-any-return]


def _too_large(path: Path, n_read: int, size: int) -> SourceError:
    return SourceError(
        f"{path.name}: rows after row {n_read} take {size:,} bytes of memory; at most "
        f"{2 * MOST_DECODED:,} are read at once: write it with shorter lists and texts, and with "
        "fewer rows in a group (row_group_size)"
    )


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
