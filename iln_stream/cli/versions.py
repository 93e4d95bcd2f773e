"""`iln-stream versions`: lists published versions, and pins one."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

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
    """Print the versions, those of one model after those of another, ascending."""
    table = Table("model", "version", "published", "learned", "positions", "settings, code", "size")
    for model, versions in models.items():
        pinned = versions.pinned()
        for file, header in versions.headers():
            size, is_newest = file.path.stat().st_size, file is versions.newest
            if isinstance(header, SnapshotError):
                table.add_row(model, "damaged", str(file.path), str(header), "", "", f"{size:,}")
                continue
            predicts = header.version == pinned or (pinned is None and is_newest)
            if as_json:
                fields: dict[str, Any] = asdict(header) | {
                    "model": model, "positions": as_texts(header.positions), "bytes": size,
                    "predicts": predicts, "pinned": header.version == pinned,
                }  # fmt: skip
                print(json.dumps(fields))
                continue
            state = {(True, True): " pinned", (True, False): " predicts"}
            when = datetime.fromtimestamp(header.published_at, UTC)
            made = [header.configuration[:16], f"release {header.release or '0.2.0'}"]
            table.add_row(
                model,
                f"{header.version}{state.get((predicts, pinned is not None), '')}",
                f"{when:%Y-%m-%d %H:%M:%SZ}",
                f"{header.n_learned:,} by {header.learner}",
                "\n".join(f"{p} {offset}" for p, offset in header.positions.items()),
                "\n".join((*made, *(f"{name} {sha}" for name, sha in header.code.items()))),
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
            versions.pin(None)
            report(console, f"{model}: the newest version predicts")
        return
    if len(models) > 1:
        raise IlnError(f"--pin: name one of the models, with --model: {', '.join(models)}")
    ((model, versions),) = models.items()
    if not (version == NEWEST or version.isdecimal()):
        raise IlnError(f"--pin {version}: give the number of a version, or {NEWEST}")
    number = None if version == NEWEST else int(version)
    newest = versions.add(number)
    if number is None and newest is None:
        raise IlnError(f"--pin: {versions.newest.path} can't be read: give a version that is kept")
    versions.pin(number := newest if number is None else number)
    report(console, f"{model}: version {number} predicts until `--unpin`; learning goes on")
