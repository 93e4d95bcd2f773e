"""`iln-stream versions`: lists published versions, and pins one."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from iln_stream.cli.logs import report
from iln_stream.errors import IlnError, SnapshotError
from iln_stream.snapshots.versions import Versions
from iln_stream.streams import as_texts

NEWEST = "newest"


def models_in(folder: Path, model: str | None) -> dict[str, Versions]:
    """Return the versions of the models in a folder, or of one of them, by name.

    Raises
    ------
    IlnError
        When there are none.

    """
    found = {file.stem: file for kind in ("model", "versions") for file in folder.glob(f"*.{kind}")}
    names = sorted(found) if model is None else sorted({model} & found.keys())
    if not names:
        known = ", ".join(sorted(found)) or "none"
        raise IlnError(
            f"no {model or 'model'} is published in {folder}, which has {known}: name the folder "
            "in the run's setting publish"
        )
    return {name: Versions(folder / f"{name}.model") for name in names}


def show_versions(models: dict[str, Versions], console: Console, *, as_json: bool) -> None:
    """Print the versions of each model, ascending, with what each has learned."""
    for model, versions in models.items():
        pinned = versions.pinned()
        table = Table("version", "published", "learned", "positions", "made by", "bytes")
        table.title, table.title_justify = model, "left"
        for file, header in versions.headers():
            size = file.path.stat().st_size
            if isinstance(header, SnapshotError):
                table.add_row("damaged", file.path.name, str(header))
                continue
            is_pinned = header.version == pinned
            predicts = is_pinned or (pinned is None and file is versions.newest)
            if as_json:
                fields = asdict(header) | {"positions": as_texts(header.positions)}
                more = {"bytes": size, "predicts": predicts, "pinned": is_pinned}
                print(json.dumps({"model": model, **fields, **more}))
                continue
            made_by = {"settings": header.configuration, **header.code}
            table.add_row(
                f"{header.version}{' pinned' * is_pinned or ' predicts' * predicts}",
                f"{datetime.fromtimestamp(header.published_at, UTC):%Y-%m-%d %H:%M:%SZ}",
                f"{header.n_learned:,} by {header.learner}",
                "\n".join(f"{p} {offset}" for p, offset in header.positions.items()),
                "\n".join([f"release {header.release}", *map(" ".join, made_by.items())]),
                f"{size:,}",
            )
        if not as_json:
            console.print(table)


def pin_version(models: dict[str, Versions], version: str | None, console: Console) -> None:
    """Pin a version of the only model; None: lift the pins of all these models.

    Raises
    ------
    IlnError
        When there are several models to pin a version of, or there is no such version.

    """
    if version is None:
        for model, versions in models.items():
            versions.unpin()
            report(console, f"{model}: the newest version predicts")
        return
    if len(models) > 1:
        raise IlnError(f"--pin: name one of the models, with --model: {', '.join(models)}")
    ((model, versions),) = models.items()
    if not (version == NEWEST or version.isdecimal()):
        raise IlnError(f"--pin {version}: give the number of a version, or {NEWEST}")
    number = versions.pin(None if version == NEWEST else int(version))
    report(console, f"{model}: version {number} predicts until `--unpin`; learning goes on")
