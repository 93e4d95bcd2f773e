"""Remembers which dead letters were replayed, in a stream of marks beside the letters."""

import datetime as dt
from collections.abc import Iterator
from contextlib import ExitStack, closing

from pydantic import AwareDatetime, BaseModel, ValidationError

from iln_stream.errors import IlnError, NoStreamError
from iln_stream.events import DeadLetter
from iln_stream.service import Settings, dead_letters_address, output_stream
from iln_stream.streams import Scheme, Sink

Key = tuple[str, int, int, str]
"""Identity of a record: stream, partition, offset and checksum."""


class Mark(BaseModel):
    """One line: a replayed record, and when it was replayed.

    Parameters
    ----------
    stream, partition, offset, sha256
        The record, where it was first.
    when
        When it was replayed.
    copy_offset
        Offset of the copy, in the same partition; None: an earlier version wrote the mark.

    """

    stream: str
    partition: int
    offset: int
    sha256: str
    when: AwareDatetime
    copy_offset: int | None = None

    @property
    def key(self) -> Key:
        """Identity of the record."""
        return self.stream, self.partition, self.offset, self.sha256

    @property
    def copy_key(self) -> Key | None:
        """Identity of the copy; None: unknown."""
        if self.copy_offset is None:
            return None
        return self.stream, self.partition, self.copy_offset, self.sha256


def _key_of(letter: DeadLetter) -> Key:
    """Return the identity of the record of a letter."""
    return letter.stream, letter.partition, letter.offset, letter.payload_sha256


class Marks:
    """Remembers replayed letters in the file `<file>.replayed` or the topic `<topic>-replayed`.

    A letter that was written twice, which a crash may cause, counts as one letter. A copy that
    can't be learned either has a letter of its own, of the same record.

    Parameters
    ----------
    settings
        Settings of the run that wrote the letters.

    Raises
    ------
    IlnError
        When the stream contains anything but marks.

    """

    def __init__(self, settings: Settings) -> None:
        letters = output_stream(settings, dead_letters_address(settings))
        self._stream = output_stream(settings, letters.sibling("replayed"))
        self._stream.wait()
        self._last: dict[Key, Mark] = {}
        self._originals: dict[Key, Key] = {}
        for mark in _read(self._stream):
            self._know(mark)
        self._sink: Sink | None = None
        self._opened = ExitStack()

    def original(self, letter: DeadLetter) -> Key:
        """Return the identity of the record that was first: the letter may be of its copy."""
        key = _key_of(letter)
        return self._originals.get(key, key)

    def last(self, letter: DeadLetter) -> Mark | None:
        """Return the last mark of the letter's record; None: it was never replayed."""
        return self._last.get(self.original(letter))

    def failed_again(self, letter: DeadLetter) -> bool:
        """Return whether the letter is of the last copy: the record was replayed in vain."""
        last = self.last(letter)
        return last is not None and last.copy_key == _key_of(letter)

    def add(self, letter: DeadLetter, copy_offset: int) -> None:
        """Mark the letter's record as replayed, and wait until the mark is stored."""
        if self._sink is None:
            self._sink = self._stream.sink()
            self._opened.callback(self._sink.close)
        stream, partition, offset, sha256 = self.original(letter)
        mark = Mark(
            stream=stream,
            partition=partition,
            offset=offset,
            sha256=sha256,
            when=dt.datetime.now(dt.UTC).replace(microsecond=0),
            copy_offset=copy_offset,
        )
        self._sink.write(None, mark.model_dump_json().encode())
        self._sink.flush()
        self._know(mark)

    def close(self) -> None:
        """Close the stream."""
        self._opened.close()

    def _know(self, mark: Mark) -> None:
        self._last[mark.key] = mark
        if mark.copy_key is not None:
            self._originals[mark.copy_key] = mark.key


def _read(stream: Scheme) -> Iterator[Mark]:
    """Yield the marks in order."""
    try:
        source = stream.written()
    except NoStreamError:  # nothing was replayed yet
        return
    with closing(source):
        while not source.exhausted:
            for record in source.poll(0.5):
                try:
                    yield Mark.model_validate_json(record.payload or b"")  # type: ignore[arg-type]
                except ValidationError as error:
                    raise IlnError(
                        f"{stream.address}: record {record.offset} is not the mark of a replayed "
                        f"dead letter: {error}"
                    ) from None
