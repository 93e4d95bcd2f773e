"""`iln-stream dead-letters`: lists dead letters, and replays them."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from iln_stream.cli.logs import report
from iln_stream.cli.originals import Originals
from iln_stream.cli.replay_marks import Key, Marks
from iln_stream.errors import IlnError, SourceError
from iln_stream.events import DeadLetter
from iln_stream.service import Settings, dead_letters_address, output_stream, source_stream
from iln_stream.service.labels import label_stream
from iln_stream.service.read_again import ReadAgain
from iln_stream.streams import Appender, NewRecord

_SHOWN = 60
"""Characters of a payload that the list shows."""

_MOST_KINDS = 20
"""Kinds of reasons that the list counts below the table."""


def list_letters(settings: Settings, reason: str, console: Console, *, as_json: bool) -> None:
    """Print the letters whose reason contains a text, and when each was replayed.

    Parameters
    ----------
    settings
        Settings of the run that wrote the letters.
    reason
        Only letters whose reason contains this text.
    console
        Gets the table.
    as_json
        Whether to write each letter to standard output as a line of JSON, as it is stored and with
        `replayed`, in place of the table.

    """
    table = Table("place", "replayed", "reason", "bytes", "payload")
    seen: set[tuple[str, str]] = set()
    kinds: Counter[str] = Counter()
    with closing(Marks(settings)) as marks:
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


def _as_json(letter: DeadLetter, marks: Marks) -> str:
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
    read_again = ReadAgain(settings, stream)
    done = _Replayed()
    appenders: dict[str, Appender] = {}
    with ExitStack() as opened:
        marks = opened.enter_context(closing(Marks(settings)))
        originals = opened.enter_context(closing(Originals(logs)))
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
            payload = originals.payload(letter)
            if payload is None:
                done.lost.append(f"{letter.partition}/{letter.offset}")
                continue
            if letter.stream not in appenders:
                appenders[letter.stream] = logs[letter.stream].appender()
                opened.callback(appenders[letter.stream].close)
            copy = NewRecord(
                payload, letter.key, timestamp=letter.written, partition=letter.partition
            )
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
        """Yield what the user should know."""
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


def letters(settings: Settings, reason: str = "") -> Iterator[DeadLetter]:
    """Yield the existing letters whose reason contains a text, in order.

    Raises
    ------
    IlnError
        When the topic or file does not exist, or contains anything but dead letters.

    """
    stream = output_stream(settings, dead_letters_address(settings))
    stream.wait()
    with closing(stream.written()) as source:
        while not source.exhausted:
            for record in source.poll(0.5):
                try:
                    letter = DeadLetter.model_validate_json(record.payload or b"")  # type: ignore[arg-type]
                except ValidationError as error:
                    raise IlnError(
                        f"{stream.address}: record {record.offset} is not a dead letter: {error}"
                    ) from None
                if reason in letter.reason:
                    yield letter
