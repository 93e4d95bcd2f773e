"""Figures, their colours, and how they are saved."""

from io import BytesIO
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from PIL import Image

# Okabe and Ito's colours, which colour-blind readers tell apart. In print, dashes and marks do.
BLUE = "#0072b2"
SKY = "#56b4e9"
VERMILION = "#d55e00"
GREY = "#767676"
BLACK = "#000000"

DPI = 100
"""Dots per inch of a PNG file."""

_COLOURS = 64
"""Colours of a PNG file: those drawn, and what smooths their edges. A third of the bytes."""

_UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


class Picture(Figure):
    """A figure that notebooks show, whether or not `matplotlib.pyplot` was imported."""

    def _repr_png_(self) -> bytes:
        return _png(self)


def new_figure(width: float, height: float) -> Picture:
    """Return an empty figure of a size in inches, which pyplot does not keep."""
    return Picture(figsize=(width, height), layout="constrained")


def save(figure: Figure, file: Path, salt: str = "iln_stream") -> None:
    """Save a figure in the format that the file's suffix names.

    The same figure gives the same bytes: no date, and identifiers that depend on `salt` alone.

    Raises
    ------
    ValueError
        When matplotlib knows no format of this name.
    OSError
        When the file can't be written.

    """
    if file.suffix.lower() == ".png":
        file.write_bytes(_png(figure))
        return
    with mpl.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        figure.savefig(file, metadata=_UNDATED.get(file.suffix.lower()))


def _png(figure: Figure) -> bytes:
    whole, small = BytesIO(), BytesIO()
    figure.savefig(whole, format="png", dpi=DPI)
    with Image.open(whole) as picture:
        few = picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    few.save(small, format="png", optimize=True)
    return small.getvalue()


def short_dates(axes: Axes) -> None:
    """Write on the x axis of each date only what differs from the one before."""
    locator = AutoDateLocator(maxticks=8)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    shortened = ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(shortened)


def log_scale(axes: Axes) -> None:
    """Make the y axis logarithmic, with ticks at 1, 2 and 5 written as plain numbers."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
