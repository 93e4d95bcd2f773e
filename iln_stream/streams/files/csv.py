"""Records from files of rows: CSV, TSV, and columns with blanks between them.

The rows are read by Python's csv module. What stands around them is found here, from the first
lines alone, as `csv.Sniffer` knows neither comments nor titles, and takes each letter for a
separator; the readers of pandas, Arrow and DuckDB guess as well, but are no light dependencies, and
would decide what a cell is, which `iln_stream.records` does for all formats alike.
"""

import bz2
import csv
import errno
import gzip
import io
import lzma
import re
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, islice, zip_longest
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO, cast

from iln_stream.errors import IlnWarning, SourceError
from iln_stream.streams.base import Record, StreamPartition

_COMPRESSED: dict[str, tuple[str, Callable[[Path], Any]]] = {
    r"\x1f\x8b": (".gz", gzip.open),
    r"BZh\d1AY&SY": (".bz2", bz2.open),
    r"\xfd7zXZ\0": (".xz", lzma.open),
    r"PK\x03\x04": (".zip", lambda path: _archive(path).open(_only_member(path))),
}
"""How a file is opened that begins with these bytes, whatever its name; or that is named so, and
begins with no text: it is damaged."""


def name_inside(path: Path) -> str:
    """Return the name of a file without compression: of an archive, that of its only file."""
    if path.suffix.lower() == ".zip" and path.is_file():
        return _only_member(path)
    return path.stem if path.suffix.lower() in (".gz", ".bz2", ".xz") else path.name


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading; a compressed one, or an archive of one file, is decompressed."""
    if path.is_file():  # a pipe's bytes can be read once only
        with path.open("rb") as opened:
            head = opened.read(64).decode("latin-1")
        is_text = "".join(head.split()).isprintable()
        for mark, (suffix, opens) in _COMPRESSED.items():
            if re.match(mark, head) or (path.suffix.lower() == suffix and not is_text):
                with _damage():
                    decompressed = _Decompressed(opens(path))
                    return cast(BinaryIO, io.BufferedReader(decompressed, 1 << 16))
    return path.open("rb")


@contextmanager
def _damage() -> Iterator[None]:
    """Raise the errors of all libraries that decompress as OSError."""
    try:
        yield
    except (EOFError, RuntimeError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
        raise OSError(errno.EIO, f"it is damaged: {error}") from error


class _Decompressed(io.RawIOBase):
    """A file that is decompressed as it is read."""

    def __init__(self, opened: BinaryIO) -> None:
        self._opened = opened

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._opened.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        with _damage():
            content = self._opened.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self._opened.close()
        super().close()


def _archive(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (RuntimeError, zipfile.BadZipFile) as error:
        raise SourceError(f"{path.name} is no whole archive: get it again") from error


def _only_member(path: Path) -> str:
    names = _archive(path).namelist()
    names = [each for each in names if not (each.endswith("/") or each.startswith("__MACOSX/"))]
    if "xl/workbook.xml" in names:
        raise SourceError(f"{path.name} is a spreadsheet: {SAVE_AS_CSV}")
    if len(names) != 1:
        raise SourceError(
            f"{path.name} has {len(names)} files ({', '.join(names[:5])}): unpack the one to read"
        )
    return names[0]


SAVE_AS_CSV = "save the sheet as CSV, in the spreadsheet program or with pandas, and give that file"


def encoding_of(path: Path) -> str:
    """Return the encoding of a file: UTF-8, UTF-16, or UTF-32 if it has a mark."""
    with open_binary(path) as opened:
        head = opened.read(1024)
    if head.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "utf-32"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    # Half of the bytes of ASCII text in UTF-16 are 0, and none of any in UTF-8.
    odd, even = head[1::2].count(0), head[::2].count(0)
    if max(odd, even) > len(head) // 4:
        return "utf-16-le" if odd > even else "utf-16-be"
    # Spreadsheets write a byte order mark, which "utf-8" would read as part of a column name.
    return "utf-8-sig"


SEPARATORS = {",": ",", ";": ";", "tab": "\t", "|": "|", "blank": " "}
"""Characters by the names that the setting `separator` has for them."""


class _Table(NamedTuple):
    """Where rows of one width begin."""

    width: int
    n_before: int


def guessed_separator(lines: Sequence[str], preferred: str = ",") -> str | None:
    """Return the name of the separator that gives most lines as many cells as the first has.

    Parameters
    ----------
    lines
        The beginning of a file; a quoted cell may have line breaks. Lines before the table may have
        fewer cells.
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
    tables = {name: _table(lines, name) for name in SEPARATORS}
    tables = {name: table for name, table in tables.items() if table.width}
    if preferred in tables and not tables[preferred].n_before:
        has_header = any(map(str.isalpha, lines[0]))  # without one, 1,5;2,5 has three cells
        return preferred if has_header else max(tables, key=lambda name: _n_values(lines, name))
    if len(tables) > 1:  # the blank in `2026-01-01 12:00` separates nothing
        tables.pop("blank", None)
    return min(tables, key=lambda name: (tables[name].n_before, -tables[name].width), default=None)


def _cells(lines: Sequence[str], separator: str) -> list[list[str]]:
    return [row for row in csv.reader(lines, **_format(separator)) if row]


def _n_values(lines: Sequence[str], separator: str) -> float:
    """Return the share of cells that are numbers or times."""
    cells = [cell.strip() for row in _cells(lines, separator) for cell in row]
    return sum(_VALUE.fullmatch(cell) is not None for cell in cells) / len(cells)


def _format(separator: str) -> dict[str, Any]:
    """Return the arguments of `csv.reader`; any number of blanks separates."""
    return {"delimiter": SEPARATORS[separator], "skipinitialspace": separator == "blank"}


def _table(lines: Sequence[str], separator: str) -> _Table:
    """Return the width of the rows, and how many narrower ones precede; 0: rows differ."""
    try:
        widths = [len(row) for row in _cells(lines, separator)]
    except csv.Error:
        return _Table(0, 0)
    if len(widths) > 2:
        widths.pop()  # the last line may be the first one of a quoted cell
    ((width, n),) = Counter(widths).most_common(1) or [(0, 0)]
    n_before = widths.index(width) if n else 0
    same = n > 1 or len(widths) <= 2
    share = widths.count(width) / max(1, len(widths) - n_before)
    is_table = width > 1 and same and share >= (1.0 if separator == "blank" else _MOSTLY)
    return _Table(width if is_table and all(w < width for w in widths[:n_before]) else 0, n_before)


class Layout(NamedTuple):
    """How a file of rows is taken apart.

    Parameters
    ----------
    encoding
        Of its text.
    separator
        Name of the separator, among `SEPARATORS`.
    columns
        Names of the columns. Those without a name are called `column_1` and so on by their place.
    valueless
        Those without a name that have no value in the first rows: separators at the ends of lines.
    n_before
        Lines before the first record.
    has_comments
        Whether lines that begin with # are comments, as one before the table does.

    """

    encoding: str
    separator: str
    columns: list[str]
    valueless: frozenset[str]
    n_before: int
    has_comments: bool


BATCH = 500
"""Rows that are returned together."""

LONGEST_LINE = 16 << 20
"""Bytes, or characters of a file of rows: who sends or packs more must not fill the memory."""

_FIRST_LINES, _FIRST_COLUMNS = 50, 1_000
"""Lines and columns from which the layout is guessed."""

BEYOND = "cells beyond the header"
"""Field of a row that has more cells than the header."""

_COMMENT = "#"
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""A byte order mark; of files that were joined each has one."""
_SEPARATOR_LINE = re.compile(r"sep=.\s*")
"""By which a spreadsheet knows the separator."""

_VALUE = re.compile(
    r"[-+−(]?\W?\d[\d.,'’ ]*([eE][-+]?\d+)?\W?"
    r"|\d+[-./:]\d+([-./: T]+\d+)*\W?( ?[AaPp]\.?[Mm]\.?|Z)?"
)
"""What looks like a number or a time, and not like the name of a column."""

_NOTHING = {"", "na", "n/a", "nan", "null", "none", "?", "-"}
"""Texts without a value that say nothing about the header."""

_MOSTLY = 0.8


class RowSource:
    """Reads the rows of a file in batches; rows before an error are returned before it is raised.

    An empty row counts for the offset, and is left out.
    """

    partitions = (0,)
    connected = True
    lag = None

    def __init__(self, name: str, rows: Iterator[dict[str, Any]], limit: int | None) -> None:
        self.stream = name
        self._origin = StreamPartition(name, 0)
        self._rows = islice(rows, limit)
        self._error: SourceError | None = None
        self._offset = 0
        self.exhausted = False

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next rows without waiting."""
        if self._error:
            raise self._error
        rows: list[dict[str, Any]] = []
        try:
            rows.extend(islice(self._rows, BATCH))
        except SourceError as error:
            # A damaged file may have given wrong rows, too.
            if not rows or isinstance(error.__cause__, OSError):
                raise
            self._error = error
        records = [
            Record(offset, row, self._origin)
            for offset, row in enumerate(rows, start=self._offset)
            if row
        ]
        self._offset += len(rows)
        self.exhausted = len(rows) < BATCH and not self._error
        return records

    def close(self) -> None:
        """Close the file."""
        self._rows = iter(())  # type: ignore[assignment]


class CsvSource(RowSource):
    """Reads a file of rows; each record is a row, as texts by column.

    Comments (lines that begin with #, if one stands before the table), blank lines, a line `sep=;`
    and lines of titles before the header are left out; a header without names, `column_1`, ...

    Parameters
    ----------
    file
        Path of a file in UTF-8 or UTF-16 whose first row has the column names; a compressed one is
        decompressed.
    separator
        Name of the separator, among `SEPARATORS`.
    limit
        Maximum number of rows.
    columns
        Names of the columns, if the first row has none or two are the same. A first row of
        these names is the header.

    Raises
    ------
    SourceError
        When the file can't be read, is not CSV, seems to have another separator or no header, or
        has two columns with one name.

    """

    def __init__(
        self,
        file: Path | str,
        limit: int | None = None,
        separator: str = ",",
        columns: Sequence[str] = (),
    ) -> None:
        path = Path(file)
        layout = layout_of(path, separator, columns)
        super().__init__(path.name, _rows(path, layout), limit)


def layout_of(path: Path, separator: str = ",", columns: Sequence[str] = ()) -> Layout:
    """Return how a file is taken apart.

    Raises
    ------
    SourceError
        As of `CsvSource`.

    """
    lines, encoding = _first_lines(path)
    guessed = guessed_separator([*_table_lines(lines).values()], separator)
    if guessed not in (separator, None):
        raise SourceError(
            f"{path.name}: its columns seem to be separated by {guessed}, not by {separator}: set "
            f"separator = {guessed!r}"
        )
    return _layout(path.name, lines, encoding, separator, columns)


def guessed_layout(path: Path, preferred: str = ",") -> dict[str, Any]:
    """Return the settings with which a file can be read: `separator`, and `columns` if needed."""
    lines, encoding = _first_lines(path)
    separator = guessed_separator([*_table_lines(lines).values()], preferred) or ","
    try:
        _layout(path.name, lines, encoding, separator, ())
    except _NeedsColumnsError as error:
        return {"separator": separator, "columns": tuple(error.columns)}
    return {"separator": separator}


class _NeedsColumnsError(SourceError):
    """The first row does not name the columns, or names two alike."""

    def __init__(self, problem: str, columns: list[str]) -> None:
        named = ", ".join(f'"{name}"' for name in columns)
        super().__init__(f"{problem}: name the columns, such as columns = [{named}]")
        self.columns = columns


def _table_lines(lines: Sequence[str]) -> dict[int, str]:
    """Return the lines that are neither blank, nor comments, nor `sep=;`, by number, from 1."""
    comments = _comments(lines)
    return {
        number: line
        for number, line in enumerate(lines, start=1)
        if line.strip() and not _SEPARATOR_LINE.fullmatch(line.strip()) and line not in comments
    }


def _comments(lines: Sequence[str]) -> list[str]:
    """Return the lines that begin with #, if the first one with text does, and others do not."""
    texts = [line for line in lines if line.strip()]
    comments = [line for line in texts if line.startswith(_COMMENT)]
    return comments if comments[:1] == texts[:1] and comments != texts else []


def _layout(
    name: str, lines: Sequence[str], encoding: str, separator: str, given: Sequence[str]
) -> Layout:
    numbered, comments = _table_lines(lines), _comments(lines)
    body, numbers = list(numbered.values()), list(numbered)
    rows, ends = [], [0]  # the last line of each row
    reader = csv.reader(body, **_format(separator))
    try:
        for row in reader:
            rows.append(row)
            ends.append(numbers[reader.line_num - 1])
    except csv.Error as error:
        raise SourceError(f"{name} is not a CSV file in UTF-8: {error}") from error
    n = _table(body, separator).n_before
    before, rows = rows[:n], rows[n:]
    header = [cell.strip() for cell in (rows or [[]])[0]]
    is_header = _is_header(header, rows[1:])
    if not is_header and rows and (outer := _outer_header(comments, before, rows, separator)):
        header, is_header = outer, True
    elif rows and (is_header or not (given or is_header is False)):
        n, rows = n + 1, rows[1:]
    if given:
        if len(given) != len(header) and header:
            raise SourceError(
                f"{name}: columns has {len(given)} names, and a row has {len(header)} cells: name "
                "each column"
            )
        if not is_header and {cell for cell in header if cell} <= set(given):
            n, rows = n + 1, rows[1:]
        header = list(given)
    elif is_header is False:
        raise _NeedsColumnsError(
            f"{name}: its first row is no header, but a record ({', '.join(header[:5])})",
            [f"column_{i}" for i in range(1, len(header) + 1)],
        )
    titles = before if before and before[-1] != [cell for cell in header if cell] else []
    units = _units(rows)
    if left_out := [*titles, *units]:
        warnings.warn(
            f"{name}: {len(left_out)} lines beside the header are left out, the first is "
            f"{' '.join(left_out[0])[:60]!r}",
            IlnWarning,
            stacklevel=2,
        )
    n, rows = n + len(units), rows[len(units) :]
    return _named(
        name, Layout(encoding, separator, header, frozenset(), ends[n], bool(comments)), rows
    )


def _outer_header(
    comments: Sequence[str],
    before: Sequence[list[str]],
    rows: Sequence[list[str]],
    separator: str,
) -> list[str] | None:
    """Return a header that is the last comment, or that has no name for row numbers or blanks."""
    width = len(rows[0])
    if before and len(before[-1]) == width - 1:
        if not any(row[-1].strip() for row in rows):
            return [*before[-1], ""]
        if _is_header(before[-1], [row[1:] for row in rows]):
            return ["", *before[-1]]
    if comments and not before:
        named = next(csv.reader([comments[-1].lstrip(f"{_COMMENT} ")], **_format(separator)), [])
        return named if len(named) == width else None
    return None


def _is_header(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool | None:
    """Return whether a row names columns; None: nothing says so, and nothing says no."""
    first = first[:_FIRST_COLUMNS]
    names, values, again, _ = _seen(first, rest)
    if names:
        return True
    if (values and not _is_range(first)) or 2 * again > len(first):
        return False
    return None


def _units(rows: Sequence[list[str]]) -> list[list[str]]:
    """Return the rows below the header that have units or types, and no number or time."""
    for n, row in enumerate(rows):
        names, values, _, texts = _seen(row[:_FIRST_COLUMNS], rows[n + 1 :])
        if values or not names or (names == 1 and texts):
            return [*rows[:n]]
    return []


def _seen(first: Sequence[str], rest: Sequence[Sequence[str]]) -> tuple[int, int, int, int]:
    """Count a row's texts above values, values above values, texts again below, other texts."""
    names = values = again = texts = 0
    for at, cell in enumerate(map(str.strip, first)):
        cells = (row[at].strip() for row in rest if len(row) > at)
        below = [each for each in cells if each.lower() not in _NOTHING]
        is_value = _VALUE.fullmatch(cell) is not None
        is_text = cell.lower() not in _NOTHING and not is_value
        if below and sum(_VALUE.fullmatch(b) is not None for b in below) >= _MOSTLY * len(below):
            names += is_text
            values += is_value
        else:
            texts += is_text
        again += cell in below and not is_value
    return names, values, again, texts


def _is_range(cells: Sequence[str]) -> bool:
    """Return whether the numbers among cells count: 0, 1, 2 or 2019, 2020, 2021 name columns."""
    numbers = [int(cell) for cell in cells if cell.strip().isdecimal()]
    return len(numbers) > 2 and numbers == [*range(numbers[0], numbers[0] + len(numbers))]


def _named(name: str, layout: Layout, rows: Sequence[Sequence[str]]) -> Layout:
    """Return the layout in which each column has a name of its own."""
    header = [cell.strip().strip(_MARK) for cell in layout.columns]
    columns = [cell or f"column_{at}" for at, cell in enumerate(header, start=1)]
    valueless = {
        column
        for at, (cell, column) in enumerate(zip(header, columns, strict=True))
        if not cell and not any(row[at].strip() for row in rows if len(row) > at)
    }
    if twice := sorted(each for each, n in Counter(columns).items() if n > 1):
        seen: Counter[str] = Counter()
        for at, column in enumerate(columns):
            seen[column] += 1
            columns[at] = column if seen[column] == 1 else f"{column}_{seen[column]}"
        raise _NeedsColumnsError(
            f"{name} has more than one column named {', '.join(twice)}", columns
        )
    return layout._replace(columns=columns, valueless=frozenset(valueless))


def _first_lines(path: Path) -> tuple[list[str], str]:
    try:
        encoding = encoding_of(path)
        with _opened(path, encoding) as opened:
            lines = list(islice(_lines(opened, path.name, []), _FIRST_LINES))
    except OSError as error:
        raise SourceError(f"can't read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path.name} is not a CSV file in UTF-8: {_why(error)}") from error
    if "".join(lines).lstrip().lower().startswith(("<!doctype", "<html", "<?xml")):
        raise SourceError(f"{path.name} is a page in HTML or XML, no CSV file: download it again")
    return lines, encoding


def _rows(path: Path, layout: Layout) -> Iterator[dict[str, Any]]:
    seen: list[str] = []
    with _opened(path, layout.encoding) as opened:
        lines = _lines(opened, path.name, seen)
        for _ in islice(lines, layout.n_before):
            pass
        if layout.has_comments:
            lines = ("\n" if line.startswith(_COMMENT) else line for line in lines)
        rows = csv.reader(lines, strict=True, **_format(layout.separator))
        found = _closed(rows, seen, layout)
        try:
            yield from _without(found, layout.valueless) if layout.valueless else found
        except (UnicodeDecodeError, csv.Error) as error:
            n = layout.n_before + rows.line_num - len(seen)
            raise SourceError(
                f"{path.name} is not CSV in UTF-8 after line {n}: {_why(error)}"
            ) from error
        except OSError as error:
            n, why = layout.n_before + rows.line_num - len(seen), error.strerror or error
            raise SourceError(f"can't read {path} after line {n}: {why}") from error


def _closed(rows: Iterator[list[str]], seen: list[str], layout: Layout) -> Iterator[dict[str, Any]]:
    """Yield rows by column, as `csv.DictReader` does with a call more for each row.

    One whose quotes are odd is read loosely, unless it would swallow other lines. `seen` gets the
    lines that a row is read from.
    """
    columns, width = layout.columns, len(layout.columns)
    while True:
        seen.clear()
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            if sum(map(bool, map(str.strip, seen))) > 1 or "end of data" in str(error):
                raise csv.Error(
                    f"a quote is open over {len(seen)} lines: close it, or write it twice"
                ) from error
            row = next(csv.reader(seen, **_format(layout.separator)))
        if len(row) == width:
            # Separators alone are a blank line.
            yield dict(zip(columns, row)) if any(row) else {}  # noqa: B905  # a keyword takes time
        elif row:  # cells beyond the header are kept, so that the row becomes a dead letter
            cells: dict[str, Any] = dict(zip_longest(columns, row[:width]))
            if row[width:]:
                cells[BEYOND] = row[width:]
            yield cells if any(cells.values()) else {}


def _without(rows: Iterable[dict[str, Any]], valueless: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Leave out columns without a name where they have no value."""
    for row in rows:
        for name in valueless:
            if not row.get(name, name):
                del row[name]
        yield row


def _lines(opened: TextIO, name: str, seen: list[str]) -> Iterator[str]:
    """Yield lines, of which each is in memory as a whole; `seen` gets each."""
    for number in count(1):
        line = opened.readline(LONGEST_LINE + 1)
        if not line:
            return
        if len(line) > LONGEST_LINE:
            raise too_long(name, number)
        line = line.removeprefix(_MARK)
        seen.append(line)
        yield line


def too_long(name: str, number: int) -> SourceError:
    """Return the error of a line that is longer than `LONGEST_LINE`."""
    return SourceError(
        f"{name}: line {number} is longer than {LONGEST_LINE:,}, which is the most: give each "
        "event a line"
    )


def _opened(path: Path, encoding: str) -> TextIO:
    return io.TextIOWrapper(open_binary(path), newline="", encoding=encoding)


def _why(error: UnicodeDecodeError | csv.Error) -> str:
    """Return what is wrong, with the remedy if it is the encoding."""
    if not isinstance(error, UnicodeDecodeError):
        return str(error)
    return (
        f"it has the byte {error.object[error.start]:#04x}; convert it from its own encoding, for "
        "instance by `iconv -f WINDOWS-1252 -t UTF-8` (CP949 from Korea, CP932 from Japan, GB18030 "
        "from China, WINDOWS-1251 for Cyrillic)"
    )
