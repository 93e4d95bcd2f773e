"""A picture of the learning curves."""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from benchmarks.long_streams.streams import DESIGN, HELD_BACK, NOISE, STREAMS

COLOURS = {
    "accurate": "#7f0000",
    "no-networks": "#d62728",
    "fast": "#ff7f0e",
    "river-hatr": "#1f77b4",
    "river-linear": "#888888",
}


def draw(stored: dict[str, Any], n: int, ends: Sequence[int], file: Path) -> None:
    """Save a picture with a panel for each stream, and a line of medians for each learner.

    Parameters
    ----------
    stored
        Cells by "EVENTS STREAM LEARNER SEED".
    n
        Number of events of the cells that are drawn.
    ends
        Ends of the segments; an error is drawn at the end of its segment.
    file
        Where to save it.

    """
    figure = Figure(figsize=(11, 6), layout="constrained")
    panels = figure.subplots(2, 4, sharex=True, sharey=True)
    for panel, (name, stream) in zip(panels.flat, STREAMS.items(), strict=True):
        for learner, colour in COLOURS.items():
            cells = [c for key, c in stored.items() if key.startswith(f"{n} {name} {learner} ")]
            if cells:
                errors = [
                    statistics.median(e) for e in zip(*(c["errors"] for c in cells), strict=True)
                ]
                panel.plot(ends[: len(errors)], errors, "o-", ms=3, color=colour, label=learner)
        panel.axhline(NOISE, color="#bbbbbb", ls="--", lw=1)
        panel.set(xscale="log", yscale="log", title=f"{name} ({stream.d} inputs)")
        panel.set_yticks([0.1, 0.2, 0.5, 1.0], ["0.1", "0.2", "0.5", "1"], minor=False)
        panel.set_yticks([], minor=True)
        panel.grid(alpha=0.3)
    panels[0, 0].set_ylabel(
        f"MAE / running mean's\n{len(DESIGN)} kinds that settings were chosen on"
    )
    panels[1, 0].set_ylabel(f"MAE / running mean's\n{len(HELD_BACK)} held back")
    figure.supxlabel(
        "events (each error is of the segment that ends there; dashed: about the noise)"
    )
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    figure.savefig(file, dpi=110)
