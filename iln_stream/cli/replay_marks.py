"""Remembers which dead letters were replayed, in a stream of marks beside the letters."""

import datetime as dt
from contextlib import ExitStack, closing

from pydantic import AwareDatetime, BaseModel, ValidationError

from iln_stream.errors import IlnError, NoStreamError
from iln_stream.events import DeadLetter
from iln_stream.service import Settings, dead_letters_address, output_stream
from iln_stream.streams import Scheme, Sink


class Mark(BaseModel):
    """One line: a replayed record, and when it was replayed."""

    stream: str
    partition: int
    offset: int
    sha256: str
    when: AwareDatetime

    @property
    def key(self) -> tuple[str, int, int, str]:
        """Identity of the record."""
        return self.stream, self.partition, self.offset, self.sha256

    @classmethod
    def of(cls, letter: DeadLetter) -> "Mark":
        """Return the mark of a letter that is replayed now."""
        return cls(
            stream=letter.stream,
            partition=letter.partition,
            offset=letter.offset,
            sha256=letter.payload_sha256,
            when=dt.datetime.now(dt.UTC).replace(microsecond=0),
        )


class Marks:
    """Remembers replayed letters in the file `<file>.replayed` or the topic `<topic>-replayed`.

    A letter that was written twice, which a crash may cause, counts as one letter.

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
        self._when = _read(self._stream)
        self._sink: Sink | None = None
        self._opened = ExitStack()

    def when(self, letter: DeadLetter) -> dt.datetime | None:
        """Return when the letter was last replayed; None: never."""
        return self._when.get(Mark.of(letter).key)

    def add(self, letter: DeadLetter) -> None:
        """Mark the letter as replayed, and wait until the mark is stored."""
        if self._sink is None:
            self._sink = self._stream.sink()
            self._opened.callback(self._sink.close)
        mark = Mark.of(letter)
        self._sink.write(None, mark.model_dump_json().encode())
        self._sink.flush()
        self._when[mark.key] = mark.when

    def close(self) -> None:
        """Close the stream."""
        self._opened.close()


def _read(stream: Scheme) -> dict[tuple[str, int, int, str], dt.datetime]:
    """Return when each letter was last replayed."""
    found: dict[tuple[str, int, int, str], dt.datetime] = {}
    try:
        source = stream.written()
    except NoStreamError:  # nothing was replayed yet
        return found
    with closing(source):
        while not source.exhausted:
            for record in source.poll(0.5):
                try:
                    mark = Mark.model_validate_json(record.payload or b"")  # type: ignore[arg-type]
                except ValidationError as error:
                    raise IlnError(
                        f"{stream.address}: record {record.offset} is not the mark of a replayed "
                        f"dead letter: {error}"
                    ) from None
                found[mark.key] = mark.when
    return found
