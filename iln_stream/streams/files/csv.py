"""Records from files of rows: CSV, TSV, and columns with blanks between them.

The rows are read by Python's csv module. What stands around them is found here, from the first
lines alone, as `csv.Sniffer` knows neither comments nor titles, and takes each letter for a
separator; the readers of pandas, Arrow and DuckDB guess as well, but are no light dependencies, and
would decide what a cell is, which `iln_stream.records` does for all formats alike.
"""

import bz2
import csv
import gzip
import io
import lzma
import re
import warnings
import zipfile
import zlib
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from iln_stream.errors import IlnWarning, SourceError
from iln_stream.streams.base import PAUSE, IteratorSource

_COMPRESSED: dict[str, tuple[str, Callable[[Path], Any]]] = {
    r"\x1f\x8b": (".gz", gzip.open),
    r"BZh\d1AY&SY": (".bz2", bz2.open),
    r"\xfd7zXZ\0": (".xz", lzma.open),
    r"PK\x03\x04": (".zip", lambda path: _open_member(path)),
}
"""How a file is opened that begins with these bytes, whatever its name; or that is named so, and
begins with no text: it is damaged."""


def name_inside(path: Path) -> str:
    """Return the name of a file without compression: of an archive, that of its only file."""
    if path.suffix.lower() == ".zip" and path.is_file():
        return _only_member(path).removesuffix(".zip")
    return path.stem if path.suffix.lower() in (".gz", ".bz2", ".xz") else path.name


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading; a compressed one, or an archive of one file, is decompressed."""
    if path.is_file():  # a pipe's bytes can be read once only
        with path.open("rb") as opened:
            head = opened.read(64).decode("latin-1")
        is_text = "".join(head.split()).isprintable()
        for mark, (suffix, opens) in _COMPRESSED.items():
            if re.match(mark, head) or (path.suffix.lower() == suffix and not is_text):
                return cast(BinaryIO, opens(path))
    return path.open("rb")


READ_ERRORS = (
    *(OSError, EOFError, RuntimeError, lzma.LZMAError, zlib.error, zipfile.BadZipFile),
    *(UnicodeDecodeError, csv.Error),
)
"""What reading a file may raise: also the libraries that decompress it, and its text."""


def unreadable(file: Path | str, error: Exception, n_lines: int | None = None) -> SourceError:
    """Return the error of a file that can't be read (after some lines), with the remedy."""
    why = f"it is damaged: {error}"
    if isinstance(error, UnicodeDecodeError):
        why = (
            f"it is not in UTF-8, as it has the byte {error.object[error.start]:#04x}; convert it "
            "from its own encoding, for instance by `iconv -f WINDOWS-1252 -t UTF-8` (WINDOWS-1250 "
            "of Central Europe, 1251 of Cyrillic, 1254 of Turkish; CP949 from Korea, CP932 from "
            "Japan, GB18030 from China)"
        )
    elif isinstance(error, csv.Error):
        why = f"it is not CSV: {error}"
    elif isinstance(error, OSError):
        why = error.strerror or str(error)
    after = "" if n_lines is None else f" after line {n_lines}"
    return SourceError(f"can't read {file}{after}: {why}")


def _open_member(path: Path) -> Any:
    name = _only_member(path)
    return zipfile.ZipFile(path).open(name)


def _only_member(path: Path) -> str:
    try:
        names = zipfile.ZipFile(path).namelist()
    except (RuntimeError, zipfile.BadZipFile) as error:
        raise SourceError(f"{path.name} is no whole archive: get it again") from error
    if "xl/workbook.xml" in names:
        raise SourceError(f"{path.name} is a spreadsheet: {SAVE_AS_CSV}")
    names = [each for each in names if not (each.endswith("/") or each.startswith("__MACOSX/"))]
    if len(names) != 1:
        raise SourceError(
            f"{path.name} has {len(names)} files ({', '.join(names[:5])}): unpack the one to read"
        )
    return names[0]


SAVE_AS_CSV = "save the sheet as CSV, in the spreadsheet program or with pandas, and give that file"


LARGEST_WHOLE = 1 << 28
"""Bytes of a file that is held in memory as a whole."""


def whole(opened: BinaryIO, path: Path) -> bytes:
    """Return all of a file, of which a compressed one may have more than the memory."""
    content = opened.read(LARGEST_WHOLE + 1)
    if len(content) > LARGEST_WHOLE:
        raise SourceError(
            f"{path.name} has more than {LARGEST_WHOLE:,} bytes, the most of an array or of a file "
            "in UTF-16: convert it to rows or lines of JSON in UTF-8, which are read one by one"
        )
    return content


def open_utf_8(path: Path) -> BinaryIO:
    """Open a text; one in UTF-16 is read as a whole: the last byte of a line does not tell it."""
    with open_binary(path) as opened:
        head = opened.read(1024)
    # Half of the bytes of ASCII text in UTF-16 are 0, and none of any in UTF-8.
    odd, even = head[1::2].count(0), head[::2].count(0)
    if head.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        encoding = "utf-32"
    elif head.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif max(odd, even) > len(head) // 4:
        encoding = "utf-16-le" if odd > even else "utf-16-be"
    else:
        return open_binary(path)
    with open_binary(path) as opened:
        return io.BytesIO(whole(opened, path).decode(encoding).encode())


SEPARATORS = {",": ",", ";": ";", "tab": "\t", "|": "|", "^": "^", "~": "~", "blank": " "}
"""Characters by the names that the setting `separator` has for them."""


def _guessed_separator(lines: Sequence[str], preferred: str) -> str | None:
    """Return the name of the separator that gives most lines as many cells as the first has.

    Lines before the table may have fewer cells. The preferred one is taken if it fits, even if
    another one gives more cells; None: no separator gives at least two columns.
    """
    tables = {name: _table(lines, name) for name in SEPARATORS}
    tables = {name: table for name, table in tables.items() if table.width}
    if preferred in tables and not tables[preferred].n_before:
        has_header = any(map(str.isalpha, lines[0]))  # without one, 1,5;2,5 has three cells
        return preferred if has_header else max(tables, key=lambda name: tables[name].n_values)
    if len(tables) > 1:  # the blank in `2026-01-01 12:00` separates nothing
        tables.pop("blank", None)
    return min(tables, key=lambda name: (tables[name].n_before, -tables[name].width), default=None)


def _other_separator(lines: Sequence[str]) -> str:
    """Return marks between words that are as often in each line; empty: there are none."""
    found = [Counter(_MARKS.findall(line)) for line in lines] or [Counter()]
    others = found[0].keys() - {*SEPARATORS.values()}
    same = (mark for mark in others if len({each[mark] for each in found}) == 1)
    return max(same, key=len, default="") if len(found) > 1 else ""


class _Table(NamedTuple):
    """How wide rows are (0: they differ), how many narrower ones precede, the share of values."""

    width: int
    n_before: int
    n_values: float


def _format(separator: str, lines: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of `csv.reader`; any number of blanks separates.

    Quotes are single ones if the names of the columns, on the first of the lines, have such; blanks
    before them, and backslashes before those within cells, are no part of cells.
    """
    return {
        "delimiter": SEPARATORS[separator],
        "skipinitialspace": separator == "blank" or any(map(_BLANK_BEFORE_QUOTE.search, lines)),
        "quotechar": "'" if lines and _SINGLE_QUOTES.fullmatch(lines[0]) else '"',
        "escapechar": "\\" if any(map(_ESCAPED.search, lines)) else None,
    }


def _table(lines: Sequence[str], separator: str) -> _Table:
    try:
        rows = [row for row in csv.reader(lines, **_format(separator, lines)) if row]
    except csv.Error:
        rows = []
    widths = [*map(len, rows)]
    if len(widths) > 2:
        widths.pop()  # the last line may be the first one of a quoted cell
    ((width, n),) = Counter(widths).most_common(1) or [(0, 0)]
    if 1 < width < widths[0] == widths[1] and {*widths} == {width, widths[0]}:
        # From the 17th row on, a spreadsheet leaves out blank cells at the ends of rows.
        width, n, widths = widths[0], len(widths), len(widths) * [widths[0]]
    n_before = widths.index(width) if n else 0
    same = n > 1 or len(widths) <= 2
    share = widths.count(width) / max(1, len(widths) - n_before)
    is_table = width > 1 and same and share >= (1.0 if separator == "blank" else _MOSTLY)
    is_table = is_table and all(w < width for w in widths[:n_before])
    cells = [cell for row in rows for cell in row[:_FIRST_COLUMNS]]
    are_values = [_VALUE.fullmatch(cell.strip()) is not None for cell in cells]
    n_values = sum(are_values) / max(1, len(are_values))
    return _Table(width if is_table else 0, n_before, n_values)


_Row = dict[Any, Any]


class Layout(NamedTuple):
    """How a file of rows is taken apart."""

    form: dict[str, Any]  # arguments of `csv.reader`
    header: list[str]  # the row of names in the file, which files that were joined have again
    # Those without a name are called `column_1` and so on by their place; at the end, without
    # values, they are the separators at the ends of lines, and no columns.
    columns: list[str]
    n_before: int  # lines before the first record
    begins_with_values: bool  # whether most rows begin with a number or a time
    passed_over: str  # the pattern of lines that are comments, as one before the table, or drawn


LONGEST_LINE = 16 << 20
"""Bytes, or characters of a file of rows: who sends or packs more must not fill the memory."""

MOST_COLUMNS = 20_000
"""Columns of a file: the 10,000 inputs of an event, and as many that are ignored."""

_CHUNK = 1 << 13
"""Bytes of a file of rows that are taken apart at once."""

_FIRST_LINES, _FIRST_COLUMNS, _FIRST_CHARACTERS = 100, 1_000, 1 << 21
"""What of a file the layout is guessed from."""

_COMMENT = "#"
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""A byte order mark; of files that were joined each has one."""
_SINGLE_QUOTES = re.compile(r"('[^']+'[\s,;|]+)+")
_BLANK_BEFORE_QUOTE = re.compile(r'[,;|\t] "')
_ESCAPED = re.compile(r'(?<![\\"])\\"(?=[^,;|\t\r\n"])')
"""In a path that ends with a backslash, a separator follows the quote."""
_RULE = re.compile(r"[-+|=:\s]*-{3}[-+|=:\s]*$")
"""A line that is drawn, as database clients do below the header and around the table."""
_MARKS = re.compile(r"(?<=\w)([^\w\s.'\"+-]+)(?=[-\w])")
_NO_ROWS = {
    r"<(!doctype|html|\?xml)": "a page in HTML or XML, no CSV file: download it again",
    r"@relation": "in ARFF: read it with scipy.io.arff or OpenML, and write it as CSV",
    r"[-+]?\d+(\.\d+)?( [1-9]\d*:\S+)+\s": "in LIBSVM's form: read it with scikit-learn, and "
    "write it as CSV",
}
"""What begins so is no file of rows."""
_SEPARATOR_LINE = re.compile(r"sep=.\s*")
"""By which a spreadsheet knows the separator."""

_VALUE = re.compile(
    r"[-+−(]?\W?\d[\d.,'’ ]*([eE][-+]?\d+)?\W?"
    r"|\d+[-./:]\d+([-./: T]+\d+)*\W?( ?[AaPp]\.?[Mm]\.?|Z)?"
    r"|\d{1,2}[-. /]{1,2}[^\W\d_]{3,9}\.?[-. /,]+\d{2,4}([ T,]+\d+:.*)?"
)
"""What looks like a number or a time, and not like the name of a column."""

_DATE = re.compile(r"\d+[-/]\d+")
"""Above other values, it names a column of what happened then."""

_TYPES = {
    *("c", "continuous", "n", "numeric", "d", "discrete", "categorical"),
    *("s", "string", "text", "t", "time", "float", "int", "integer", "date", "bool", "boolean"),
}
_ROLES = {"c", "class", "i", "ignore", "m", "meta"}
"""Words of the two rows below the header of a file of Orange."""

_NOTHING = {"", "na", "n/a", "nan", "null", "none", "?", "-"}
"""Texts without a value that say nothing about the header."""

_MOSTLY = 0.8


class CsvSource(IteratorSource):
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
        super().__init__(path.name, _rows(path, layout_of(path, separator, columns)), limit)


def layout_of(path: Path, separator: str = ",", columns: Sequence[str] = ()) -> Layout:
    """Return how a file is taken apart.

    Raises
    ------
    SourceError
        As of `CsvSource`.

    """
    try:
        lines, size = [], 0
        for line in islice(chain.from_iterable(_chunks(path)), _FIRST_LINES):
            lines.append(line)
            size += len(line)
            if size > _FIRST_CHARACTERS:
                break
    except READ_ERRORS as error:
        raise unreadable(path, error) from error
    for mark, what in _NO_ROWS.items():
        if re.match(mark, "".join(lines).lstrip(), re.IGNORECASE):
            raise SourceError(f"{path.name} is {what}")
    body = [*_table_lines(lines).values()]
    with suppress(csv.Error):  # it is raised below
        for row in csv.reader(body, **_format(separator, body)):
            require_few_columns(path.name, len(row))
    guessed = _guessed_separator(body, separator)
    if guessed not in (separator, None):
        raise _LacksError(
            f"{path.name}: its columns seem to be separated by {guessed}, not by {separator}",
            separator=guessed,
        )
    mark = _other_separator(body) if guessed in (None, "blank") else ""
    if len(mark) > (guessed == "blank"):
        in_shell = re.escape(mark).encode("unicode_escape").decode()
        raise SourceError(
            f"{path.name}: its columns seem to be separated by {mark!r}, which is none of "
            f"{' '.join(SEPARATORS)}: replace it, as by `sed $'s,{in_shell},|,g' {path.name}`"
        )
    return _layout(path.name, lines, separator, columns)


def guessed_layout(path: Path, preferred: str = ",") -> dict[str, Any]:
    """Return the settings without which a file can't be read: `separator` and `columns`, if any."""
    settings: dict[str, Any] = {}
    for _ in range(2):
        try:
            layout_of(path, **{"separator": preferred, **settings})
        except _LacksError as error:
            settings |= error.settings
    return settings


class _LacksError(SourceError):
    """The file can be read with another setting."""

    def __init__(self, problem: str, **settings: Any) -> None:
        ((name, value),) = settings.items()
        super().__init__(f"{problem}: set {name} = {value!r}")
        self.settings = settings


def _table_lines(lines: Sequence[str]) -> dict[int, str]:
    """Return the lines that are neither blank, nor comments, nor `sep=;`, by number, from 1."""
    comments = _comments(lines)
    return {
        number: line
        for number, line in enumerate(lines, start=1)
        if line.strip()
        and not _SEPARATOR_LINE.fullmatch(line.strip())
        and line not in comments
        and not _RULE.fullmatch(line)
    }


def _comments(lines: Sequence[str]) -> list[str]:
    """Return the lines that begin with #, if the first one with text does, and others do not."""
    texts = [line for line in lines if line.strip()]
    comments = [line for line in texts if line.startswith(_COMMENT)]
    return comments if comments[:1] == texts[:1] and comments != texts else []


def _layout(name: str, lines: Sequence[str], separator: str, given: Sequence[str]) -> Layout:
    numbered, comments = _table_lines(lines), _comments(lines)
    body, numbers = list(numbered.values()), list(numbered)
    form = _format(separator, body)
    reader = csv.reader(body, **form)
    try:
        ends, rows = [0], []  # the last line of each row
        for row in reader:
            rows.append(row)
            ends.append(numbers[reader.line_num - 1])
    except csv.Error as error:
        raise unreadable(name, error) from error
    n = _table(body, separator).n_before
    n += _n_titles(rows[n:])
    before, rows = rows[:n], rows[n:]
    header = [cell.strip() for cell in (rows or [[]])[0]]
    is_header = _is_header(header, rows[1:])
    outer = None if is_header or not rows else _outer_header(comments, before, rows, form)
    if given and len(given) != len(outer or header) and header:
        raise SourceError(
            f"{name}: columns has {len(given)} names, and a row has {len(header)} cells: name "
            "each column"
        )
    in_file = before[-1] if outer and before else []
    if outer is None:
        if is_header is False and not given:
            names = before[-1] if separator == "," and before else []
            digits = (re.fullmatch(r"-?\d+", cell.strip()) for row in rows for cell in row[1:])
            if 1 < len(names) < len(header) <= 2 * len(names) and all(digits):
                raise SourceError(
                    f"{name}: the line of names has {len(names)} ({', '.join(names[:5])}), and "
                    f"rows have {len(header)} cells: put numbers with decimal commas in quotes, or "
                    "write semicolons between columns; or name each column (columns)"
                )
            raise _LacksError(
                f"{name}: its first row is no header, but a record ({', '.join(header[:5])})",
                columns=[f"column_{i}" for i in range(1, len(header) + 1)],
            )
        if rows and (is_header or not given or set(header) - {""} <= set(given)):
            in_file, n, rows = rows[0], n + 1, rows[1:]
    header = list(given) or outer or header
    titles = before if before and before[-1] != [cell for cell in header if cell] else []
    units = _units(rows)
    if left_out := [*titles, *units]:
        warnings.warn(
            f"{name}: {len(left_out)} lines beside the header are left out, the first is "
            f"{' '.join(left_out[0])[:60]!r}",
            IlnWarning,
            stacklevel=2,
        )
    columns = _named(name, header, rows[len(units) :])
    marks = ([_COMMENT] if comments else []) + [_RULE.pattern] * any(map(_RULE.fullmatch, lines))
    first = [*map(str.strip, _column(0, rows[len(units) :]))]
    begins_with_values = 2 * sum(map(bool, map(_VALUE.fullmatch, first))) > len(first)
    passed_over = "|".join(marks)
    return Layout(form, in_file, columns, ends[n + len(units)], begins_with_values, passed_over)


def _outer_header(
    comments: Sequence[str],
    before: Sequence[list[str]],
    rows: Sequence[list[str]],
    form: dict[str, Any],
) -> list[str] | None:
    """Return a header that is the last comment, or that has no name for row numbers or blanks."""
    width = len(rows[0])
    if before and len(before[-1]) == width - 1:
        if not any(row[-1].strip() for row in rows):
            return [*before[-1], ""]
        if _is_header(before[-1], [row[1:] for row in rows]):
            return ["", *before[-1]]
    if comments and not before:
        named = next(csv.reader([comments[-1].lstrip(f"{_COMMENT} ")], **form), [])
        return named if len(named) == width else None
    return None


def _n_titles(rows: Sequence[list[str]]) -> int:
    """Return how many rows with blank cells precede a header that has none."""
    n = next((n for n, row in enumerate(rows) if all(map(str.strip, row))), 0)
    names, values, again, _ = _seen(rows[n], rows[n + 1 :]) if n else (0, 0, 0, 0)
    return n if names > 1 and not (values or again) else 0


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
    n_types = _n_type_rows(rows)
    for n, row in enumerate(rows):
        names, values, _, texts = _seen(row[:_FIRST_COLUMNS], rows[n + 1 :])
        if values or not names or (names == 1 and texts):
            return [*rows[: max(n, n_types)]]
    return []


def _n_type_rows(rows: Sequence[list[str]]) -> int:
    """Return how many rows have the columns' types, and then their roles, as Orange writes them.

    In place of a type there may be a list of the column's values.
    """
    for n, words in enumerate((_TYPES, _ROLES)):
        cells = [*map(str.strip, rows[n][:_FIRST_COLUMNS])] if len(rows) > n + 1 else []
        if words.isdisjoint(map(str.lower, cells)):
            return n
        for at, cell in enumerate(cells):
            below = {each.strip() for each in _column(at, rows[n + 1 :])}
            is_list = n == 0 and not below.isdisjoint(re.split(r"(?<!\\) ", cell))
            if cell and (cell in below or not (cell.lower() in words or is_list or "=" in cell)):
                return n
    return 2


def _seen(first: Sequence[str], rest: Sequence[Sequence[str]]) -> tuple[int, int, int, int]:
    """Count a row's texts above values, values above values, texts again below, other texts."""
    names = values = again = texts = 0
    for at, cell in enumerate(map(str.strip, first)):
        cells = map(str.strip, _column(at, rest))
        below = [each for each in cells if each.lower() not in _NOTHING]
        is_value = _VALUE.fullmatch(cell) is not None
        is_text = cell.lower() not in _NOTHING and not is_value
        if below and sum(_VALUE.fullmatch(b) is not None for b in below) >= _MOSTLY * len(below):
            is_name = is_text or (_DATE.match(cell) and not any(map(_DATE.match, below)))
            names += bool(is_name)
            values += not is_name and is_value
        else:
            texts += is_text
        again += cell in below and not is_value
    return names, values, again, texts


def _is_range(cells: Sequence[str]) -> bool:
    """Return whether the numbers among cells count: 0, 1, 2 or 2019, 2020, 2021 name columns."""
    numbers = [int(cell) for cell in cells if cell.strip().isdecimal()]
    return len(numbers) > 2 and numbers == [*range(numbers[0], numbers[0] + len(numbers))]


def _named(name: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a name of its own for each column but those that are blank, at the end."""
    header = [cell.strip().strip(_MARK) for cell in header]
    columns = [cell or f"column_{at}" for at, cell in enumerate(header, start=1)]
    if twice := sorted(each for each, n in Counter(columns).items() if n > 1):
        seen: Counter[str] = Counter()
        for at, column in enumerate(columns):
            seen[column] += 1
            columns[at] = column if seen[column] == 1 else f"{column}_{seen[column]}"
        raise _LacksError(
            f"{name} has more than one column named {', '.join(twice)}", columns=columns
        )
    while columns and not any(map(str.strip, _column(len(columns) - 1, [header, *rows]))):
        columns.pop()
    return columns


def _column(at: int, rows: Iterable[Sequence[str]]) -> list[str]:
    return [row[at] for row in rows if len(row) > at]


def _rows(path: Path, layout: Layout) -> Iterator[_Row | None]:
    """Yield rows by column, as `csv.DictReader` does with a call more for each row."""
    columns, width, names = layout.columns, len(layout.columns), {*layout.header}
    n = n_before = layout.n_before
    size = 0
    chunks = _chunks(path, n_before)
    if layout.passed_over:
        is_none = re.compile(layout.passed_over).match
        chunks = (["\n" if is_none(line) else line for line in lines] for lines in chunks)
    try:
        for rows, lines in _taken_apart(chunks, layout.form, path.name, n_before):
            for row in rows:
                if row and row[0] not in names and len(row) == width:
                    # Separators alone are a blank line.
                    yield dict(zip(columns, row)) if any(row) else None  # noqa: B905
                elif row:
                    yield _odd(row, layout)
                n += 1
            n = n_before = n_before + len(lines)
            if (size := size + sum(map(len, lines))) > LONGEST_LINE:
                yield PAUSE
                size = 0
    except READ_ERRORS as error:
        raise unreadable(path, error, n) from error


def _odd(row: list[str], layout: Layout) -> _Row | None:
    """Return a row that has more or fewer cells than the header; None for the header again."""
    columns, width = layout.columns, len(layout.columns)
    if sorted(row) != sorted(layout.header) and not _is_other_header(row, layout):
        cells: _Row = dict(zip_longest(columns, row[:width]))
        if any(map(str.strip, row[width:])):  # so that the row becomes a dead letter
            cells[None] = row[width:]
        return cells if any(cells.values()) else None
    if row != layout.header:
        same = sorted(row) == sorted(layout.header)
        other = "the columns in another order" if same else "other columns"
        raise csv.Error(f"a second header has {other} ({', '.join(row[:5])}): split the file there")
    warnings.warn(
        f"the header ({', '.join(row[:5])}) comes again, as in files that were joined, "
        "and is left out",
        IlnWarning,
        stacklevel=2,
    )
    return None


def _is_other_header(row: Sequence[str], layout: Layout) -> bool:
    """Return whether a row names columns, of which not all are those of the header."""
    cells = [*filter(None, map(str.strip, row))]
    known = {*cells} & {*layout.header}
    if len(known) < 2 or 2 * len(known) < len(cells) or any(map(_VALUE.match, cells)):
        return False
    return layout.begins_with_values or len(known) == len(cells)


def _taken_apart(
    chunks: Iterator[list[str]], form: dict[str, Any], name: str, n_before: int
) -> Iterator[tuple[list[list[str]], list[str]]]:
    """Yield rows with the lines that they are read from, which errors count: many without quotes.

    Where quotes are odd, or a cell goes on in the next chunk, the csv module reads line by line
    from there on. A row whose quotes are odd is read loosely, unless it would swallow other lines.
    """
    for lines in chunks:
        if (whole := _split(lines, **form)) is not None:
            yield whole, lines
        else:
            reader, first = csv.reader(lines, strict=True, **form), 0
            try:
                rows = [(row, reader.line_num) for row in reader]
            except csv.Error:
                break
            for row, last in rows:
                yield [row], lines[first:last]
                first = last
        n_before += len(lines)
    else:
        return
    seen: list[str] = []
    rest = _kept(chain(lines, chain.from_iterable(chunks)), seen, name, n_before)
    one_by_one = csv.reader(rest, strict=True, **form)
    while True:
        seen.clear()
        try:
            row = next(one_by_one)
        except StopIteration:
            return
        except csv.Error as error:
            if sum(map(bool, map(str.strip, seen))) > 1 or "end of data" in str(error):
                raise csv.Error(
                    f"a quote is open over {len(seen)} lines: close it, or write it twice"
                ) from error
            row = next(csv.reader(seen, **form))
        yield [row], seen


def _split(
    lines: list[str], delimiter: str, quotechar: str, escapechar: str | None, skipinitialspace: bool
) -> list[list[str]] | None:
    """Return the rows of lines without quotes, in a third of the time; None: there are some."""
    text = "".join(lines)
    if skipinitialspace or escapechar or quotechar in text or len(text) > csv.field_size_limit():
        return None
    bare = [line.rstrip("\r\n") for line in lines]
    return [line.split(delimiter) if line else [] for line in bare]


def _kept(lines: Iterable[str], seen: list[str], name: str, n_before: int) -> Iterator[str]:
    """Yield lines, which `seen` gets; those of one row are no longer than a line may be."""
    size = 0
    for number, line in enumerate(lines, start=n_before + 1):
        size = len(line) + (size if seen else 0)
        seen.append(line)
        if size > LONGEST_LINE:
            raise too_long(name, number)
        yield line


def _chunks(path: Path, n_before: int = 0) -> Iterator[list[str]]:
    """Yield the lines after the first ones, as many at once as make a chunk.

    Each is in memory as a whole. Those before damage are yielded before its error.
    """
    rest, n = "", 0
    decode = getincrementaldecoder("utf-8")().decode
    damage: UnicodeDecodeError | None = None
    with open_utf_8(path) as opened:
        while damage is None:
            # As many bytes as of an unfinished line, which is not joined again and again.
            block = cast(Any, opened).read1(max(_CHUNK, len(rest)))
            try:
                text = decode(block, not block)
            except UnicodeDecodeError as error:
                damage, text = error, error.object[: error.start].decode()
            *lines, rest = [*io.StringIO(rest + text, newline="")] or [""]
            if len(lines[0] if lines else rest) > LONGEST_LINE:
                raise too_long(path.name, n + 1)
            if not (block or damage) and rest:
                lines.append(rest)
            if found := lines[max(0, n_before - n) :]:
                # Spreadsheets write a byte order mark, which would be part of a column's name.
                yield [line.removeprefix(_MARK) for line in found]
            n += len(lines)
            if not block:
                break
    if damage is not None:
        raise damage


def require_few_columns(name: str, n: int) -> None:
    """Refuse a file of more than `MOST_COLUMNS`."""
    if n > MOST_COLUMNS:
        raise SourceError(
            f"{name} has {n:,} columns; at most {MOST_COLUMNS:,} are read, of which 10,000 can be "
            "inputs: write those that matter to a file of their own"
        )


def too_long(name: str, number: int) -> SourceError:
    """Return the error of a line that is longer than `LONGEST_LINE`."""
    return SourceError(
        f"{name}: line {number} is longer than {LONGEST_LINE:,}, which is the most: give each "
        "event a line"
    )
