"""A picture of the learning curves."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchmarks.long_streams.results import Cells, seeds
from benchmarks.long_streams.streams import DESIGN, HELD_BACK, NOISE

COLOURS = {
    "accurate": "#7f0000",
    "fast": "#ff7f0e",
    "vw-cubic-nn": "#2ca02c",
    "mlp-replay": "#9467bd",
    "boosting": "#111111",
    "krls-t": "#17becf",
    "river-hatr": "#1f77b4",
    "river-linear": "#aaaaaa",
}


def draw(stored: Cells, n: int, ends: Sequence[int], file: Path) -> None:
    """Save a picture with a panel for each stream, and a line of medians for each learner.

    Parameters
    ----------
    stored
        Cells by "EVENTS STREAM LEARNER SEED".
    n
        Number of events to draw; of each learner, its longest runs of at most that many.
    ends
        Ends of the segments; an error is drawn at the end of its segment.
    file
        Where to save it.

    """
    groups = {"that settings were chosen on": DESIGN, "held back": HELD_BACK}
    n_columns = max(map(len, groups.values()))
    figure = Figure(figsize=(2.6 * n_columns, 6), layout="constrained")
    panels = figure.subplots(len(groups), n_columns, sharex=True, sharey=True)
    lines = {}
    for row, (title, group) in zip(panels, groups.items(), strict=True):
        row[0].set_ylabel(f"MAE / running mean's\n{len(group)} kinds {title}")
        for panel in row[len(group) :]:
            panel.set_axis_off()
        for panel, (name, stream) in zip(row, group.items(), strict=False):
            for learner, colour in COLOURS.items():
                if cells := seeds(stored, name, learner, n):
                    errors = np.median([cell["errors"] for cell in cells], axis=0)
                    lines[learner], *_ = panel.plot(
                        ends[: len(errors)], errors, "o-", ms=3, color=colour, label=learner
                    )
            panel.axhline(NOISE, color="#bbbbbb", ls="--", lw=1)
            panel.set(xscale="log", yscale="log", title=f"{name} ({stream.d} inputs)")
            panel.set_yticks([0.1, 0.2, 0.5, 1.0], ["0.1", "0.2", "0.5", "1"], minor=False)
            panel.set_yticks([], minor=True)
            panel.grid(alpha=0.3)
    figure.supxlabel(
        "events (each error is of the segment that ends there; dashed: about the noise)"
    )
    figure.legend(
        handles=list(lines.values()), loc="outside upper center", ncols=len(lines), frameon=False
    )
    # Without matplotlib's version, the same picture is the same file.
    figure.savefig(file, dpi=110, metadata={"Software": None})
