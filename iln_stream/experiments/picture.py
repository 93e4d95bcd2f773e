"""Draws a result."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from iln_stream.experiments.result import Result


def draw(result: Result, file: Path) -> None:
    """Save the plot of a result as SVG; the same result gives the same bytes."""
    figure = Figure(figsize=(8.5, 4.8), layout="constrained")
    result.plot(figure.subplots())
    with mpl.rc_context({"svg.hashsalt": result.name, "svg.fonttype": "none"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
