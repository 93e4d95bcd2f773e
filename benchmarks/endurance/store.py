"""The stored records of the endurance suite."""

from pathlib import Path

from benchmarks.endurance.cell import Cell
from benchmarks.endurance.digest import digest
from benchmarks.endurance.learners import LEARNERS
from benchmarks.records import Records

FOLDER = Path(__file__).parent / "results"


class Store(Records[Cell]):
    """The records in a folder, read once and written cell by cell.

    Parameters
    ----------
    folder
        Where `<learner>.json` lie.

    """

    def __init__(self, folder: Path = FOLDER) -> None:
        super().__init__(folder, Cell)

    def is_current(self, cell: Cell) -> bool:
        """Return whether a cell finished with the present code of its learner."""
        record = self.get(cell, {"failed": "not run"})
        return "failed" not in record and record["code"] == digest(LEARNERS[cell.learner].roots)
