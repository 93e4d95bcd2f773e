"""The stored results of the quality suite, with versions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.quality.cell import Cell
from benchmarks.quality.learners import CONTENDERS
from benchmarks.records import Records, versions_of

FOLDER = Path(__file__).parent / "results"


class Store(Records[Cell]):
    """The results in a folder, read once and written cell by cell.

    Parameters
    ----------
    folder
        Where `<learner>.json` lie.

    """

    def __init__(self, folder: Path = FOLDER) -> None:
        super().__init__(folder, Cell)

    def has(self, cell: Cell) -> bool:
        """Return whether the cell's figures are all here: older versions stored no RMSE."""
        figures = self.get(cell, {})
        wanted = {"rmse_ratio"} if cell.measure == "regression" else set()
        return bool(figures) and ("failed" in figures or wanted <= set(figures))

    def put(self, cell: Cell, record: Mapping[str, Any]) -> None:
        """Keep a cell's figures, with the versions that affect them."""
        packages = CONTENDERS[cell.learner].packages
        super().put(cell, {**record, "versions": versions_of(packages)})
