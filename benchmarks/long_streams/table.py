"""Curves as a table."""

from collections.abc import Iterable
from itertools import pairwise
from statistics import geometric_mean, median
from typing import Any

import numpy as np

from benchmarks.long_streams.curve import ENDS
from benchmarks.long_streams.learners import LEARNERS
from benchmarks.long_streams.results import Cells, seeds
from benchmarks.long_streams.streams import DESIGN, HELD_BACK

GROUPS = {"design": DESIGN, "held back": HELD_BACK}

FROM = 1_000
"""The means are of segments from here on."""


def means(n: int, stored: Cells) -> list[str]:
    """Return a table of geometric means over each group, by learner and segment, up to n events.

    A learner has a dash where it did not run on a whole group, or ended before.
    """
    spans = [(a, b) for a, b in pairwise((0, *ENDS)) if a >= FROM and b <= n]
    heads = [f"{title}, {a // 1000}k-{b // 1000}k" for title in GROUPS for a, b in spans]
    lines = [f"| learner | {' | '.join(heads)} |", "|---" + "|--:" * len(heads) + "|"]
    for learner in LEARNERS:
        figures: list[str] = []
        for group in GROUPS.values():
            curves = [c for s in group if (c := _medians(seeds(stored, s, learner, n)))]
            for _, end in spans:
                i = ENDS.index(end)
                found = [curve[i] for curve in curves if len(curve) > i]
                whole = len(found) == len(group)
                figures.append(f"{geometric_mean(found):.3f}" if whole else "–")
        if set(figures) != {"–"}:
            lines.append(f"| {learner} | {' | '.join(figures)} |")
    return lines


def _medians(cells: list[dict[str, Any]]) -> list[float]:
    return [median(errors) for errors in zip(*(c["errors"] for c in cells), strict=True)]


def table(
    title: str, group: Any, n: int, stored: Cells, learners: Iterable[str] = LEARNERS
) -> list[str]:
    """Return a table of the medians over seeds, by stream and learner, up to n events.

    A learner that ran on fewer events has dashes from there on.
    """
    ends = [end for end in ENDS if end <= n]
    spans = [f"{a:,}-{b:,}" for a, b in zip((0, *ends), ends, strict=False)]
    lines = [f"| {title} | learner | {' | '.join(spans)} | us |", "|---" * (len(spans) + 3) + "|"]
    for learner in learners:
        rows = []
        for stream in group:
            cells = seeds(stored, stream, learner, n)
            if not cells:
                continue
            errors = _medians(cells)
            rows.append(errors)
            us = median(cell["us"] for cell in cells)
            lines.append(_line(stream, learner, errors, len(ends), f"{us:.0f}"))
        if len(rows) == len(group):
            common = [row[: min(map(len, rows))] for row in rows]
            means = np.exp(np.log(common).mean(axis=0)).tolist()
            lines.append(_line("gm", learner, means, len(ends), ""))
    return lines


def _line(stream: str, learner: str, errors: list[float], n_spans: int, us: str) -> str:
    figures = [f"{error:.3f}" for error in errors]
    figures += ["–"] * (n_spans - len(figures))
    return f"| {stream} | {learner} | {' | '.join(figures)} | {us} |"
