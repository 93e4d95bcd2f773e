"""Commands of `python -m benchmarks.endurance`."""

from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks import own_process
from benchmarks.endurance.cell import AT_ONCE, Cell, measured, snapshot_of
from benchmarks.endurance.plan import chosen
from benchmarks.endurance.plot import draw
from benchmarks.endurance.store import FOLDER, Store
from benchmarks.endurance.tables import all_tables
from benchmarks.endurance.verdict import verdict
from benchmarks.quality.documents import ROOT, with_tables

DOCUMENT = ROOT / "docs" / "endurance.md"
PICTURE = ROOT / "docs" / "images" / "endurance.png"

app = typer.Typer(no_args_is_help=True, add_completion=False, help="The endurance suite.")
console = Console(soft_wrap=True, highlight=False)

Learners = Annotated[
    list[str] | None, typer.Option("--learner", help="Only these: ids, or patterns as 'ridge*'.")
]
Streams = Annotated[list[str] | None, typer.Option("--stream", help="Only these: ids or patterns.")]
Events = Annotated[
    int | None, typer.Option(help="Number of events instead of the planned one; in thousands.")
]
Results = Annotated[Path, typer.Option(help="Folder of the stored records.")]
Again = Annotated[bool, typer.Option("--again", help="Also cells whose records are current.")]
Jobs = Annotated[int, typer.Option(min=1, help="Cells that run at once: one core each.")]


@app.command()
def run(
    learner: Learners = None,
    stream: Streams = None,
    events: Events = None,
    again: Again = False,
    jobs: Jobs = 2,
    results: Results = FOLDER,
) -> None:
    """Run the cells without a record of the present code, and store each record at once.

    An interrupted cell goes on from its last snapshot.
    """
    store = Store(results)
    cells = [c for c in _chosen(learner, stream, events) if again or not store.is_current(c)]
    if again:
        for cell in cells:
            snapshot_of(cell).unlink(missing_ok=True)
    pool = ThreadPoolExecutor(jobs)
    try:
        waiting = {pool.submit(own_process.call, measured, cell): cell for cell in cells}
        for done, finished in enumerate(as_completed(waiting), start=1):
            cell, record = waiting[finished], finished.result()
            store.put(cell, record)
            reasons = "; ".join(reason for reason in verdict(cell, record) if reason)
            console.print(
                f"{done} of {len(cells)} cells: {cell.learner} on {cell.stream}: "
                f"{reasons or 'passes'}"
            )
    finally:
        pool.shutdown(cancel_futures=True)


@app.command()
def check(
    learner: Learners = None,
    stream: Streams = None,
    events: Events = None,
    results: Results = FOLDER,
) -> None:
    """Fail if a cell has no record of the present code, or one that fails."""
    store = Store(results)
    bad = 0
    for cell in _chosen(learner, stream, events):
        reasons = [] if store.is_current(cell) else ["no record of the present code"]
        if cell in store:
            reasons += [reason for reason in verdict(cell, store[cell]) if reason]
        if reasons:
            bad += 1
            console.print(
                f"{cell.learner} on {cell.stream}, {cell.events:,} events: {'; '.join(reasons)}"
            )
    console.print(f"{bad} cells fail")
    if bad:
        raise typer.Exit(1)


@app.command()
def report(results: Results = FOLDER) -> None:
    """Write tables and picture of the stored records into the document."""
    store = Store(results)
    filled = all_tables(store)
    text = DOCUMENT.read_text("utf-8")
    DOCUMENT.write_text(with_tables(text, filled, "endurance"), encoding="utf-8")
    draw(store, PICTURE)
    console.print(filled["overview"].drawn())


def _chosen(learner: list[str] | None, stream: list[str] | None, events: int | None) -> list[Cell]:
    if events is not None and (events < AT_ONCE or events % AT_ONCE):
        raise typer.BadParameter(f"--events {events} must be a multiple of {AT_ONCE:,}")
    found = list(chosen(tuple(learner or ["*"]), tuple(stream or ["*"]), events))
    if not found:
        raise typer.BadParameter(f"no cell of {learner} on {stream}")
    return found
