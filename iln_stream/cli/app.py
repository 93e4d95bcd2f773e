"""Declares the commands, and reports their errors."""

import logging
import os
import signal
import sys
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape

from iln_stream._version import __version__
from iln_stream.api import ApiSettings
from iln_stream.cli import flags
from iln_stream.cli.logs import logs_json, set_up_logging
from iln_stream.errors import IlnError, ReaderGoneError
from iln_stream.service import ENV_PREFIX, Settings, SettingsError

app = typer.Typer(
    name="iln-stream",
    help="Online learning for streams with infinite-layer networks.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)
console = Console(stderr=True)
log = logging.getLogger(__name__)


def main() -> None:
    """Run the command line; report an error that the user can fix without a traceback."""
    try:
        app()
    except ReaderGoneError:
        # Discard buffered output, or Python would report a broken pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)  # the exit code of `yes` in `yes | head`
    except IlnError as error:
        report_error(error)
        sys.exit(2)
    except Exception:
        if not logs_json():
            raise
        log.critical("internal error", exc_info=True)
        sys.exit(1)


def report_error(error: IlnError) -> None:
    """Log the error as JSON, or print it."""
    if logs_json():
        log.error(str(error))
    else:
        console.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)


def with_settings(
    command: Callable[..., None],
    refused: Callable[[SettingsError], None] = lambda _: None,
    kind: type[Settings | ApiSettings] = Settings,
    only: Collection[str] | None = None,
) -> Callable[..., None]:
    """Turn a function of settings into a command that logs as configured."""

    def configure_log(settings: Settings | ApiSettings) -> None:
        set_up_logging(console, settings.log_level, settings.log_format)

    return flags.with_settings(command, configure_log, refused, kind, only)


def wait_if_configured(error: SettingsError) -> None:
    """Wait to be stopped if `when_refused` is `wait`, though other settings are invalid."""
    from iln_stream.cli.run import wait_to_be_stopped

    if error.when_refused == "wait":
        wait_to_be_stopped(error)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Online learning for streams with infinite-layer networks."""
    # Errors and warnings about settings are logged, too, before the settings are known.
    wanted = os.environ.get(f"{ENV_PREFIX}LOG_FORMAT")
    set_up_logging(console, form="json" if wanted == "json" else "text")


@app.command()
@partial(with_settings, refused=wait_if_configured)
def run(settings: Settings) -> None:
    """Learn a stream: predict, score and learn one event at a time; serve /metrics."""
    from iln_stream.cli.run import run_service

    run_service(settings, console)


@app.command()
@partial(with_settings, kind=ApiSettings)
def serve(settings: ApiSettings) -> None:
    """Serve predictions of published models over HTTP, and append events to a log."""
    from iln_stream.cli.serve import serve_api

    serve_api(settings)


@app.command()
@with_settings
def rebuild(
    settings: Settings,
    until: Annotated[
        str | None,
        typer.Option(
            help="Learn only records before this offset or time (RFC 3339). The next run resumes "
            "there."
        ),
    ] = None,
    skip: Annotated[
        str | None,
        typer.Option(
            help="Records to skip: PARTITION:OFFSET or PARTITION:FIRST-LAST, comma-separated."
        ),
    ] = None,
) -> None:
    """Learn the log again with these settings, up to the position of the snapshots."""
    from iln_stream.cli.rebuild import rebuild_learners

    rebuild_learners(settings, until, skip, console)


@app.command()
@with_settings
def predict(
    settings: Settings,
    path: Annotated[
        Path, typer.Argument(help="A snapshot, or the folder of one learner's snapshots.")
    ],
) -> None:
    """Predict a stream up to its end with a snapshot's learner, without learning.

    By default, `--source` and `--predictions` are `-`, and a topic is read from its beginning.
    """
    from iln_stream.cli.predict import predict_events

    predict_events(path, settings, console)


@app.command()
def inspect(
    path: Annotated[Path, typer.Argument(help="A snapshot, or a folder that contains snapshots.")],
) -> None:
    """Show the contents of a snapshot; for a folder, of the newest one of each learner."""
    from iln_stream.cli.inspect import show_snapshots

    show_snapshots(path, Console())


@app.command("inspect-source")
@with_settings
def inspect_source(
    settings: Settings,
    source: Annotated[str, typer.Argument(help="`kafka:TOPIC`, `sqlite:PATH`, a file, or `-`.")],
    records: Annotated[int, typer.Option(min=2, help="Number of records to read.")] = 1000,
) -> None:
    """Show the fields of a source's first records, and the settings that would learn them."""
    from iln_stream.cli.inspect_source import inspect_source as inspected

    inspected(settings, records, console, Console())


@app.command()
def export(
    path: Annotated[
        Path, typer.Argument(help="A snapshot, or the folder of one learner's snapshots.")
    ],
    out: Annotated[Path, typer.Argument(help="File to write: `.npz` or `.onnx`.")],
    size: Annotated[
        int | None, typer.Option(min=1, help="Number of hidden units; a pool has its own.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the hidden units.")] = 0,
    snapshot_pickle: Annotated[
        bool, typer.Option("--snapshot-pickle", help="Load a pickle, which runs code.")
    ] = False,
) -> None:
    """Export a snapshot's learner as a finite network, which runs without iln_stream."""
    from iln_stream.cli.export import export_network

    export_network(path, out, size, seed, snapshot_pickle, console)


dead_letters = typer.Typer(
    help="Records that could not be learned, with the reason.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
app.add_typer(dead_letters, name="dead-letters")

Reason = Annotated[str, typer.Option(help="Only letters whose reason contains this text.")]


@dead_letters.command("list")
@with_settings
def list_dead_letters(settings: Settings, reason: Reason = "") -> None:
    """Show the dead letters of a run with these settings."""
    from iln_stream.cli.dead_letters import list_letters

    list_letters(settings, reason, Console())


@dead_letters.command("replay")
@with_settings
def replay_dead_letters(
    settings: Settings,
    reason: Reason = "",
    again: Annotated[
        bool, typer.Option("--again", help="Also replay letters that were replayed before.")
    ] = False,
) -> None:
    """Append the records of the dead letters to the topic again, each once."""
    from iln_stream.cli.dead_letters import replay_letters

    replay_letters(settings, reason, again, console)


logs = typer.Typer(
    help="Embedded logs: topics in an SQLite file, `sqlite:PATH` or `sqlite:PATH#TOPIC`.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
app.add_typer(logs, name="log")

Topic = Annotated[str, typer.Argument(help="`sqlite:PATH` or `sqlite:PATH#TOPIC`.")]
KeepRecords = Annotated[
    int | None, typer.Option(min=0, help="Records to keep in each partition; default: all.")
]
KeepSeconds = Annotated[
    float | None, typer.Option(min=0, help="Age up to which records are kept, seconds.")
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

CONNECTION = ("bootstrap", "kafka_options", "kafka_client", "broker_wait")
LOGGING = ("log_level", "log_format")


@logs.command("list")
def list_topics(
    address: Annotated[str, typer.Argument(help="`sqlite:PATH`.")] = "sqlite:log.db",
) -> None:
    """Show the topics of a file, with offsets, sizes, retention, and how far they were read."""
    from iln_stream.cli import log

    log.list_topics(address, Console())


@logs.command("create")
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


@logs.command("tail")
def tail_topic(
    address: Topic,
    start: From = None,
    lines: Annotated[
        int, typer.Option("--lines", "-n", min=0, help="Last records of each partition.")
    ] = 10,
    partition: Annotated[int | None, typer.Option(min=0, help="Only this partition.")] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for new records, until interrupted.")
    ] = False,
    positions: Annotated[
        bool, typer.Option("--positions", help="Write PARTITION:OFFSET, time and key first.")
    ] = False,
) -> None:
    """Write the last records of a topic, or those from `--from`, to standard output."""
    from iln_stream.cli import log

    log.tail(address, start, lines, partition, follow, positions)


@logs.command("import")
@partial(with_settings, only=(*CONNECTION, "start", "target", "limit", "seed", *LOGGING))
def import_stream(
    settings: Settings,
    source: Annotated[
        str,
        typer.Argument(
            help="`kafka:TOPIC`, `sqlite:PATH#TOPIC`, a `.jsonl` or `.csv` file, `-`, `river:NAME` "
            "or `synthetic:NAME`."
        ),
    ],
    address: Topic,
    resume: Annotated[
        bool, typer.Option("--continue", help="Skip what an interrupted import has imported.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Import everything, even if it was imported before.")
    ] = False,
) -> None:
    """Copy a stream up to its end into an embedded log: order, keys and times.

    A topic that does not exist is created with the source's number of partitions. A log is imported
    once: the same command imports the records that came later.
    """
    from iln_stream.cli import log_copy

    if resume and again:
        raise IlnError("--continue and --again: give one of them")
    how: Literal["continue", "again"] | None = "continue" if resume else "again" if again else None
    log_copy.import_stream(settings, address, how, console)


@logs.command("export")
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
    from iln_stream.cli import log_copy

    log_copy.export_topic(settings, address, to, begin, console)


@logs.command("trim")
def trim_topic(
    address: Topic,
    keep_records: KeepRecords = None,
    keep_seconds: KeepSeconds = None,
    keep_bytes: KeepBytes = None,
    from_now_on: Annotated[
        bool, typer.Option("--from-now-on", help="Also set this as what the topic keeps.")
    ] = False,
) -> None:
    """Delete old records: all but those to keep, by default as the topic was created."""
    from iln_stream.cli import log
    from iln_stream.streams.sqlite import Retention

    retention = Retention(keep_records, keep_seconds, keep_bytes)
    log.trim_topic(address, retention, from_now_on, console)


@app.command()
@with_settings
def replay(
    settings: Settings,
    source: Annotated[
        str,
        typer.Argument(help="`river:NAME`, `synthetic:NAME`, a `.csv` or a `.jsonl` file, or `-`."),
    ],
    rate: Annotated[
        float | None,
        typer.Option(min=0.001, help="Events per second; default: no limit."),
    ] = None,
) -> None:
    """Publish a stream to a Kafka topic (`--topic`), at a given rate."""
    from iln_stream.cli.replay import publish

    publish(settings, rate, console)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("out"),
    keep: Annotated[bool, typer.Option("--keep", help="Serve /metrics until interrupted.")] = False,
    metrics_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of /metrics; 0 picks a free one.")
    ] = 0,
) -> None:
    """Learn a real and a drifting stream without a broker, and show the results."""
    from iln_stream.demo import run_demo

    run_demo(out, keep, metrics_port, Console())


@app.command()
def warm(
    profile: Annotated[
        list[str] | None,
        typer.Option(help="Only for this learner, such as `accurate`; may be repeated."),
    ] = None,
) -> None:
    """Compile the learners' loops now, so that their first use does not wait for it."""
    from iln_stream.cli.warm import warm_cache

    warm_cache(profile or (), console)


@app.command()
@with_settings
def doctor(settings: Settings) -> None:
    """Check this machine; exit with 1 if a requirement of the settings is missing."""
    from iln_stream.cli.doctor import examine

    raise typer.Exit(examine(settings, Console()))
