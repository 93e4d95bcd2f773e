"""Declares the commands, and reports their errors."""

import copy
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape
from typer.main import get_command_name

from iln_stream._version import __version__
from iln_stream.cli.command import Commands, console, output, with_settings
from iln_stream.cli.log_app import log_app
from iln_stream.cli.logs import logs_json, set_up_logging
from iln_stream.errors import IlnError, ReaderGoneError
from iln_stream.kernels.cpu import check
from iln_stream.service import ENV_PREFIX, SETTING_GROUPS, Settings
from iln_stream.serving.settings import ApiSettings, PageSettings

app = Commands(
    name="iln-stream",
    help="Online learning for streams with infinite-layer networks.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)
app.add_typer(log_app, name="log", rich_help_panel="Prepare")
log = logging.getLogger(__name__)


def main() -> None:
    """Run the command line; report an error that the user can fix without a traceback."""
    try:
        _only(sys.argv[1:2])()
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


def _only(names: list[str]) -> typer.Typer:
    """Return the command line with the command that is named first, or all if it is none of ours.

    Building the flags of all takes a tenth of a second.
    """
    own = copy.copy(app)
    own.registered_commands = [
        each
        for each in app.registered_commands
        if each.callback and [get_command_name(each.name or each.callback.__name__)] == names
    ]
    own.registered_groups = [each for each in app.registered_groups if [each.name] == names]
    return own if own.registered_commands or own.registered_groups else app


def report_error(error: IlnError) -> None:
    """Log the error as JSON, or print it."""
    if logs_json():
        log.error(str(error))
    else:
        console.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the release.")
    ] = False,
) -> None:
    """Online learning for streams with infinite-layer networks."""
    # Errors and warnings about settings are logged, too, before the settings are known.
    wanted = os.environ.get(f"{ENV_PREFIX}LOG_FORMAT")
    set_up_logging(console, form="json" if wanted == "json" else "text")
    check()


AcceptLoss = Annotated[
    bool,
    typer.Option(
        "--accept-loss",
        help="Continue even if retention deleted records before they were learned.",
    ),
]

Saved = Annotated[
    Path, typer.Argument(help="A snapshot, or the folder of one learner's snapshots.")
]

_EXAMPLES = """Examples:

- `iln-stream run --source orders.csv --target price --page-port 8090`
- `iln-stream run --source kafka:orders --start latest --config orders.toml`
"""


@app.command(rich_help_panel="Run", epilog=_EXAMPLES)
@partial(with_settings, shown=SETTING_GROUPS["Basic"])
def run(settings: Settings, accept_loss: AcceptLoss = False) -> None:
    """Learn a stream: predict, score and learn one event at a time; serve /metrics."""
    from iln_stream.cli.run import run_service

    run_service(settings, console, accept_loss=accept_loss)


@contextmanager
def _api_extra_for(command: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "iln_stream":
            raise
        raise IlnError(
            f"{command}: {error.name} is not installed: pip install 'iln-stream[api]'"
        ) from None


@app.command(rich_help_panel="Run", example="serve --models models --events sqlite:log.db")
@partial(with_settings, kind=ApiSettings)
def serve(settings: ApiSettings) -> None:
    """Serve predictions of published versions over HTTP, and append events to a log."""
    with _api_extra_for("serve"):
        from iln_stream.serving.server import ApiServer
    ApiServer(settings).run()


@app.command(rich_help_panel="Run", example="page --learner http://127.0.0.1:9108")
@partial(with_settings, kind=PageSettings)
def page(settings: PageSettings) -> None:
    """Show a running learner in browsers: errors, predictions, experts, drift, latest events."""
    with _api_extra_for("page"):
        from iln_stream.serving.page_server import PageServer
    PageServer(settings).run()


@app.command("inspect-source", rich_help_panel="Prepare", example="inspect-source orders.csv")
@with_settings
def inspect_source(
    settings: Settings,
    source: Annotated[str, typer.Argument(help="`kafka:TOPIC`, `sqlite:PATH`, a file, or `-`.")],
    records: Annotated[int, typer.Option(min=2, help="Number of records to read.")] = 1000,
) -> None:
    """Show the fields of a source's first records, and the settings that would learn them."""
    from iln_stream.cli.inspect_source import inspect_source as inspected

    inspected(settings, records, console, output())


@app.command("warm-start", rich_help_panel="Prepare", example="warm-start 2025.csv 2026.csv")
@with_settings
def warm_start(
    settings: Settings,
    warm_start: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="History files in order of time: `.csv`, `.jsonl` (or `.gz`), `.parquet`.",
        ),
    ],
) -> None:
    """Learn history files into a first snapshot, from which `run` continues with the log."""
    from iln_stream.cli.run import warm_start_learners

    warm_start_learners(settings, console)


@app.command(rich_help_panel="Prepare", example="doctor --config orders.toml")
@with_settings
def doctor(
    settings: Settings,
    context: typer.Context,
    command: Annotated[
        Literal["run", "serve"], typer.Argument(help="The command; `serve` needs the table [api].")
    ] = "run",
) -> None:
    """Check what a command needs with these settings; exit with 1 if it is missing."""
    from iln_stream.cli.doctor import examine

    api = ApiSettings.load(context.params["config"]) if command == "serve" else None
    raise typer.Exit(examine(settings, output(), api))


@app.command(rich_help_panel="Prepare")
def warm(
    profile: Annotated[
        list[str] | None,
        typer.Option(help="Only for this learner, such as `accurate`; may be repeated."),
    ] = None,
) -> None:
    """Compile the learners' loops in advance, so that their first use does not wait."""
    from iln_stream.cli.warm import warm_cache

    warm_cache(profile or (), console)


@app.command(rich_help_panel="Look", example="inspect state")
def inspect(
    path: Annotated[Path, typer.Argument(help="A snapshot, or a folder that contains snapshots.")],
    key: Annotated[
        str | None, typer.Option(help="Show the model of this key, for a learner with `by_key`.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a line of JSON for each snapshot.")
    ] = False,
) -> None:
    """Show the contents of a snapshot, or of the newest snapshot of each learner in a folder."""
    from iln_stream.cli.inspect import show_key, show_snapshots

    if key is None:
        show_snapshots(path, output(), as_json=as_json)
    elif as_json:
        raise IlnError("--json: not with --key, which prints a table")
    else:
        show_key(path, key, output())


@app.command(rich_help_panel="Change", example="versions models --pin 12")
def versions(
    folder: Annotated[Path, typer.Argument(help="Folder of the setting `publish`.")] = Path(
        "models"
    ),
    model: Annotated[str | None, typer.Option(help="Only this model.")] = None,
    pin: Annotated[
        str | None, typer.Option(help="Let this version, or `newest`, predict until `--unpin`.")
    ] = None,
    unpin: Annotated[
        bool, typer.Option("--unpin", help="Let the newest version predict again.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a line of JSON for each version.")
    ] = False,
) -> None:
    """List the published versions that are kept, and what each has learned; pin one of them."""
    from iln_stream.cli.versions import models_in, pin_version, show_versions

    models = models_in(folder, model)
    if pin is None and not unpin:
        show_versions(models, output(), as_json=as_json)
    else:
        pin_version(models, None if unpin else pin, console)


@app.command(rich_help_panel="Look", example="predict state --source a.csv --predictions b.jsonl")
@with_settings
def predict(settings: Settings, path: Saved) -> None:
    """Predict a stream up to its end with a snapshot's learner, without learning.

    By default, `--source` and `--predictions` are `-`, and a topic is read from its beginning.
    """
    from iln_stream.cli.run import predict_events

    predict_events(path, settings, console)


@app.command(rich_help_panel="Look", example="export state model.onnx")
def export(
    path: Saved,
    out: Annotated[Path, typer.Argument(help="File to write: `.npz` or `.onnx`.")],
    size: Annotated[
        int | None, typer.Option(min=1, help="Number of hidden units; only for ShrinkingGradient.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the hidden units.")] = 0,
    snapshot_pickle: Annotated[
        bool, typer.Option("--snapshot-pickle", help="Load a pickle, which runs code.")
    ] = False,
) -> None:
    """Export a snapshot's learner as a file that predicts without learning, with a model card."""
    from iln_stream.cli.export import export_model

    export_model(path, out, size, seed, snapshot_pickle, console)


@app.command(rich_help_panel="Look", example="plot predictions.jsonl --last 168 --out week.png")
def plot(
    path: Annotated[
        Path,
        typer.Argument(help="Predictions that a run wrote: a file, or `-` for standard input."),
    ],
    out: Annotated[Path, typer.Option(help="Picture to write: `.png`, `.svg` or `.pdf`.")] = Path(
        "predictions.png"
    ),
    last: Annotated[int, typer.Option(min=1, help="Predictions to draw, the latest ones.")] = 256,
    window: Annotated[
        int, typer.Option(min=1, help="Labels over which the latest error is a mean.")
    ] = 100,
    level: Annotated[
        float | None, typer.Option(help="Intervals to draw, such as 0.9; default: the widest.")
    ] = None,
    against: Annotated[
        Literal["event", "time"], typer.Option(help="Horizontal axis: `event` or `time`.")
    ] = "event",
    horizon: Annotated[
        str | None, typer.Option(help="Of several forecasts, which one, such as `24h`.")
    ] = None,
    target: Annotated[str, typer.Option(help="Name of the target, for the axes.")] = "y",
    unit: Annotated[str, typer.Option(help="Unit of the target, for the axes.")] = "",
) -> None:
    """Draw predictions with intervals and labels over time, and their errors."""
    from iln_stream.cli.export import plot_file

    plot_file(
        path, out, console, last=last, window=window, level=level, against=against,
        horizon=horizon, target=target, unit=unit,
    )  # fmt: skip


@app.command(rich_help_panel="Change", example="rebuild --config orders.toml --skip 0:43")
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
    forget: Annotated[
        list[str] | None,
        typer.Option(
            "--forget",
            metavar="[FIELD=VALUE]",
            help="Forget records with this value for good (`@key=VALUE`: by their key, "
            "`@record=events:0:43`: by place); may be repeated. Alone: replace "
            "the model even if the log no longer holds all that it learned.",
        ),
    ] = None,
    accept_loss: AcceptLoss = False,
) -> None:
    """Learn the log again with these settings, up to the position of the snapshots."""
    from iln_stream.cli.run import rebuild_learners

    rebuild_learners(settings, until, skip, console, forget or (), accept_loss=accept_loss)


@app.command(rich_help_panel="Change", example="promote linear --config orders.toml")
@with_settings
def promote(
    settings: Settings,
    contender: Annotated[
        str, typer.Argument(help="Name of a challenger, or of the former champion.")
    ],
) -> None:
    """Make a challenger the champion, from this point of the log on.

    This appends a record to the source, which its other consumers read, too.
    """
    from iln_stream.cli.run import promote_contender

    promote_contender(settings, contender, console)


dead_letters = Commands(
    help="Records that could not be learned, with the reason.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
app.add_typer(dead_letters, name="dead-letters", rich_help_panel="Change")

Reason = Annotated[str, typer.Option(help="Only letters whose reason contains this text.")]


@dead_letters.command("list", example="dead-letters list --config orders.toml")
@with_settings
def list_dead_letters(
    settings: Settings,
    reason: Reason = "",
    as_json: Annotated[bool, typer.Option("--json", help="Write a line of JSON for each.")] = False,
) -> None:
    """Show the dead letters of a run with these settings."""
    from iln_stream.cli.dead_letters import list_letters

    list_letters(settings, reason, output(), as_json=as_json)


@dead_letters.command("replay", example="dead-letters replay --config orders.toml")
@with_settings
def replay_dead_letters(
    settings: Settings,
    reason: Reason = "",
    failed_again: Annotated[
        bool,
        typer.Option(
            "--failed-again", help="Also replay records that failed again after the last replay."
        ),
    ] = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Also replay all records that were replayed before, or that a rebuild read.",
        ),
    ] = False,
) -> None:
    """Append the records of the dead letters to the source again, each record once.

    Other consumers of the source read them again, too. A record that still can't be learned becomes
    a new dead letter, and is only replayed again with `--failed-again`. Records that a rebuild has
    read are not sent; give the settings of the run, which name the folder of snapshots.
    """
    from iln_stream.cli.dead_letters import replay_letters

    replay_letters(settings, reason, failed_again, again, console)


@app.command(rich_help_panel="Learn about")
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("out"),
    keep: Annotated[
        bool, typer.Option("--keep", help="Afterwards, show a learner at work on a page.")
    ] = False,
    metrics_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of /metrics; 0 picks a free one.")
    ] = 0,
    page_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the page; 0 picks a free one.")
    ] = 0,
) -> None:
    """Learn a real and a drifting stream without a broker, and show the results."""
    from iln_stream.cli.demo import run_demo

    run_demo(out, keep, metrics_port, output(), page_port)


@app.command(rich_help_panel="Learn about")
def experiment(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Default: list the experiments.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Run for minutes, for figures to cite; default: seconds.")
    ] = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="Number of repetitions.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the JSON file and the plot.")] = Path("out"),
) -> None:
    """Confirm or refute a claim of the paper or of its sources."""
    from iln_stream.cli.experiment import list_experiments, run

    if name is None:
        list_experiments(output())
    else:
        run(name, full, seeds, out, console)


@app.command(rich_help_panel="Learn about", example="replay orders.jsonl --rate 100")
@partial(with_settings, shown=("topic", "bootstrap"))
def replay(
    settings: Settings,
    source: Annotated[
        str,
        typer.Argument(
            help="`river:NAME`, `synthetic:NAME`, a `.csv`, `.parquet` or `.jsonl` file, or `-`."
        ),
    ],
    rate: Annotated[
        float | None, typer.Option(min=0.001, help="Events per second; default: no limit.")
    ] = None,
) -> None:
    """Publish a stream to a Kafka topic (`--topic`), at a given rate."""
    from iln_stream.cli.run import publish

    publish(settings, rate, console)
