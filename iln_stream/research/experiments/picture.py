"""Draws a result."""

from pathlib import Path

from matplotlib.figure import Figure

from iln_stream.figures import save
from iln_stream.research.experiments.result import Result


def draw(result: Result, file: Path) -> None:
    """Save the plot of a result as SVG; the same result gives the same bytes."""
    figure = Figure(figsize=(8.5, 4.8), layout="constrained")
    result.plot(figure.subplots())
    save(figure, file, salt=result.name)
