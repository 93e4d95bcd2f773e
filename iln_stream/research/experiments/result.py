"""What an experiment finds, how it is stored and drawn, and fits of its rates."""

import json
import math
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from iln_stream._version import __version__

Progress = Callable[[str], None]
"""Gets a line for each part of an experiment."""


@dataclass(frozen=True)
class Result:
    """What an experiment found."""

    name: str  # of the experiment
    # what it ran with, plain values; "full" is whether it was the full run or a quick one
    settings: Mapping[str, Any]
    # what it measured, plain values: numbers, text, lists and dicts of them
    figures: Mapping[str, Any]
    notes: Sequence[str]  # sentences: what agrees with the source and what does not
    # Draws the figures on axes of matplotlib. It reads nothing else, so that a stored result can be
    # drawn again.
    draw: Callable[[Any, Mapping[str, Any]], None]

    def plot(self, axes: Any) -> None:
        """Draw on axes of matplotlib; the title says whether the run was a quick one."""
        self.draw(axes, self.figures)
        quick = "" if self.settings["full"] else " (quick run: few events, not the figure to cite)"
        axes.set_title(self.name + quick)

    def sentences(self) -> list[str]:
        """Return the notes, and of a quick run first that it decides nothing."""
        quick = [] if self.settings["full"] else ["A quick run: too few runs to tell. Take --full."]
        return [*quick, *self.notes]

    def document(self) -> dict[str, Any]:
        """Return all but the drawing, for JSON, with the versions that it ran with."""
        return {
            "name": self.name,
            "settings": dict(self.settings),
            "figures": dict(self.figures),
            "notes": self.sentences(),
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


_DIGITS = 5
"""Significant digits of the numbers written: standard errors have fewer."""


def save_result(result: Result, folder: Path) -> tuple[Path, Path]:
    """Write NAME.json and experiment_NAME.svg; return their paths.

    The picture needs matplotlib.
    """
    from iln_stream.figures import new_figure, save

    folder.mkdir(parents=True, exist_ok=True)
    document, picture = folder / f"{result.name}.json", folder / f"experiment_{result.name}.svg"
    document.write_text(as_json(result.document()), encoding="utf-8")
    figure = new_figure(8.5, 4.8)
    result.plot(figure.subplots())
    save(figure, picture, salt=result.name)  # the same result gives the same bytes
    return document, picture


def as_json(document: dict[str, Any]) -> str:
    """Return a document as text, numbers rounded, lists and dicts of numbers on one line each."""
    return _written(_rounded(document), "") + "\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return value


def _written(value: Any, indent: str) -> str:
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, dict | list) or len(indent) + len(line) <= 100:
        return line
    inner = indent + " "
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(k, ensure_ascii=False)}: {_written(v, inner)}" for k, v in value.items()
        ]
    else:
        parts = [_written(v, inner) for v in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    body = ",\n".join(inner + part for part in parts)
    return f"{first}\n{body}\n{indent}{last}"


_T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""97.5 % points of Student's t with 1 to 10 degrees of freedom; for more the last."""


def power_law(sizes: Sequence[float], values: Sequence[Sequence[float]]) -> dict[str, float | None]:
    """Fit values ~ size^exponent by least squares on logarithms, for each seed.

    Parameters
    ----------
    sizes
        At least two positive sizes.
    values
        For each seed, a positive value a size.

    Returns
    -------
    The mean exponent, and the ends "low" and "high" of its 95 % interval by Student's t over the
    seeds; None for a single seed, or if a value is not positive.

    Examples
    --------
    >>> from iln_stream.research.experiments.result import power_law
    >>> fit = power_law([1, 4, 16], [[1, 2, 4], [2, 4, 10]])
    >>> {name: round(value, 3) for name, value in fit.items()}
    {'exponent': 0.54, 'low': 0.029, 'high': 1.052}

    """
    table = np.asarray(values, dtype=float)
    if table.size == 0 or table.min() <= 0:
        return {"exponent": None, "low": None, "high": None}
    logs = np.log(np.asarray(sizes, dtype=float))
    logs -= logs.mean()
    slopes = np.log(table) @ logs / (logs @ logs)
    mean, n = float(slopes.mean()), len(slopes)
    if n == 1:
        return {"exponent": mean, "low": None, "high": None}
    quantile = _T_975[min(n - 1, len(_T_975)) - 1]
    margin = quantile * float(slopes.std(ddof=1)) / math.sqrt(n)
    return {"exponent": mean, "low": mean - margin, "high": mean + margin}


WIDE = 0.2
"""A fitted exponent's interval that is wider decides nothing."""


def agreement(fit: Mapping[str, float | None], claim: float) -> str:
    """Return whether a fitted exponent's 95 % interval has the claimed one.

    The interval leaves out a true exponent in a twentieth of the runs; one wider than `WIDE` would
    agree with almost anything.

    Examples
    --------
    >>> from iln_stream.research.experiments.result import agreement
    >>> agreement({"exponent": -0.6, "low": -0.65, "high": -0.55}, -0.5)
    'not the -0.5 of the source'
    >>> agreement({"exponent": -0.6, "low": -1.9, "high": 0.7}, -0.5)
    'too few runs to tell'

    """
    low, high = fit["low"], fit["high"]
    if low is None or high is None or high - low > WIDE:
        return "too few runs to tell"
    agrees = low <= claim <= high
    return f"{'in agreement with' if agrees else 'not'} the {claim:g} of the source"


def size_for(sizes: Sequence[float], values: Sequence[float], goal: float) -> float | None:
    """Return the smallest size with a value of at most `goal`, between two by logarithms.

    Parameters
    ----------
    sizes
        Positive and rising.
    values
        A positive value a size; they need not fall.
    goal
        Positive.

    Returns
    -------
    The first size if its value is as small already; None if none is.

    Examples
    --------
    >>> from iln_stream.research.experiments.result import size_for
    >>> size_for([1, 4, 16], [1.0, 0.5, 0.125], 0.25)
    8.0
    >>> size_for([1, 4, 16], [1.0, 0.5, 0.125], 0.1) is None
    True

    """
    for k, value in enumerate(values):
        if value > goal:
            continue
        if k == 0:
            return float(sizes[0])
        share = math.log(values[k - 1] / goal) / math.log(values[k - 1] / value)
        return float(sizes[k - 1] * (sizes[k] / sizes[k - 1]) ** share)
    return None


@dataclass
class Budget:
    """Counts of what methods are compared by.

    Examples
    --------
    >>> from iln_stream.research.experiments.result import Budget
    >>> budget = Budget()
    >>> with budget.timed():
    ...     budget.psi += 100
    >>> budget.psi, budget.seconds > 0
    (100, True)

    """

    psi: int = 0  # evaluations of hidden units, psi(x; w)
    draws: int = 0  # draws of w from mu
    kernels: int = 0  # evaluations of a kernel
    seconds: float = 0.0  # CPU time, so that other processes do not count

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Add the CPU time of the block, also if it raises an error."""
        start = process_time()
        try:
            yield
        finally:
            self.seconds += process_time() - start

    def figures(self) -> dict[str, float]:
        """Return the counts by name."""
        return asdict(self)
