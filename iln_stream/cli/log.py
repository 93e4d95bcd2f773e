"""`iln-stream log`: lists, creates, tails, trims, imports and exports embedded logs."""

import datetime as dt
import logging
import re
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bars
from rich.table import Table

from iln_stream.cli.logs import report
from iln_stream.errors import IlnError, SourceError
from iln_stream.service import output_stream, stream_options
from iln_stream.service.http import stop_on_signals
from iln_stream.service.settings import StreamSettings
from iln_stream.service.streams import start_of
from iln_stream.settings import moment_of
from iln_stream.streams import Record, Resume, Start, StreamOptions, stream_at
from iln_stream.streams.copying import Again, CopyProgress, export_records, import_records, value_of
from iln_stream.streams.sqlite import (
    PartitionState,
    Retention,
    TopicState,
    create_topic,
    readers,
    set_retention,
    topics,
    trim,
)
from iln_stream.streams.sqlite.scheme import SqliteScheme

_PAUSE = 0.02
"""Seconds from one look for new records to the next."""

_OFFSET = re.compile(r"(?:(\d+):)?(\d+)")


def embedded(address: str, options: StreamOptions | None = None) -> SqliteScheme:
    """Return the embedded log at an address.

    Raises
    ------
    IlnError
        When it is the address of something else.

    """
    stream = stream_at(address, options or StreamOptions())
    if not isinstance(stream, SqliteScheme):
        raise IlnError(
            f"{address!r} is no embedded log: give sqlite:PATH, or sqlite:PATH#TOPIC for another "
            "topic than `events`"
        )
    stream.check()
    return stream


def list_topics(address: str, console: Console) -> None:
    """Print the topics of a file and their readers; with `#TOPIC`, only of that topic."""
    stream = embedded(address)
    table, read = Table(), Table()
    for name in ("topic", "partition", "first", "end", "bytes", "keeps"):
        table.add_column(name, justify="left" if name in ("topic", "keeps") else "right")
    for name in ("topic", "partition", "read for", "committed", "lag"):
        read.add_column(name, justify="left" if name in ("topic", "read for") else "right")
    for topic, partitions in topics(stream.path):
        if "#" in address and topic.name != stream.topic:
            continue
        for each in partitions:
            numbers = each.number, each.first_offset, each.next_offset, each.n_bytes
            cells = topic.name, *(f"{n:,}" for n in numbers), _limits(topic.retention)
            table.add_row(*map(escape, cells))
        for reader in readers(stream.path, topic.name):
            committed = "" if reader.next_offset is None else f"{reader.next_offset:,}"
            cells = f"{reader.partition}", reader.writes_to, committed, f"{reader.lag:,}"
            read.add_row(topic.name, *cells)
    if not table.rows:
        console.print(f"{address} has no topics", soft_wrap=True, highlight=False)
        return
    console.print(table)
    if read.rows:
        console.print(read)


def create(address: str, n_partitions: int, retention: Retention, console: Console) -> None:
    """Create a topic."""
    stream = embedded(address)
    create_topic(stream.path, stream.topic, n_partitions, retention)
    report(
        console,
        f"topic {stream.topic} created in {stream.path}; partitions: {n_partitions}; keeps "
        f"{_limits(retention)}",
    )


def trim_topic(address: str, retention: Retention, from_now_on: bool, console: Console) -> None:
    """Delete old records: those that the limits given, or else the topic's own, do not keep."""
    stream = embedded(address)
    topic, _ = topic_state(stream)
    given = retention != Retention()
    if from_now_on:
        set_retention(stream.path, stream.topic, retention)
    elif not given and topic.retention == Retention():
        raise IlnError(
            f"{stream.address} keeps everything: say what to keep, such as --keep-records 1000000"
        )
    n_deleted = trim(stream.path, stream.topic, retention if given or from_now_on else None)
    kept = f"; from now on it keeps {_limits(retention)}" if from_now_on else ""
    report(console, f"{n_deleted:,} records of {stream.address} deleted{kept}")


def tail(
    address: str,
    start: str | None,
    lines: int,
    partition: int | None,
    follow: bool,
    positions: bool,
) -> None:
    """Write records to standard output, one a line.

    Parameters
    ----------
    address
        The topic.
    start
        Where to begin, as `starts` reads it; None: at the last `lines` records of each partition.
    lines
        Number of records.
    partition
        Only this partition; None: all.
    follow
        Whether to wait for new records, until interrupted.
    positions
        Whether to write position, time and key before each value, with tabs between them.

    """
    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True  # an error that is raised in a finaliser or a callback gets lost
        raise KeyboardInterrupt

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, stop)
    stream = embedded(address, StreamOptions(stop_at_end=not follow))
    states = topic_state(stream).partitions
    if partition is not None:
        states = tuple(each for each in states if each.number == partition)
        if not states:
            raise IlnError(f"--partition {partition}: {stream.address} has no such partition")
    if start is None:
        begin: Mapping[int, Start] = {
            each.number: Resume(max(each.first_offset, each.next_offset - lines), None)
            for each in states
        }
    else:
        begin = starts(start, states)
    with ExitStack() as opened:
        out = opened.enter_context(closing(stream_at("-", StreamOptions()).sink()))
        logs = [
            opened.enter_context(closing(stream.log(each.number, begin[each.number])))
            for each in states
        ]
        try:
            while not (stopping or all(each.exhausted for each in logs)):
                found = [record for each in logs for record in each.poll(0.0)]
                for record in found:
                    out.write(None, _line(record, positions))
                out.send_queued()
                if not found:
                    time.sleep(_PAUSE)
        except KeyboardInterrupt:
            pass


def starts(text: str, partitions: Sequence[PartitionState]) -> dict[int, Start]:
    """Parse where to begin: earliest, latest, a time, or offsets; return it by partition.

    Raises
    ------
    IlnError
        When the text can't be parsed, or an offset is not in the log.

    Examples
    --------
    >>> from iln_stream.cli.log import starts
    >>> from iln_stream.streams.sqlite import PartitionState
    >>> two = [PartitionState(0, 0, 9, 99), PartitionState(1, 0, 9, 99)]
    >>> starts("earliest", two)
    {0: 'earliest', 1: 'earliest'}
    >>> starts("0:5,1:7", two)[1].offset
    7

    """
    if text in ("earliest", "latest"):
        return {each.number: text for each in partitions}  # type: ignore[misc]
    parts = [_OFFSET.fullmatch(part.strip()) for part in text.split(",")]
    if all(parts):
        return _offsets(text, [part for part in parts if part], partitions)
    if (moment := moment_of(text)) is None:
        raise IlnError(
            f"--from {text}: give earliest, latest, an offset, PARTITION:OFFSET, comma-separated, "
            "or a time with a UTC offset, like 2026-01-31T12:00:00Z"
        )
    return {each.number: moment for each in partitions}


def _offsets(
    text: str, parts: Sequence[re.Match[str]], partitions: Sequence[PartitionState]
) -> dict[int, Start]:
    if any(part[1] is None for part in parts) and len(partitions) > 1:
        raise IlnError(
            f"--from {text}: there are {len(partitions)} partitions; give PARTITION:OFFSET, "
            "comma-separated"
        )
    only = partitions[0].number
    given = {int(part[1] or only): int(part[2]) for part in parts}
    found: dict[int, Start] = {}
    for each in partitions:
        offset = given.pop(each.number, each.first_offset)
        if not each.first_offset <= offset <= each.next_offset:
            raise IlnError(
                f"--from {text}: partition {each.number} has offsets {each.first_offset} to "
                f"{each.next_offset}"
            )
        found[each.number] = Resume(offset, None)
    if given:
        raise SourceError(f"--from {text}: there is no partition {min(given)}")
    return found


def topic_state(stream: SqliteScheme) -> TopicState:
    """Return the topic at an address; raise NoStreamError if there is none."""
    stream.partitions()  # raises an error if there is no such topic
    (found,) = (each for each in topics(stream.path) if each.topic.name == stream.topic)
    return found


def _line(record: Record, positions: bool) -> bytes:
    value = (value_of(record) or b"").replace(b"\n", b" ")
    if not positions:
        return value
    moment = dt.datetime.fromtimestamp(record.timestamp or 0.0, dt.UTC)
    key = "" if record.key is None else record.key
    place = f"{record.origin.partition}:{record.offset}\t{moment:%Y-%m-%dT%H:%M:%S.%fZ}\t{key}\t"
    return place.encode(errors="surrogateescape") + value


def _limits(retention: Retention) -> str:
    units = {"records": "records", "seconds": "s", "bytes": "bytes"}
    limits = [
        f"{limit:,g} {units[name]}" if name == "seconds" else f"{limit:,} {units[name]}"
        for name, limit in retention._asdict().items()
        if limit is not None
    ]
    return ", ".join(limits) or "everything"


log = logging.getLogger(__name__)

_INTERRUPTED = 128 + signal.SIGINT

_LINE_SECONDS = 10.0
"""From one line of progress to the next, without a terminal."""


def import_stream(
    settings: StreamSettings, address: str, how: Again | None, console: Console
) -> None:
    """Copy the source into an embedded log.

    `how` says what to do about an earlier import that was interrupted; see `import_records`.

    Raises
    ------
    typer.Exit
        When interrupted.

    """
    options = replace(stream_options(settings), stop_at_end=True)
    source, target = stream_at(settings.source_address, options), embedded(address)
    source.check()
    if source.place == target.place:
        raise IlnError(f"{source.address} can't be imported into itself: give another topic")
    source.wait()
    start: Start = start_of(settings, accept_loss=False) or "earliest"
    with _shown(f"{source.address} → {target.address}", console) as progress:
        import_records(source, target, start, how, progress)
    n = f"{progress.n_records:,} records"
    report(console, f"{n} imported from {source.address} to {target.address}")
    if progress.stopped:
        again = "the same command" if source.is_log else "the same command and --continue"
        report(console, f"interrupted; {again} imports the others")
        raise typer.Exit(_INTERRUPTED)


def export_topic(
    settings: StreamSettings, address: str, to: str, begin: str | None, console: Console
) -> None:
    """Copy a topic of an embedded log to another address.

    `begin` says where to begin, as `starts` reads it; None: at the first record.

    Raises
    ------
    typer.Exit
        When interrupted.

    """
    source = embedded(address, StreamOptions(stop_at_end=True))
    target = output_stream(settings, to)
    if source.place == target.place:
        raise IlnError(f"{source.address} can't be exported to itself: give another address")
    start = None if begin is None else starts(begin, topic_state(source).partitions)
    target.wait()
    with _shown(f"{source.address} → {target.address}", console) as progress:
        try:
            export_records(source, target, start, progress)
        except IlnError as error:
            if progress.n_records:
                raise type(error)(f"{error}; {_continuing(progress)}") from error
            raise
    n = f"{progress.n_records:,} records"
    report(console, f"{n} exported from {source.address} to {target.address}")
    if progress.n_without_value:
        log.warning(
            "%d records without a value (tombstones) were left out: only a log stores them",
            progress.n_without_value,
        )
    if progress.n_with_line_breaks:
        log.warning(
            "line breaks in %d records became spaces: a file has one record a line",
            progress.n_with_line_breaks,
        )
    if progress.stopped:
        report(console, f"interrupted; {_continuing(progress)}")
        raise typer.Exit(_INTERRUPTED)


def _continuing(progress: CopyProgress) -> str:
    offsets = ",".join(f"{p}:{offset}" for p, offset in sorted(progress.positions.items()))
    return f"--from {offsets} exports the others"


def bars_of_records(console: Console) -> Bars:
    """Return bars that count records, and show how fast they come; only at a terminal."""
    return Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(show_speed=True),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
    )


@contextmanager
def _shown(title: str, console: Console) -> Iterator[CopyProgress]:
    """Return the progress of a copy, shown on the console; signals stop the copy."""
    bars = bars_of_records(console)
    task = bars.add_task(title, total=None)
    due = time.monotonic() + _LINE_SECONDS

    def advanced(now: CopyProgress) -> None:
        nonlocal due
        bars.update(task, completed=now.n_records, total=now.total)
        if not console.is_terminal and time.monotonic() >= due:
            due = time.monotonic() + _LINE_SECONDS
            total = "" if now.total is None else f" of {now.total:,}"
            log.info(f"{title}: {now.n_records:,}{total} records")  # no template: not a repeat

    progress = CopyProgress(advanced)
    with stop_on_signals(progress.stop), bars:
        yield progress
