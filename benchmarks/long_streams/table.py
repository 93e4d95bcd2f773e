"""Curves as a table."""

import statistics
from typing import Any

import numpy as np

from benchmarks.long_streams.curve import ENDS
from benchmarks.long_streams.learners import LEARNERS
from benchmarks.long_streams.results import Cells, seeds


def table(title: str, group: Any, n: int, stored: Cells) -> list[str]:
    """Return a table of the medians over seeds, by stream and learner, up to n events.

    A learner that ran on fewer events has dashes from there on.
    """
    ends = [end for end in ENDS if end <= n]
    spans = [f"{a:,}-{b:,}" for a, b in zip((0, *ends), ends, strict=False)]
    lines = [f"| {title} | learner | {' | '.join(spans)} | us |", "|---" * (len(spans) + 3) + "|"]
    for learner in LEARNERS:
        rows = []
        for stream in group:
            cells = seeds(stored, stream, learner, n)
            if not cells:
                continue
            errors = [statistics.median(e) for e in zip(*(c["errors"] for c in cells), strict=True)]
            rows.append(errors)
            us = statistics.median(cell["us"] for cell in cells)
            lines.append(_line(stream, learner, errors, len(ends), f"{us:.0f}"))
        if len(rows) == len(group):
            common = [row[: min(map(len, rows))] for row in rows]
            means = np.exp(np.log(common).mean(axis=0)).tolist()
            lines.append(_line("gm", learner, means, len(ends), ""))
    return lines


def _line(stream: str, learner: str, errors: list[float], n_spans: int, us: str) -> str:
    figures = [f"{error:.3f}".removeprefix("0") for error in errors]
    figures += ["–"] * (n_spans - len(figures))
    return f"| {stream} | {learner} | {' | '.join(figures)} | {us} |"
