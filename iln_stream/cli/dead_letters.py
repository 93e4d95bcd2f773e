"""`iln-stream dead-letters`: lists dead letters, and replays them."""

import datetime as dt
import hashlib
import json
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard, TypeVar

from pydantic import AwareDatetime, BaseModel, ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from iln_stream.cli.logs import report
from iln_stream.errors import IlnError, LostPlaceError, NoStreamError, SourceError
from iln_stream.records import DeadLetter
from iln_stream.service import Settings, dead_letters_address, output_stream, source_stream
from iln_stream.service.rebuild import RebuildPositions
from iln_stream.service.settings import StreamSettings
from iln_stream.service.streams import label_stream
from iln_stream.streams import Appender, Log, NewRecord, Record, Resume, Scheme, Sink, stream_at

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
    return letter.stream, letter.partition, letter.offset, letter.payload_sha256


class ReplayedLetters:
    """Remembers replayed letters in the file `<file>.replayed` or the topic `<topic>-replayed`.

    A letter that was written twice, which a crash may cause, counts as one letter. A copy that
    can't be learned either has a letter of its own, of the same record.

    Raises
    ------
    IlnError
        When the stream contains anything but marks.

    """

    def __init__(self, settings: StreamSettings) -> None:
        letters = output_stream(settings, dead_letters_address(settings))
        self._stream = output_stream(settings, letters.sibling("replayed"))
        self._stream.wait()
        self._last: dict[Key, Mark] = {}
        self._originals: dict[Key, Key] = {}
        with suppress(NoStreamError):  # nothing was replayed yet
            for mark in _written(self._stream, Mark, "the mark of a replayed dead letter"):
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


Message = TypeVar("Message", bound=BaseModel)


def _written(stream: Scheme, kind: type[Message], what: str) -> Iterator[Message]:
    """Yield the messages in a stream; raise an error if one is not what they should be."""
    with closing(stream.written()) as source:
        while not source.exhausted:
            for record in source.poll(0.5):
                try:
                    yield kind.model_validate_json(record.payload or b"")  # type: ignore[arg-type]
                except ValidationError as error:
                    raise IlnError(
                        f"{stream.address}: record {record.offset} is not {what}: {error}"
                    ) from None


_NEAR = 10_000
"""Records that are read on rather than opened anew, which takes a fifth of a second on Kafka."""


class OriginalRecords:
    """Reads originals again that their letters do not hold completely, such as binary ones."""

    def __init__(self, logs: Mapping[str, Scheme]) -> None:
        self._logs = logs
        self._readers: dict[tuple[str, int], _Reader] = {}

    def copy(self, letter: DeadLetter) -> NewRecord | None:
        """Return a copy of the original record; None if nobody has all of its bytes any more.

        A letter without a key may be of a record whose key it could not hold.
        """
        payload, key = letter.payload.encode(errors="surrogatepass"), letter.key
        if key is None or not _is_of(payload, letter):
            found = self._read(letter)
            if found is not None and _is_of(found.payload, letter):
                payload, key = found.payload, found.key
        if not _is_of(payload, letter):
            return None
        return NewRecord(payload, key, timestamp=letter.written, partition=letter.partition)

    def _read(self, letter: DeadLetter) -> Record | None:
        place = letter.stream, letter.partition
        reader = self._readers.get(place)
        if reader is None or not reader.is_near(letter.offset):
            if reader is not None:
                reader.close()
                del self._readers[place]
            stream = self._logs[letter.stream]
            ending = stream_at(stream.address, replace(stream.options, stop_at_end=True))
            try:
                log = ending.log(letter.partition, Resume(letter.offset, None))
            except LostPlaceError:  # retention deleted it
                return None
            reader = self._readers[place] = _Reader(log, letter.offset)
        return reader.at(letter.offset)

    def close(self) -> None:
        """Close the logs."""
        for reader in self._readers.values():
            reader.close()


class _Reader:
    """Reads a partition forward, from one wanted record to the next."""

    def __init__(self, log: Log, offset: int) -> None:
        self._log = log
        self._next = offset
        self._records: deque[Record] = deque()

    def is_near(self, offset: int) -> bool:
        """Return whether a record is at or not far after the present one."""
        return self._next <= offset < self._next + _NEAR

    def at(self, offset: int) -> Record | None:
        """Return the record at an offset, from which the next one may be asked for."""
        self._next = offset
        while True:
            while self._records and self._records[0].offset < offset:
                self._records.popleft()
            if self._records:
                first = self._records[0]
                return first if first.offset == offset else None
            if self._log.exhausted:
                return None
            self._records.extend(self._log.poll(0.5))

    def close(self) -> None:
        self._log.close()


def _is_of(payload: Any, letter: DeadLetter) -> TypeGuard[bytes]:
    return (
        isinstance(payload, bytes) and hashlib.sha256(payload).hexdigest() == letter.payload_sha256
    )


_SHOWN = 60
"""Characters of a payload that the list shows."""

_MOST_KINDS = 20
"""Kinds of reasons that the list counts below the table."""


def list_letters(settings: StreamSettings, reason: str, console: Console, *, as_json: bool) -> None:
    """Print the letters whose reason contains a text, and when each was replayed.

    With `as_json`, each letter is a line of JSON on standard output, as it is stored and with
    `replayed`, in place of the table.
    """
    table = Table("place", "replayed", "reason", "bytes", "payload")
    seen: set[tuple[str, str]] = set()
    kinds: Counter[str] = Counter()
    with closing(ReplayedLetters(settings)) as marks:
        for letter in letters(settings, reason):
            if as_json:
                print(_as_json(letter, marks))
                continue
            payload = letter.payload
            if len(payload) > _SHOWN:
                payload = f"{payload[:_SHOWN]}…"
            place = f"{letter.stream}/{letter.partition}/{letter.offset}"
            if (place, letter.reason) in seen:  # a crash may write the same letter twice
                continue
            seen.add((place, letter.reason))
            kinds[letter.kind] += 1
            mark = marks.last(letter)
            replayed = "" if mark is None else f"{mark.when:%Y-%m-%d %H:%M:%S}"
            if marks.failed_again(letter):
                replayed += ", failed again"
            cells = place, replayed, letter.reason, f"{letter.payload_bytes:,}", payload
            table.add_row(*map(escape, cells))
    if as_json:
        return
    if not table.rows:
        console.print(f"no dead letters in {dead_letters_address(settings)}", soft_wrap=True)
        return
    console.print(table)
    console.print("most frequent reasons:", soft_wrap=True)
    for kind, n in kinds.most_common(_MOST_KINDS):
        console.print(f"{n:>8,}  {kind}", soft_wrap=True, markup=False, highlight=False)


def _as_json(letter: DeadLetter, marks: ReplayedLetters) -> str:
    mark = marks.last(letter)
    replayed = None if mark is None else mark.when.isoformat()
    more = {"replayed": replayed, "failed_again": marks.failed_again(letter)}
    return json.dumps(letter.model_dump() | more)


def replay_letters(
    settings: Settings, reason: str, failed_again: bool, again: bool, console: Console
) -> None:
    """Append the original records of the letters to the topic again, with their keys and times.

    Each record is stored before the mark that it was replayed: a crash between the two repeats
    that one record. The report counts records that a rebuild has read, records that were replayed
    before, those of them that failed again, letters of other streams, records without a value, and
    records that no longer exist; these are not sent.

    Parameters
    ----------
    settings
        Settings of the run that wrote the letters.
    reason
        Only letters whose reason contains this text.
    failed_again
        Also replay records that were replayed before, but could not be learned then either.
    again
        Also replay all other records that were replayed before, or that a rebuild has read.
    console
        Receives the report.

    Raises
    ------
    SourceError
        When the source is not a log: records can only be appended to a log.

    """
    stream, labels = source_stream(settings), label_stream(settings)
    stream.check()
    if not stream.is_log:
        raise SourceError(
            f"source = {stream.address!r}: dead letters can only be replayed to a log, such "
            "as kafka:TOPIC or sqlite:PATH; name it, or correct the source and run again"
        )
    logs = {each.name: each for each in (stream, labels) if each is not None}
    for each in logs.values():
        each.wait()
    read_again = RebuildPositions(settings, stream)
    done = _Replayed()
    appenders: dict[str, Appender] = {}
    with ExitStack() as opened:
        marks = opened.enter_context(closing(ReplayedLetters(settings)))
        originals = opened.enter_context(closing(OriginalRecords(logs)))
        for letter in letters(settings, reason):
            record = marks.original(letter)
            if letter.stream not in logs:
                done.n_others += 1
                continue
            if record in done.sent:  # a crash may write the same letter twice
                continue
            if read_again.has(letter.stream, letter.partition, letter.offset) and not again:
                done.read_again.add(record)
                continue
            if marks.failed_again(letter):
                if not (failed_again or again):
                    done.failed.add(record)
                    continue
            elif marks.last(letter) and not again:
                done.before.add(record)
                continue
            if letter.payload_bytes == 0:
                done.empty.add(record)
                continue
            copy = originals.copy(letter)
            if copy is None:
                done.lost.append(f"{letter.partition}/{letter.offset}")
                continue
            if letter.stream not in appenders:
                appenders[letter.stream] = logs[letter.stream].appender()
                opened.callback(appenders[letter.stream].close)
            (stored,) = appenders[letter.stream].append([copy])
            marks.add(letter, stored.offset)
            done.sent.add(record)
    for line in done.lines([each.address for each in logs.values()]):
        report(console, line)


@dataclass
class _Replayed:
    """What a replay did with each record."""

    sent: set[Key] = field(default_factory=set)
    before: set[Key] = field(default_factory=set)
    failed: set[Key] = field(default_factory=set)
    read_again: set[Key] = field(default_factory=set)
    empty: set[Key] = field(default_factory=set)
    lost: list[str] = field(default_factory=list)
    n_others: int = 0

    def lines(self, addresses: Sequence[str]) -> Iterator[str]:
        yield f"{len(self.sent)} records sent to {' and '.join(addresses)} again"
        if self.failed:
            yield (
                f"{len(self.failed)} records were replayed and failed again: correct the cause, "
                "then replay them with --failed-again"
            )
        if before := self.before - self.failed - self.sent:
            yield f"{len(before)} records were replayed before; --again replays them, too"
        if read_again := self.read_again - self.failed - self.before - self.sent:
            yield (
                f"{len(read_again)} records were read by `iln-stream rebuild`, which learned those "
                "that its settings can read; --again replays all of them, too"
            )
        if self.empty:
            yield (
                f"{len(self.empty)} records have no value, such as tombstones, and are not sent: "
                "no settings can learn them"
            )
        if self.n_others:
            yield f"{self.n_others} letters are of other streams"
        if self.lost:
            yield (
                f"{len(self.lost)} records are truncated in their letters and no longer in the "
                f"topic: {', '.join(self.lost)}"
            )


def letters(settings: StreamSettings, reason: str = "") -> Iterator[DeadLetter]:
    """Yield the existing letters whose reason contains a text, in order.

    Raises
    ------
    IlnError
        When the topic or file does not exist, or contains anything but dead letters.

    """
    stream = output_stream(settings, dead_letters_address(settings))
    stream.wait()
    for letter in _written(stream, DeadLetter, "a dead letter"):
        if reason in letter.reason:
            yield letter
