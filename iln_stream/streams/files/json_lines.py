"""Records and messages as JSON lines, in files and pipes."""

import io
import json
import logging
import os
import selectors
from codecs import BOM_UTF8
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from iln_stream.errors import ReaderGoneError, SinkError, SourceError
from iln_stream.files import make_folder, sync_folder
from iln_stream.streams.base import IteratorSource, Record, StreamPartition
from iln_stream.streams.files.csv import (
    LONGEST_LINE,
    READ_ERRORS,
    name_inside,
    open_utf_8,
    too_long,
    unreadable,
    whole,
)

log = logging.getLogger(__name__)


def _mend_end(path: Path) -> None:
    """Remove a last line that a crash or a full disk cut: a resumed run writes it again.

    A last line that is whole, or no JSON object, only gets its line break.
    """
    if not path.is_file() or not path.stat().st_size:
        return
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - LONGEST_LINE))
        line = file.read().rpartition(b"\n")[2]
        if not line:
            return
        try:
            json.loads(line)
        except ValueError:
            if line.startswith(b"{") or b"\0" in line:  # pages of which only the length is known
                log.warning("%s: its last line was cut, and is removed: %r", path, line[:60])
                file.truncate(size - len(line))
                return
        file.write(b"\n")


class JsonLinesSink:
    """Appends JSON lines; `flush` makes them durable. A cut last line of the file is removed.

    `file` is a path, opened for appending, or an open binary stream such as `sys.stdout.buffer`.
    """

    def __init__(self, file: Path | str | BinaryIO) -> None:
        if isinstance(file, (str, Path)):
            try:
                path, is_new = Path(file), not Path(file).exists()
                make_folder(path.parent)
                _mend_end(path)
                self._file: BinaryIO = path.open("ab")
                if is_new:  # its name is not durable yet
                    sync_folder(path.parent)
            except OSError as error:
                raise SinkError(f"can't write {file}: {error.strerror}") from error
            self._name, self._is_own, self._on_disk = str(file), True, path.is_file()
        else:
            self._file, self._name = file, "standard output"
            self._is_own = self._on_disk = False

    def write(self, key: str | None, value: bytes, timestamp: float | None = None) -> None:
        """Append one line; key and time are ignored."""
        self._attempt(lambda: self._file.write(value + b"\n"))

    def send_queued(self) -> None:
        """Write all lines to the operating system, so that readers see them."""
        self._attempt(self._file.flush)

    def flush(self) -> None:
        """Write all lines to the operating system and, for a file, sync it to the disk."""
        self._attempt(self._file.flush)
        if self._on_disk:
            self._attempt(lambda: os.fsync(self._file.fileno()))

    def close(self) -> None:
        """Flush; close the file unless the caller opened it."""
        try:
            self.flush()
        finally:
            if self._is_own:
                self._attempt(self._file.close)

    def _attempt(self, action: Callable[[], object]) -> None:
        try:
            action()
        except OSError as error:
            gone = isinstance(error, BrokenPipeError) and not self._is_own
            kind = ReaderGoneError if gone else SinkError
            raise kind(f"can't write {self._name}: {error.strerror}") from error


_CHUNK = 1 << 18


class JsonLinesSource:
    """Reads JSON lines; the offset is the line's number, from 0. Blank lines are skipped.

    Parameters
    ----------
    file
        A path, or an open binary stream such as `sys.stdin.buffer`.
    stream
        Name of the stream in predictions and dead letters; by default the file's name.
    limit
        Maximum number of lines, not counting blank ones.

    Examples
    --------
    >>> import io
    >>> source = JsonLinesSource(io.BytesIO(b'{"x": {"a": 1}, "y": 2}'), stream="demo")
    >>> [(record.offset, record.payload) for record in source.poll(timeout=0.1)]
    [(0, b'{"x": {"a": 1}, "y": 2}')]

    """

    partitions = (0,)
    connected = True
    lag = None

    def __init__(
        self, file: Path | str | BinaryIO, stream: str | None = None, limit: int | None = None
    ) -> None:
        if isinstance(file, (str, Path)):
            try:
                opened = open_utf_8(Path(file))
            except READ_ERRORS as error:
                raise unreadable(file, error) from error
            self.stream = stream or Path(file).name
        else:
            opened = file
            self.stream = stream or str(getattr(file, "name", "stdin")).strip("<>")
        self._origin = StreamPartition(self.stream, 0)
        self._file = cast(io.BufferedReader, opened)
        self._pipe = _selector(opened)
        self._unfinished: list[bytes] = []
        self._n_unfinished = 0
        self._n_lines = 0
        self._still_wanted = limit
        self.exhausted = False

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next lines; wait up to `timeout` seconds if they come from a pipe."""
        if self._pipe and not self._pipe.select(timeout):
            return []
        lines = self._read()
        while not (lines or self.exhausted or self._pipe):  # a file's line longer than a chunk
            lines = self._read()
        first = self._n_lines
        self._n_lines += len(lines)
        records = [
            Record(offset, line.rstrip(b"\r").removeprefix(BOM_UTF8), self._origin)
            for offset, line in enumerate(lines, start=first)
            if line.strip()
        ]
        if self._still_wanted is not None:
            records = records[: self._still_wanted]
            self._still_wanted -= len(records)
            self.exhausted = self.exhausted or self._still_wanted == 0
        return records

    def _read(self) -> list[bytes]:
        """Read a chunk and return the lines that are now complete."""
        # read1 leaves no data in a buffer, where `select` would not see it.
        try:
            chunk = self._file.read1(_CHUNK)
        except READ_ERRORS as error:
            raise unreadable(self.stream, error, self._n_lines) from error
        self.exhausted = not chunk
        first, *others = chunk.split(b"\n")
        self._unfinished.append(first)  # joined only once, because a line may be very long
        self._n_unfinished += len(first)
        if self._n_unfinished > LONGEST_LINE:
            raise too_long(self.stream, self._n_lines + 1)
        lines = []
        if others:
            lines = [b"".join(self._unfinished), *others[:-1]]
            self._unfinished = [others[-1]]
            self._n_unfinished = len(others[-1])
        elif self.exhausted and any(self._unfinished):
            lines = [b"".join(self._unfinished)]
            self._unfinished = []
        return lines

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def is_document(path: Path) -> bool:
    """Return whether a JSON file is one value, not one in each line: a list, or an object.

    One line that is an object counts as one in files called `.json` only.
    """
    try:
        with open_utf_8(path) as opened:
            parts = iter(lambda: opened.readline(LONGEST_LINE), b"")
            lines = (part.removeprefix(BOM_UTF8).strip() for part in parts if part.strip())
            first, is_last = next(lines, b""), next(lines, None) is None
    except READ_ERRORS:
        return False  # who opens it says why
    is_json = name_inside(path).lower().endswith(".json")
    return first in (b"[", b"{") or (is_json and (is_last or first.startswith(b"[")))


MOST_VALUES = 10_000_000
"""Objects, lists and values of an array, of which each takes up to 100 bytes of memory."""


class JsonArraySource(IteratorSource):
    """Reads a file that is one array of JSON objects; the offset is the place in it, from 0.

    The array is held in memory: write JSON lines for one with more than `MOST_VALUES`.
    """

    def __init__(self, file: Path, limit: int | None = None) -> None:
        try:
            with open_utf_8(file) as opened:
                text = whole(opened, file)
            if (n := sum(map(text.count, (b",", b"[", b"{")))) > MOST_VALUES:
                raise SourceError(
                    f"{file} has about {n:,} values; an array of JSON objects may have "
                    f"{MOST_VALUES:,}: write lines, as by `jq -c '.[]' {file.name}`"
                )
            found = json.loads(text, object_pairs_hook=_distinct)
        except json.JSONDecodeError as error:
            raise SourceError(
                f"{file} is neither an array of JSON objects nor one object a line, from line "
                f"{error.lineno} on: `jq -c . {file.name}` writes lines, and shows what is wrong"
            ) from error
        except READ_ERRORS as error:
            raise unreadable(file, error) from error
        except ValueError as error:
            raise SourceError(f"{file}: {error}") from error
        if isinstance(found, dict):
            several = {k: v for k, v in found.items() if isinstance(v, list | dict) and len(v) > 1}
            lists = sorted(several, key=lambda k: (isinstance(several[k], dict), -len(several[k])))
            rows = [
                k for k in lists if isinstance(several[k], list) and isinstance(several[k][0], dict)
            ]
            columns = any(isinstance(v, list) for v in several.values())
            if rows or columns or len(several) == len(found) > 1 or n > 100 * len(found):
                jq = f"with `jq -c '.{rows[0]}[]' {file.name}`, or " if rows else ""
                raise SourceError(
                    f"{file} is one object, and its {[*rows, *lists, *found][0]!r} has several "
                    f"values: write a record in each line, {jq}with pandas, "
                    "to_json(orient='records', lines=True)"
                )
            found = [found]
        payloads = (e if isinstance(e, dict) else json.dumps(e).encode() for e in found)
        super().__init__(file.name, payloads, limit)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"an object has a key twice: {', '.join(key for key, _ in pairs)[:60]}")
    return found


def _selector(file: BinaryIO) -> selectors.BaseSelector | None:
    """Return a selector that waits for data in a pipe; None for a regular file."""
    selector = selectors.DefaultSelector()
    try:
        selector.register(file, selectors.EVENT_READ)
    except (OSError, ValueError, io.UnsupportedOperation):
        return None
    return selector
