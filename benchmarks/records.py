"""Stores records of cells: one JSON file per learner and one line per cell, for readable diffs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any, Generic, NamedTuple, TypeVar

C = TypeVar("C", bound=NamedTuple)


class Records(Mapping[C, dict[str, Any]], Generic[C]):
    """The records in a folder, read once and written cell by cell.

    Parameters
    ----------
    folder
        Where `<learner>.json` lie.
    cell_type
        The class of the cells, one of whose fields is `learner`.

    """

    def __init__(self, folder: Path, cell_type: type[C]) -> None:
        self.folder = folder
        self._cells: dict[C, dict[str, Any]] = {}
        for file in sorted(folder.glob("*.json")):
            for record in json.loads(file.read_text("utf-8"))["cells"]:
                cell = cell_type(*(record.pop(name) for name in cell_type._fields))
                self._cells[cell] = record

    def __getitem__(self, cell: C) -> dict[str, Any]:
        return self._cells[cell]

    def __iter__(self) -> Iterator[C]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def put(self, cell: C, record: Mapping[str, Any]) -> None:
        """Keep a cell's record, at once and whole: a run that is interrupted goes on from here."""
        self._cells[cell] = dict(record)
        lines = [
            json.dumps({**kept._asdict(), **self._cells[kept]}, ensure_ascii=False)
            for kept in sorted(self._cells)
            if kept.learner == cell.learner
        ]
        text = '{"cells": [\n' + ",\n".join(lines) + "\n]}\n"
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / f"{cell.learner}.json"
        beside = file.with_suffix(".tmp")
        beside.write_text(text, encoding="utf-8")
        beside.replace(file)


def versions_of(packages: Sequence[str]) -> str:
    """Return the versions of Python and of these packages, as text."""
    found = [f"python {python_version()}"]
    for package in packages:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} not installed")
    return ", ".join(found)
