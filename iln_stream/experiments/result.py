"""The outcome of an experiment: numbers, notes and a plot of them."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iln_stream._version import __version__


@dataclass(frozen=True)
class Result:
    """What an experiment found.

    Parameters
    ----------
    name
        Of the experiment.
    settings
        What it ran with, plain values; "full" is whether it was the full run or a quick one.
    figures
        What it measured, plain values: numbers, text, lists and dicts of them.
    notes
        Sentences: what agrees with the source and what does not.
    draw
        Draws the figures on axes of matplotlib. It reads nothing else, so that a stored result can
        be drawn again.

    """

    name: str
    settings: Mapping[str, Any]
    figures: Mapping[str, Any]
    notes: Sequence[str]
    draw: Callable[[Any, Mapping[str, Any]], None]

    def plot(self, axes: Any) -> None:
        """Draw on axes of matplotlib; the title says whether the run was a quick one."""
        self.draw(axes, self.figures)
        quick = "" if self.settings["full"] else " (quick run: few events, not the figure to cite)"
        axes.set_title(self.name + quick)

    def document(self) -> dict[str, Any]:
        """Return all but the drawing, for JSON, with the versions that it ran with."""
        return {
            "name": self.name,
            "settings": dict(self.settings),
            "figures": dict(self.figures),
            "notes": list(self.notes),
            "versions": {
                "iln_stream": __version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
        }


def mean_and_error(values: Sequence[float]) -> dict[str, float | None]:
    """Return the mean of one value a seed and its standard error, None for a single seed.

    Examples
    --------
    >>> mean_and_error([1.0, 3.0])
    {'mean': 2.0, 'standard_error': 1.0}

    """
    n = len(values)
    error = float(np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else None
    return {"mean": float(np.mean(values)), "standard_error": error}
