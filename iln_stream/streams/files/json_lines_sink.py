"""Messages to a file or pipe, one JSON object per line."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from iln_stream.errors import ReaderGoneError, SinkError


class JsonLinesSink:
    """Appends JSON lines; `flush` makes them durable.

    Parameters
    ----------
    file
        A path, opened for appending, or an open binary stream such as `sys.stdout.buffer`.

    """

    def __init__(self, file: Path | str | BinaryIO) -> None:
        if isinstance(file, (str, Path)):
            try:
                Path(file).parent.mkdir(parents=True, exist_ok=True)
                self._file: BinaryIO = Path(file).open("ab")
            except OSError as error:
                raise SinkError(f"can't write {file}: {error.strerror}") from error
            self._name, self._on_disk = str(file), True
        else:
            self._file, self._name, self._on_disk = file, "standard output", False

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
            if self._on_disk:
                self._attempt(self._file.close)

    def _attempt(self, action: Callable[[], object]) -> None:
        try:
            action()
        except OSError as error:
            gone = isinstance(error, BrokenPipeError) and not self._on_disk
            kind = ReaderGoneError if gone else SinkError
            raise kind(f"can't write {self._name}: {error.strerror}") from error
