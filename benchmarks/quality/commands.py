"""Commands of `python -m benchmarks.quality`."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from benchmarks.quality import cell as process
from benchmarks.quality.cell import Cell
from benchmarks.quality.documents import DOCUMENTS, PICTURE, SPEEDS, all_tables, with_tables
from benchmarks.quality.learners import CONTENDERS
from benchmarks.quality.plan import cells
from benchmarks.quality.plot import draw, draw_speeds
from benchmarks.quality.store import FOLDER, Store
from benchmarks.quality.streams import STREAMS
from benchmarks.quality.tables import learners, streams
from benchmarks.quality.tolerance import changes
from benchmarks.quality.unavailable import UnavailableError

app = typer.Typer(no_args_is_help=True, add_completion=False, help="The quality suite.")
console = Console()

Learners = Annotated[
    list[str] | None, typer.Option("--learner", help="Only these: ids, or patterns as 'river-*'.")
]
Streams = Annotated[
    list[str] | None, typer.Option("--stream", help="Only these: ids, groups, or patterns.")
]
Results = Annotated[Path, typer.Option(help="Folder of the stored results.")]
Again = Annotated[bool, typer.Option("--again", help="Also what is stored already.")]
TimeLimit = Annotated[float, typer.Option(help="Seconds after which a cell counts as failed.")]


@app.command()
def run(
    learner: Learners = None,
    stream: Streams = None,
    again: Again = False,
    time_limit: TimeLimit = 1800.0,
    results: Results = FOLDER,
) -> None:
    """Run the cells that are not stored, or lack a figure, and store each at once."""
    store = Store(results)
    wanted = [c for c in _chosen(learner, stream) if again or not store.has(c)]
    for cell, figures in _measured(wanted, time_limit):
        store.put(cell, figures)


@app.command()
def missing(learner: Learners = None, stream: Streams = None, results: Results = FOLDER) -> None:
    """Count the cells that `run` would run, by learner and group of streams."""
    store = Store(results)
    counts = Counter(
        (cell.learner, STREAMS[cell.stream].group)
        for cell in _chosen(learner, stream)
        if not store.has(cell)
    )
    for (id_, group), n in sorted(counts.items()):
        console.print(f"{id_} on {group}: {n}")


@app.command()
def check(
    learner: Learners = None,
    stream: Streams = None,
    time_limit: TimeLimit = 1800.0,
    results: Results = FOLDER,
) -> None:
    """Run our stored cells again, and fail if a figure leaves its tolerance.

    Better figures fail, too, as the stored ones must describe the code; see `run --again`.
    """
    store = Store(results)
    chosen = learner or [c.id for c in CONTENDERS.values() if c.family in ("ours", "paper")]
    wanted = [cell for cell in _chosen(chosen, stream) if cell in store]
    found, n_compared = [], 0
    for cell, figures in _measured(wanted, time_limit):
        n_compared += 1
        for change in changes(cell, store[cell], figures):
            word = "worse" if change.worse else "better"
            console.print(
                f"{word}: {cell.learner} on {cell.stream}, seed {cell.seed}: "
                f"{change.figure} {change.stored} -> {change.fresh}"
            )
            found.append(change)
    console.print(f"{n_compared} cells compared, {len(found)} figures changed")
    if found or not n_compared:
        raise typer.Exit(1)


@app.command()
def report() -> None:
    """Print the tables of the stored results, and update tables and picture in the documents."""
    store = Store()
    filled = all_tables(store)
    for name, one in filled.items():
        if name not in ("streams", "settings"):  # `list` prints these
            console.print(one.drawn())
    for document in DOCUMENTS:
        text = document.read_text("utf-8")
        document.write_text(with_tables(text, filled), encoding="utf-8")
    draw(store, PICTURE)
    draw_speeds(store, SPEEDS)


@app.command(name="list")
def list_() -> None:
    """Print the ids of all streams and learners."""
    console.print(streams().drawn(), learners().drawn())


def _chosen(learner: list[str] | None, stream: list[str] | None) -> list[Cell]:
    found = list(cells(tuple(learner or ["*"]), tuple(stream or ["*"])))
    if not found:
        raise typer.BadParameter(f"no cell of {learner} on {stream}: see `list`")
    return found


def _measured(wanted: list[Cell], time_limit: float) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Run cells one after another with progress; report once why others can't run."""
    reasons: set[str] = set()
    with Progress(
        TextColumn("{task.description:44}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    ) as progress:
        task = progress.add_task("", total=len(wanted))
        for cell in wanted:
            progress.update(task, description=f"{cell.learner} on {cell.stream}")
            try:
                figures = process.run(cell, time_limit)
            except UnavailableError as reason:
                if str(reason) not in reasons:
                    console.print(f"left out: {reason}")
                reasons.add(str(reason))
            else:
                if "failed" in figures:
                    console.print(f"{cell.learner} on {cell.stream}: {figures['failed']}")
                yield cell, figures
            progress.advance(task)
