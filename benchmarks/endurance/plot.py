"""A picture of the errors by segment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib import colormaps
from matplotlib.figure import Figure

from benchmarks.endurance.cell import Cell
from benchmarks.endurance.learners import LEARNERS
from benchmarks.endurance.plan import planned
from benchmarks.endurance.streams import KINDS

BY_MEDIAN = {"heavy-tailed"}
"""Streams on which a mean error is that of a few events."""


def draw(store: Mapping[Cell, dict[str, Any]], file: Path) -> None:
    """Save a picture with a panel for each stream and a line for each learner."""
    figure = Figure(figsize=(12, 6.5), layout="constrained")
    panels = figure.subplots(2, 4, sharex=True, sharey=True)
    colours = dict(zip(LEARNERS, colormaps["tab20"].colors, strict=False))
    for panel, (stream, kind) in zip(panels.flat, KINDS.items(), strict=True):
        how = "median" if stream in BY_MEDIAN else "mean"
        for cell in sorted(set(planned())):
            if cell.stream != stream or cell not in store or "failed" in store[cell]:
                continue
            segments = [
                s for s in store[cell]["segments"] if s[how] is not None and s[f"base_{how}"]
            ]
            panel.plot(
                [segment["end"] for segment in segments],
                [segment[how] / segment[f"base_{how}"] for segment in segments],
                lw=2.2 if cell.learner in ("accurate", "fast", "classifier") else 1.1,
                color=colours[cell.learner],
                label=cell.learner,
            )
        panel.set(xscale="log", yscale="log", ylim=(0.02, 3.0))
        panel.set_title(stream + (", stationary" if kind.stationary else ""), fontsize="medium")
        panel.axhline(1.0, color="#444444", lw=0.8, ls="--")
        panel.set_yticks([0.03, 0.1, 0.3, 1.0, 3.0], ["0.03", "0.1", "0.3", "1", "3"])
        panel.set_yticks([], minor=True)
        panel.grid(alpha=0.3)
    figure.supylabel("error / running mean's")
    figure.supxlabel("events (each error is of the segment that ends there)")
    named: dict[str, Any] = {}
    for panel in panels.flat:
        named |= {label: line for line, label in zip(*panel.get_legend_handles_labels())}  # noqa: B905
    shown = [name for name in LEARNERS if name in named]
    figure.legend(
        [named[name] for name in shown],
        shown,
        loc="outside upper center",
        ncols=7,
        frameon=False,
        fontsize="small",
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    # Without matplotlib's version, the same picture is the same file.
    figure.savefig(file, dpi=100, metadata={"Software": None})
