"""One learner's curve on one stream."""

import platform
from time import process_time
from typing import Any

import numba
import numpy as np

from benchmarks.long_streams.learners import LEARNERS
from benchmarks.long_streams.streams import STREAMS
from iln_stream._version import __version__

ENDS = (100, 1_000, 2_000, 10_000, 50_000, 100_000, 500_000, 1_000_000)
"""Ends of the segments."""

WARM_UP = 200
"""Events that are not timed: functions are compiled meanwhile."""


def run(learner: str, stream: str, seed: int, n: int) -> dict[str, Any]:
    """Return a cell: errors by segment, and microseconds of processor time an event."""
    model, mean = LEARNERS[learner](seed), 0.0
    errors, base = np.zeros(len(ENDS)), np.zeros(len(ENDS))
    segment, used = 0, 0.0
    for t, (x, y) in enumerate(STREAMS[stream].events(n, seed)):
        if t == ENDS[segment]:
            segment += 1
        began = process_time()
        y_pred = model.predict_one(x)
        model.learn_one(x, y)
        if t >= WARM_UP:
            used += process_time() - began
        errors[segment] += abs(y_pred - y)
        base[segment] += abs(mean - y)
        mean += (y - mean) / (t + 1)
    done = slice(0, segment + 1)
    return {
        "errors": np.round(errors[done] / base[done], 4).tolist(),
        "us": round(1e6 * used / (n - WARM_UP), 1),
        "version": __version__,
        "numba": numba.__version__,
        "python": platform.python_version(),
    }
