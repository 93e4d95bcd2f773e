"""Import and first events, in fresh processes, with and without what numba has on disk."""

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
from time import perf_counter
started = perf_counter()
from iln_stream import Pool, ShrinkingGradient
imported = perf_counter()
model = ShrinkingGradient({options}seed=1)
for y in 0.5, -0.5:
    model.predict_one({{"a": y, "b": 1.0}})
    model.learn_one({{"a": y, "b": 1.0}}, y)
print(imported - started, perf_counter() - started)
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
            {"ShrinkingGradient": name, "import, s": median(imported for imported, _ in warm)}
            | {"warm, s": median(ready for _, ready in warm)}
            | {"cold, s": median(ready for _, ready in cold)}
        )
    note = f"cold: an empty NUMBA_CACHE_DIR. Medians of {effort.starts} fresh processes"
    return [Findings("Import + two events predicted and learned", rows, note)]


def start(program: str, numba_cache: str) -> tuple[float, float]:
    """Run the program and return the two times that it prints."""
    root = str(Path(__file__).parents[2])
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "NUMBA_CACHE_DIR": numba_cache},
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    imported, ready = map(float, found.stdout.split())
    return imported, ready
