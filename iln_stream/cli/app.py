"""The commands, and how their errors reach a person."""

import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from iln_stream._version import __version__
from iln_stream.cli.flags import with_settings
from iln_stream.cli.logs import set_up_logging
from iln_stream.errors import IlnError, ReaderGoneError
from iln_stream.service import Settings

app = typer.Typer(
    name="iln-stream",
    help="Online learning for streams with infinite-layer networks.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)
console = Console(stderr=True)


def main() -> None:
    """Run the command line: what the user can mend is told in a sentence, without a traceback."""
    try:
        app()
    except ReaderGoneError:
        # What is still buffered has nowhere to go; at exit Python would complain of that.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)  # as a shell tells it of `yes | head`
    except IlnError as error:
        console.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(2)


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
    set_up_logging(console)


@app.command()
@with_settings
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
def doctor(
    bootstrap: Annotated[
        str, typer.Option(envvar="ILN_BOOTSTRAP", help="Kafka brokers, host:port.")
    ] = "127.0.0.1:9092",
) -> None:
    """Say what this machine has, and what is missing for what."""
    from iln_stream.cli.doctor import examine

    raise typer.Exit(examine(Settings.load(bootstrap=bootstrap), Console()))
