"""`iln-stream dead-letters`: what could not be learned, and sending it again."""

import hashlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from iln_stream.cli.logs import say
from iln_stream.errors import IlnError, SourceError
from iln_stream.events import DeadLetter
from iln_stream.service import Settings, dead_letters_address, output_stream, source_stream
from iln_stream.streams import Resume, Sink, Source
from iln_stream.streams.files import JsonLinesSource

_SHOWN = 60
"""Characters of a payload in the list."""


def list_letters(settings: Settings, reason: str, console: Console) -> None:
    """Print the letters whose reason holds some words."""
    table = Table("place", "reason", "bytes", "payload")
    for letter in letters(settings, reason):
        payload = letter.payload if len(letter.payload) <= _SHOWN else f"{letter.payload[:_SHOWN]}…"
        place = f"{letter.stream}/{letter.partition}/{letter.offset}"
        cells = place, letter.reason, f"{letter.payload_bytes:,}", payload
        table.add_row(*map(escape, cells))
    if not table.rows:
        console.print(f"no dead letters in {dead_letters_address(settings)}", soft_wrap=True)
        return
    console.print(table)


def replay_letters(settings: Settings, reason: str, console: Console) -> None:
    """Append the records of the letters to the topic again, byte by byte as they first came.

    Letters of other streams, and records that are nowhere to be had any more, are counted.
    """
    n_sent, others, lost = 0, 0, []
    sinks: dict[int, Sink] = {}
    stream = source_stream(settings)
    try:
        for letter in letters(settings, reason):
            if letter.stream != stream.name:
                others += 1
                continue
            payload = _payload(letter, settings)
            if payload is None:
                lost.append(f"{letter.partition}/{letter.offset}")
                continue
            if letter.partition not in sinks:
                sinks[letter.partition] = stream.sink(letter.partition)
            sinks[letter.partition].write(None, payload)
            n_sent += 1
    finally:
        for sink in sinks.values():
            sink.close()
    say(console, f"{n_sent} records sent to {stream.address} again")
    if others:
        say(console, f"{others} letters are of other streams")
    if lost:
        say(
            console,
            f"{len(lost)} records are cut in their letters and no longer in the topic: "
            f"{', '.join(lost)}",
        )


def letters(settings: Settings, reason: str = "") -> Iterator[DeadLetter]:
    """Yield the letters that are there now, in their order, whose reason holds some words.

    Raises
    ------
    IlnError
        When there is no such topic or file, or it holds something else.

    """
    address = dead_letters_address(settings)
    with closing(_open(address, settings)) as source:
        while not source.exhausted:
            for record in source.poll(0.5):
                assert isinstance(record.payload, bytes)
                try:
                    letter = DeadLetter.model_validate_json(record.payload)
                except ValidationError as error:
                    raise IlnError(
                        f"{address}: {record.offset} is no dead letter: {error}"
                    ) from None
                if reason in letter.reason:
                    yield letter


def _open(address: str, settings: Settings) -> Source:
    to_the_end = settings.model_copy(update={"stop_at_end": True, "target": None, "limit": None})
    stream = output_stream(to_the_end, address)
    if not stream.is_log:
        return JsonLinesSource(Path(address))
    return stream.log(stream.partitions()[0], "earliest")


def _payload(letter: DeadLetter, settings: Settings) -> bytes | None:
    """Return the record as it came: from the letter if it holds it all, else from the stream."""
    kept = letter.payload.encode(errors="surrogatepass")
    if _is_of(kept, letter):
        return kept
    try:
        source = source_stream(settings).log(
            letter.partition, Resume(letter.offset, None), stop_at=letter.offset + 1
        )
    except SourceError:  # retention has passed it
        return None
    with closing(source):
        while not source.exhausted:
            for record in source.poll(0.5):
                if record.offset == letter.offset and isinstance(record.payload, bytes):
                    return record.payload if _is_of(record.payload, letter) else None
    return None


def _is_of(payload: bytes, letter: DeadLetter) -> bool:
    return hashlib.sha256(payload).hexdigest() == letter.payload_sha256
