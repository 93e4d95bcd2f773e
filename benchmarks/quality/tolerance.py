"""Compares a new run with the stored results, within a tolerance."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks.quality.cell import Cell

TOLERANCES = {
    "regression": {"ratio": 0.01, "rmse_ratio": 0.01},
    "classification": {"accuracy": 0.01, "log_loss": 0.02, "roc_auc": 0.01, "pr_auc": 0.03},
    "intervals": {"coverage": 0.01, "score": 0.02},
}
"""By measure, the figures that are compared, and by how much of the stored one they may differ.

Seeds are fixed, so on one machine nothing may differ at all. These leave room for another machine's
last bits, which a stream of some hundred events can carry far.
"""

SMALLER_IS_BETTER = {"ratio", "rmse_ratio", "log_loss", "score"}


class Change(NamedTuple):
    """A figure of a cell that left its tolerance; None if a run failed."""

    cell: Cell
    figure: str
    stored: float | None
    fresh: float | None

    @property
    def worse(self) -> bool:
        """Whether the new figure is worse; for a coverage, any change is."""
        if self.fresh is None or self.stored is None:
            return self.fresh is None
        if self.figure == "coverage":
            return True
        return (self.fresh > self.stored) == (self.figure in SMALLER_IS_BETTER)


def changes(cell: Cell, stored: Mapping[str, Any], fresh: Mapping[str, Any]) -> list[Change]:
    """Return the figures that left their tolerance, better or worse."""
    found = []
    for figure, tolerance in TOLERANCES[cell.measure].items():
        if figure not in stored and "failed" not in stored:
            continue  # it was stored before the figure was measured
        before, now = stored.get(figure), fresh.get(figure)
        if before is None and now is None:
            continue  # it fails as it did
        if before is None or now is None or abs(now - before) > tolerance * abs(before):
            found.append(Change(cell, figure, before, now))
    return found
