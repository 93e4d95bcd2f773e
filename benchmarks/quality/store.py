"""Stores results: one JSON file per learner and one line per cell, for readable diffs."""

import json
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

from benchmarks.quality.cell import Cell
from benchmarks.quality.learners import CONTENDERS

FOLDER = Path(__file__).parent / "results"


class Store(Mapping[Cell, dict[str, Any]]):
    """The results in a folder, read once and written cell by cell.

    Parameters
    ----------
    folder
        Where `<learner>.json` lie.

    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder
        self._cells: dict[Cell, dict[str, Any]] = {}
        for file in sorted(folder.glob("*.json")):
            for record in json.loads(file.read_text("utf-8"))["cells"]:
                cell = Cell(*(record.pop(name) for name in Cell._fields))
                self._cells[cell] = record

    def __getitem__(self, cell: Cell) -> dict[str, Any]:
        return self._cells[cell]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def has(self, cell: Cell) -> bool:
        """Return whether the cell's figures are all here: older versions stored no RMSE."""
        figures = self.get(cell, {})
        wanted = {"rmse_ratio"} if cell.measure == "regression" else set()
        return bool(figures) and ("failed" in figures or wanted <= set(figures))

    def put(self, cell: Cell, figures: dict[str, Any]) -> None:
        """Keep a cell's figures, at once and whole: a run that is interrupted goes on from here."""
        self._cells[cell] = {**figures, "versions": versions(cell.learner)}
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


def versions(learner: str) -> str:
    """Return the versions that affect a learner's figures, as text."""
    found = [f"python {python_version()}"]
    for package in CONTENDERS[learner].packages:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} not installed")
    return ", ".join(found)
