"""`iln-stream log import` and `export`: copy records from and to embedded logs."""

import logging
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bars

from iln_stream.cli.log import embedded, starts, topic_state
from iln_stream.cli.logs import report
from iln_stream.errors import IlnError
from iln_stream.service import Settings, output_stream, source_stream
from iln_stream.service.readers import start_of
from iln_stream.service.signals import stop_on_signals
from iln_stream.streams import Start, StreamOptions
from iln_stream.streams.copying import Again, Progress, export_records, import_records

log = logging.getLogger(__name__)

_INTERRUPTED = 128 + signal.SIGINT

_LINE_SECONDS = 10.0
"""From one line of progress to the next, without a terminal."""


def import_stream(settings: Settings, address: str, how: Again | None, console: Console) -> None:
    """Copy the source into an embedded log.

    Parameters
    ----------
    settings
        Settings of the source.
    address
        The embedded log.
    how
        What to do about an earlier import that was interrupted; see `import_records`.
    console
        Draws progress if it is a terminal.

    Raises
    ------
    typer.Exit
        When interrupted.

    """
    settings = settings.model_copy(update={"stop_at_end": True})
    source, target = source_stream(settings), embedded(address)
    source.check()
    if source.place == target.place:
        raise IlnError(f"{source.address} can't be imported into itself: give another topic")
    source.wait()
    start: Start = start_of(settings) or "earliest"
    with _shown(f"{source.address} → {target.address}", console) as progress:
        import_records(source, target, start, how, progress)
    _report(progress, f"imported from {source.address} to {target.address}", console)
    if progress.stopped:
        again = "the same command" if source.is_log else "the same command and --continue"
        report(console, f"interrupted; {again} imports the others")
        raise typer.Exit(_INTERRUPTED)


def export_topic(
    settings: Settings, address: str, to: str, begin: str | None, console: Console
) -> None:
    """Copy a topic of an embedded log to another address.

    Parameters
    ----------
    settings
        Settings of the target.
    address
        The embedded log.
    to
        The target.
    begin
        Where to begin, as `iln_stream.cli.log.starts` reads it; None: at the first record.
    console
        Draws progress if it is a terminal.

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
    _report(progress, f"exported from {source.address} to {target.address}", console)
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


def _continuing(progress: Progress) -> str:
    offsets = ",".join(f"{p}:{offset}" for p, offset in sorted(progress.positions.items()))
    return f"--from {offsets} exports the others"


def _report(progress: Progress, what: str, console: Console) -> None:
    report(console, f"{progress.n_records:,} records {what}")


@contextmanager
def _shown(title: str, console: Console) -> Iterator[Progress]:
    """Return the progress of a copy, shown on the console; signals stop the copy."""
    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(show_speed=True),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    task = bars.add_task(title, total=None)
    logged = _logging(title)

    def advanced(now: Progress) -> None:
        bars.update(task, completed=now.n_records, total=now.total)
        if not console.is_terminal:
            logged(now)

    progress = Progress(advanced)
    with stop_on_signals(progress.stop), bars:
        yield progress


def _logging(title: str) -> Callable[[Progress], None]:
    """Return a function that logs progress every few seconds."""
    due = time.monotonic() + _LINE_SECONDS

    def advanced(now: Progress) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + _LINE_SECONDS
            total = "" if now.total is None else f" of {now.total:,}"
            log.info(f"{title}: {now.n_records:,}{total} records")  # no template: not a repeat

    return advanced
