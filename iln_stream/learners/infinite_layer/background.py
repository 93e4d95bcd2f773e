"""Remembered events as dicts of inputs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.columns import ABSENT
from iln_stream.learners.explaining import input_of
from iln_stream.learners.infinite_layer.base import is_effect
from iln_stream.learners.infinite_layer.engine import Engine
from iln_stream.learners.infinite_layer.memory import Memory


def remembered(engine: Engine, n: int, *, effects: bool = False) -> list[dict[Any, float]]:
    """Return the inputs of n events of an engine's memory, or of all if it has fewer.

    They are a random sample, in their order: the events whose numbers have the smallest hashes. So
    the samples of successive events differ by few events, and no period of the stream is favoured.
    Absent inputs are left out, as are categories that are 0, and hashed ones, which no engine
    remembers; with `effects`, the columns of their fields' effects are inputs, too.
    """
    numbers, rows = _kept(engine)
    chosen = np.sort(np.argsort(_hashed(numbers), kind="stable")[:n])
    names = list(engine.inputs.columns.place)
    indicators = [input_of(name) != name for name in names]
    left_out = [not effects and is_effect(name) for name in names]
    return [
        {
            name: value
            for name, value, indicator, out in zip(names, row, indicators, left_out, strict=True)
            if value < ABSENT and not (indicator and value == 0.0) and not out
        }
        for row in rows[numbers[chosen] % len(rows)].tolist()
    ]


def _kept(engine: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers of the remembered events; and a ring of raw rows, (N, d)."""
    memory = engine.memory
    if isinstance(memory, Memory):
        kept, rows = memory.filled, memory.columns.T
    else:
        kept, rows = engine.past.n_of_level, engine.past.columns.T
    return np.arange(engine.n - kept, engine.n), rows


def _hashed(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Hashes of integers: the last steps of SplitMix64."""
    h = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))
