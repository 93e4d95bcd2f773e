"""Declares the commands of embedded logs, `iln-stream log ...`."""

from functools import partial
from typing import Annotated, Literal

import typer

from iln_stream.cli.command import Commands, console, output, with_settings
from iln_stream.errors import IlnError
from iln_stream.service import Settings

log_app = Commands(
    help="Embedded logs: topics in an SQLite file, `sqlite:PATH` or `sqlite:PATH#TOPIC`.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
Topic = Annotated[str, typer.Argument(help="`sqlite:PATH` or `sqlite:PATH#TOPIC`.")]
KeepRecords = Annotated[
    int | None, typer.Option(min=0, help="Records to keep in each partition; default: all.")
]
KeepSeconds = Annotated[
    float | None, typer.Option(min=0, help="Age in seconds up to which records are kept.")
]
KeepBytes = Annotated[
    int | None, typer.Option(min=0, help="Bytes of values to keep in each partition.")
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        help="Where to begin: `earliest`, `latest`, a time (RFC 3339), an offset, or "
        "PARTITION:OFFSET, comma-separated.",
    ),
]

CONNECTION = ("bootstrap", "kafka_options", "kafka_client")
LOGGING = ("log_level", "log_format")


@log_app.command("list", example="log list sqlite:log.db")
def list_topics(
    address: Annotated[str, typer.Argument(help="`sqlite:PATH`.")] = "sqlite:log.db",
) -> None:
    """Show the topics of a file, with offsets, sizes, retention, and how far they were read."""
    from iln_stream.cli import log

    log.list_topics(address, output())


@log_app.command("create", example="log create sqlite:log.db#orders --keep-records 1000000")
def create_topic(
    address: Topic,
    partitions: Annotated[int, typer.Option(min=1, help="Number of partitions.")] = 1,
    keep_records: KeepRecords = None,
    keep_seconds: KeepSeconds = None,
    keep_bytes: KeepBytes = None,
) -> None:
    """Create a topic, and the file if necessary."""
    from iln_stream.cli import log
    from iln_stream.streams.sqlite import Retention

    log.create(address, partitions, Retention(keep_records, keep_seconds, keep_bytes), console)


@log_app.command("tail", example="log tail sqlite:log.db --lines 3")
def tail_topic(
    address: Topic,
    start: From = None,
    lines: Annotated[
        int, typer.Option("--lines", "-n", min=0, help="Last records of each partition.")
    ] = 10,
    partition: Annotated[int | None, typer.Option(min=0, help="Only this partition.")] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for new records until interrupted.")
    ] = False,
    positions: Annotated[
        bool, typer.Option("--positions", help="Write PARTITION:OFFSET, time and key first.")
    ] = False,
) -> None:
    """Write the last records of a topic, or those from `--from`, to standard output."""
    from iln_stream.cli import log

    log.tail(address, start, lines, partition, follow, positions)


@log_app.command("import", example="log import orders.csv sqlite:log.db")
@partial(
    with_settings, only=(*CONNECTION, "start", "limit", "seed", "separator", "columns", *LOGGING)
)
def import_stream(
    settings: Settings,
    source: Annotated[
        str,
        typer.Argument(
            help="`kafka:TOPIC`, `sqlite:PATH#TOPIC`, a `.jsonl`, `.csv` or `.parquet` file, `-`, "
            "`river:NAME` or `synthetic:NAME`."
        ),
    ],
    address: Topic,
    resume: Annotated[
        bool, typer.Option("--continue", help="Skip as many records as were imported before.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Import everything, even if it was imported before.")
    ] = False,
) -> None:
    """Copy a stream up to its end into an embedded log: order, keys and times.

    A topic that does not exist is created with the source's number of partitions. A log is imported
    once: the same command imports the records that came later.
    """
    from iln_stream.cli import log

    if resume and again:
        raise IlnError("--continue and --again: give one of them")
    how: Literal["continue", "again"] | None = "continue" if resume else "again" if again else None
    log.import_stream(settings, address, how, console)


@log_app.command("export", example="log export sqlite:log.db orders.jsonl")
@partial(with_settings, only=(*CONNECTION, *LOGGING))
def export_topic(
    settings: Settings,
    address: Topic,
    to: Annotated[
        str, typer.Argument(help="`kafka:TOPIC`, `sqlite:PATH#TOPIC`, a `.jsonl` file or `-`.")
    ],
    begin: From = None,
) -> None:
    """Copy a topic of an embedded log up to its end: order, keys and times.

    A topic that does not exist is created with as many partitions. A file has neither keys nor
    times; records of several partitions are merged by time.
    """
    from iln_stream.cli import log

    log.export_topic(settings, address, to, begin, console)


@log_app.command("trim", example="log trim sqlite:log.db --keep-seconds 86400")
def trim_topic(
    address: Topic,
    keep_records: KeepRecords = None,
    keep_seconds: KeepSeconds = None,
    keep_bytes: KeepBytes = None,
    from_now_on: Annotated[
        bool, typer.Option("--from-now-on", help="Also make these the topic's limits.")
    ] = False,
) -> None:
    """Delete old records beyond the given limits, or by default beyond the topic's own."""
    from iln_stream.cli import log
    from iln_stream.streams.sqlite import Retention

    retention = Retention(keep_records, keep_seconds, keep_bytes)
    log.trim_topic(address, retention, from_now_on, console)
