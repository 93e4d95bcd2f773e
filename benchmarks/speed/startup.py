"""Time of import and first events in new processes, with and without numba's cache."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from .effort import Effort
from .findings import Cell, Findings

LEARNERS = {"default": "", "pool of 512": "estimator=Pool(512), step=0.6, "}

# The first event finds f = 0, where nothing is to be estimated: so two.
PROGRAM = """
from time import perf_counter, process_time
started = perf_counter()
from iln_stream import Pool, ShrinkingGradient
imported = perf_counter()
model = ShrinkingGradient({options}seed=1)
for y in 0.5, -0.5:
    model.predict_one({{"a": y, "b": 1.0}})
    model.learn_one({{"a": y, "b": 1.0}}, y)
print(imported - started, perf_counter() - started, process_time())
"""


def measure(effort: Effort) -> list[Findings]:
    """Seconds until the import, and until two events were predicted and learned."""
    rows: list[dict[str, Cell]] = []
    for name, options in LEARNERS.items():
        program = PROGRAM.format(options=options)
        with tempfile.TemporaryDirectory() as kept:
            start(program, kept)  # fills it
            warm = [start(program, kept) for _ in range(effort.starts)]
        cold = []
        for _ in range(effort.starts):
            with tempfile.TemporaryDirectory() as empty:
                cold.append(start(program, empty))
        rows.append(
            {"ShrinkingGradient": name, "import, s": _middle(warm, 0)}
            | {"warm, s": _middle(warm, 1), "warm, processor s": _middle(warm, 2)}
            | {"cold, s": _middle(cold, 1), "cold, processor s": _middle(cold, 2)}
        )
    note = (
        f"cold: an empty NUMBA_CACHE_DIR. Medians of {effort.starts} fresh processes. Processor "
        "seconds are the whole process's, the interpreter's own start included."
    )
    return [Findings("Import + two events predicted and learned", rows, note)]


def start(program: str, numba_cache: str | Path) -> tuple[float, ...]:
    """Run the program and return its times."""
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "NUMBA_CACHE_DIR": str(numba_cache)},
        cwd=Path(__file__).parents[2],
        check=True,
        capture_output=True,
        text=True,
    )
    return tuple(map(float, found.stdout.split()))


def _middle(starts: list[tuple[float, ...]], which: int) -> float:
    return median(start[which] for start in starts)
