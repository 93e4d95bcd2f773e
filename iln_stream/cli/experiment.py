"""`iln-stream experiment`: runs an experiment on the paper's claims, or lists them."""

import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from iln_stream.cli.logs import report
from iln_stream.errors import IlnError
from iln_stream.research.experiments.catalogue import EXPERIMENTS, run_experiment
from iln_stream.research.experiments.result import save_result


def list_experiments(console: Console) -> None:
    """Print the names of the experiments and what each measures."""
    table = Table("experiment", "measures")
    for name, experiment in EXPERIMENTS.items():
        table.add_row(name, experiment.about)
    console.print(table)


def run(name: str, full: bool, seeds: int | None, out: Path, console: Console) -> None:
    """Run an experiment with progress; save and report its result.

    Raises
    ------
    IlnError
        When the name is unknown, a package is missing, or the folder can't be written to.

    """
    begun = time.monotonic()

    def progress(part: str) -> None:
        report(console, f"{time.monotonic() - begun:6.1f} s  {part}")

    try:
        result = run_experiment(name, full, seeds, progress)
        files = save_result(result, out)
    except ModuleNotFoundError as error:
        raise IlnError(
            f"experiment {name}: {error}: install the extra, pip install 'iln-stream[experiments]'"
        ) from error
    except OSError as error:
        raise IlnError(f"--out {out}: {error}") from error
    for note in result.sentences():
        report(console, f"- {note}")
    report(console, f"- the claim, and the outcome of a full run: docs/experiments.md#{name}")
    report(console, f"written: {', '.join(map(str, files))}")
