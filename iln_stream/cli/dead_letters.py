"""`iln-stream dead-letters`: lists dead letters, and replays them."""

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, closing

from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from iln_stream.cli.logs import report
from iln_stream.cli.replay_marks import Mark, Marks
from iln_stream.errors import IlnError, SourceError
from iln_stream.events import DeadLetter
from iln_stream.service import Settings, dead_letters_address, output_stream, source_stream
from iln_stream.service.labels import label_stream
from iln_stream.streams import Resume, Scheme, Sink

_SHOWN = 60
"""Characters of a payload that the list shows."""


def list_letters(settings: Settings, reason: str, console: Console) -> None:
    """Print the letters whose reason contains a text, and when each was replayed."""
    table = Table("place", "replayed", "reason", "bytes", "payload")
    with closing(Marks(settings)) as marks:
        for letter in letters(settings, reason):
            payload = letter.payload
            if len(payload) > _SHOWN:
                payload = f"{payload[:_SHOWN]}…"
            place = f"{letter.stream}/{letter.partition}/{letter.offset}"
            when = marks.when(letter)
            replayed = "" if when is None else f"{when:%Y-%m-%d %H:%M:%S}"
            cells = place, replayed, letter.reason, f"{letter.payload_bytes:,}", payload
            table.add_row(*map(escape, cells))
    if not table.rows:
        console.print(f"no dead letters in {dead_letters_address(settings)}", soft_wrap=True)
        return
    console.print(table)


def replay_letters(settings: Settings, reason: str, again: bool, console: Console) -> None:
    """Append the original records of the letters to the topic again.

    Each record is stored before the mark that it was replayed: a crash between the two repeats
    that one record. The report counts letters that were replayed before, letters of other streams,
    and records that no longer exist.

    Parameters
    ----------
    settings
        Settings of the run that wrote the letters.
    reason
        Only letters whose reason contains this text.
    again
        Also replay letters that were replayed before.
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
    n_sent, n_others, lost = 0, 0, []
    before, sent = set(), set()
    sinks: dict[tuple[str, int], Sink] = {}
    with ExitStack() as opened:
        marks = opened.enter_context(closing(Marks(settings)))
        for letter in letters(settings, reason):
            key = Mark.of(letter).key
            place = letter.stream, letter.partition
            if letter.stream not in logs:
                n_others += 1
            elif key in sent:  # a crash may write the same letter twice
                continue
            elif marks.when(letter) is not None and not again:
                before.add(key)
            elif (payload := _payload(letter, logs[letter.stream])) is None:
                lost.append(f"{letter.partition}/{letter.offset}")
            else:
                if place not in sinks:
                    sinks[place] = logs[letter.stream].sink(letter.partition)
                    opened.callback(sinks[place].close)
                sinks[place].write(None, payload)
                sinks[place].flush()
                marks.add(letter)
                sent.add(key)
                n_sent += 1
    lines = [f"{n_sent} records sent to {' and '.join(e.address for e in logs.values())} again"]
    if before:
        lines.append(f"{len(before)} letters were replayed before; --again replays them")
    if n_others:
        lines.append(f"{n_others} letters are of other streams")
    if lost:
        lines.append(
            f"{len(lost)} records are truncated in their letters and no longer in the topic: "
            f"{', '.join(lost)}"
        )
    for line in lines:
        report(console, line)


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


def _payload(letter: DeadLetter, stream: Scheme) -> bytes | None:
    """Return the original record: from the letter if it is complete there, else from the stream."""
    kept = letter.payload.encode(errors="surrogatepass")
    if _is_of(kept, letter):
        return kept
    try:
        source = stream.log(
            letter.partition, Resume(letter.offset, None), stop_at=letter.offset + 1
        )
    except SourceError:  # retention deleted it
        return None
    with closing(source):
        while not source.exhausted:
            for record in source.poll(0.5):
                if record.offset == letter.offset and isinstance(record.payload, bytes):
                    return record.payload if _is_of(record.payload, letter) else None
    return None


def _is_of(payload: bytes, letter: DeadLetter) -> bool:
    return hashlib.sha256(payload).hexdigest() == letter.payload_sha256
