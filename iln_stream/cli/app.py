"""The commands, and how their errors reach a person."""

import logging
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from iln_stream._version import __version__
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
    """Run the command line: what the user can mend is told in a sentence, without a traceback."""
    try:
        app()
    except ReaderGoneError:
        # What is still buffered has nowhere to go; at exit Python would complain of that.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)  # as a shell tells it of `yes | head`
    except IlnError as error:
        tell(error)
        sys.exit(2)
    except Exception:
        if not logs_json():
            raise
        log.critical("a fault in iln_stream ended it", exc_info=True)
        sys.exit(1)


def tell(error: IlnError) -> None:
    """Say what the user can mend, in a sentence."""
    if logs_json():
        log.error(str(error))
    else:
        console.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)


def with_settings(
    command: Callable[..., None], refused: Callable[[SettingsError], None] = lambda _: None
) -> Callable[..., None]:
    """Turn a function of `Settings` into a command that logs as they say."""

    def log_as_told(settings: Settings) -> None:
        set_up_logging(console, settings.log_level, settings.log_format)

    return flags.with_settings(command, log_as_told, refused)


def wait_if_told(error: SettingsError) -> None:
    """Wait where the settings that can't be used say that a refused run should."""
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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Online learning for streams with infinite-layer networks."""
    # Settings are not read yet, and their errors and warnings are to be told, too.
    wanted = os.environ.get(f"{ENV_PREFIX}LOG_FORMAT")
    set_up_logging(console, form="json" if wanted == "json" else "text")


@app.command()
@partial(with_settings, refused=wait_if_told)
def run(settings: Settings) -> None:
    """Learn a stream: predict, score, learn, one event at a time, with /metrics beside it."""
    from iln_stream.cli.run import run_service

    run_service(settings, console)


@app.command()
@with_settings
def rebuild(
    settings: Settings,
    until: Annotated[
        str | None,
        typer.Option(
            help="Learn only what comes before: an offset, or the first record at or after a time "
            "(RFC 3339). A run goes on from there."
        ),
    ] = None,
    skip: Annotated[
        str | None,
        typer.Option(
            help="Records to leave out, PARTITION:OFFSET or PARTITION:FIRST-LAST, comma-separated."
        ),
    ] = None,
) -> None:
    """Learn again, from the log and with these settings, what the snapshots had come to."""
    from iln_stream.cli.rebuild import learn_again

    learn_again(settings, until, skip, console)


@app.command()
@with_settings
def predict(
    settings: Settings,
    path: Annotated[Path, typer.Argument(help="A snapshot, or the folder of one learner's.")],
) -> None:
    """Predict a stream up to its end with a snapshot's learner, which learns nothing.

    Unless set, `--source` and `--predictions` are `-`, and a topic is read from its beginning.
    """
    from iln_stream.cli.predict import predict_events

    predict_events(path, settings, console)


@app.command()
def inspect(
    path: Annotated[Path, typer.Argument(help="A snapshot, or a folder with snapshots in it.")],
) -> None:
    """Show what a snapshot holds; of a folder, the newest one of each learner."""
    from iln_stream.cli.inspect import show_snapshots

    show_snapshots(path, Console())


@app.command()
def export(
    path: Annotated[Path, typer.Argument(help="A snapshot, or the folder of one learner's.")],
    out: Annotated[Path, typer.Argument(help="A file to write, `.npz` or `.onnx`.")],
    size: Annotated[
        int | None, typer.Option(min=1, help="Hidden units; a pool has its own number.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the hidden units' draws.")] = 0,
    snapshot_pickle: Annotated[
        bool, typer.Option("--snapshot-pickle", help="Read a pickle, which runs code.")
    ] = False,
) -> None:
    """Write what a snapshot's learner has learned as a network that needs none of the rest."""
    from iln_stream.cli.export import export_network

    export_network(path, out, size, seed, snapshot_pickle, console)


dead_letters = typer.Typer(
    help="What could not be learned, and why.", no_args_is_help=True, rich_markup_mode="markdown"
)
app.add_typer(dead_letters, name="dead-letters")

Reason = Annotated[str, typer.Option(help="Only letters whose reason holds these words.")]


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
        bool, typer.Option("--again", help="Replay also letters that were replayed before.")
    ] = False,
) -> None:
    """Append what is in the dead letters to the topic again, each letter once."""
    from iln_stream.cli.dead_letters import replay_letters

    replay_letters(settings, reason, again, console)


@app.command()
@with_settings
def replay(
    settings: Settings,
    source: Annotated[
        str,
        typer.Argument(help="`river:NAME`, `synthetic:NAME`, a `.csv` or a `.jsonl` file, or `-`."),
    ],
    rate: Annotated[
        float | None, typer.Option(min=0.001, help="Events a second; as fast as it goes if unsaid.")
    ] = None,
) -> None:
    """Publish a stream to the Kafka topic that `--topic` names, at a given rate."""
    from iln_stream.cli.replay import publish

    publish(settings, rate, console)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("out"),
    keep: Annotated[
        bool, typer.Option("--keep", help="Serve /metrics on until interrupted.")
    ] = False,
    metrics_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of /metrics; 0 takes a free one.")
    ] = 0,
) -> None:
    """Learn a real and a drifting stream without any broker, and show how it went."""
    from iln_stream.demo import run_demo

    run_demo(out, keep, metrics_port, Console())


@app.command()
@with_settings
def doctor(settings: Settings) -> None:
    """Say what this machine has; end with 1 if something is missing that the settings need."""
    from iln_stream.cli.doctor import examine

    raise typer.Exit(examine(settings, Console()))
