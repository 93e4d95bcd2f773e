"""Draws curves of means with their errors."""

from collections.abc import Sequence
from typing import Any


def draw_curve(axes: Any, x: Sequence[float], points: Sequence[Any], **style: Any) -> None:
    """Draw what `mean_and_error` returned at each x, on axes of matplotlib."""
    errors = [point["standard_error"] or 0.0 for point in points]
    axes.errorbar(x, [point["mean"] for point in points], errors, **style)
