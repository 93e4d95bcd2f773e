"""Tables of the stored records."""

from collections.abc import Mapping
from statistics import median
from typing import Any

from benchmarks.endurance.cell import Cell
from benchmarks.endurance.learners import LEARNERS
from benchmarks.endurance.plan import planned
from benchmarks.endurance.streams import KINDS
from benchmarks.endurance.verdict import Verdict, growth_of, verdict
from benchmarks.quality.tables.table import Table

Store = Mapping[Cell, dict[str, Any]]

SHOWN = ("accurate", "fast", "classifier")
DECADES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


def all_tables(store: Store) -> dict[str, Table]:
    """Return each table by the name of its marker."""
    return {"streams": streams(), "overview": overview(store), "errors": errors(store)}


def streams() -> Table:
    """One row per kind of stream."""
    lines = [
        [name, kind.description, "yes" if kind.stationary else ""] for name, kind in KINDS.items()
    ]
    return Table("kinds of streams", ["id", "description", "stationary"], lines, n_left=3)


def overview(store: Store) -> Table:
    """One row per learner: its time, memory and verdicts."""
    lines = []
    for learner, entrant in LEARNERS.items():
        cells = [cell for cell in planned() if cell.learner == learner and cell in store]
        records = [store[cell] for cell in cells if "failed" not in store[cell]]
        if not records:
            continue
        growth = [found for found in map(growth_of, records) if found is not None]
        worst = max(records, key=lambda record: record["longest_ms"])
        lines.append(
            [
                entrant.title,
                str(len(cells)),
                f"{median(record['us'] for record in records):.0f}",
                f"{max(record['p999_ms'] for record in records):.2f}",
                f"{worst['longest_ms']:.1f} ({worst['machine_ms']:.1f})",
                f"{max(mib for mib, _ in growth):.1f}" if growth else "–",
                f"{max(record['state_bytes'][-1][1] for record in records) / 1e6:.2f}",
                str(sum(record["n_reset"] or 0 for record in records)),
                _passed([verdict(cell, store[cell]) for cell in cells]),
            ]
        )
    heads = ["learner", "cells", "us an event", "99.9 %, ms", "longest, ms (machine's)"]
    heads += ["MiB more", "state, MB", "resets", "pass"]
    return Table("overview", heads, lines)


def _passed(verdicts: list[Verdict]) -> str:
    good = sum(found.passes for found in verdicts)
    return "all" if good == len(verdicts) else f"{good} of {len(verdicts)}"


def errors(store: Store) -> Table:
    """One row per stream of the default learners, and per cell that fails: ratios by decade."""
    lines = []
    for cell in planned():
        if cell not in store:
            continue
        record = store[cell]
        found = {decade["end"]: decade for decade in record.get("decades", ())}
        ratios = [_ratio(found[end]) if end in found else "" for end in DECADES]
        reasons = "; ".join(reason for reason in verdict(cell, record) if reason)
        if reasons or cell.learner in SHOWN:
            lines.append([cell.learner, cell.stream, *ratios, reasons])
    heads = ["learner", "stream", *(f"to {end:,}" for end in DECADES), "fails"]
    return Table("errors by decade", heads, sorted(lines), n_left=2)


def _ratio(decade: dict[str, Any]) -> str:
    if decade["mean"] is None:
        return "not finite"
    mean, middle = (
        f"{decade[name] / decade[f'base_{name}']:.3f}" if decade[f"base_{name}"] else "–"
        for name in ("mean", "median")
    )
    return f"{mean} ({middle})"
