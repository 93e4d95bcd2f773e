"""Accuracy on streams of entities, against other learners."""

import json
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.keyed.learners import LEARNERS
from benchmarks.keyed.streams import stream


def compare(names: list[str], learners: list[str], n: int, seed: int, file: Path) -> None:
    """Add the errors of learners on streams to a file of results, and print them."""
    for name in names:
        events = stream(name, n, seed)
        for learner in learners:
            began = process_time()
            p = LEARNERS[learner](events)
            seconds = process_time() - began
            error = events.y - p
            late = error[n // 2 :]
            cell: dict[str, Any] = {
                "rmse": float(np.sqrt(np.mean(error**2))),
                "mae": float(np.mean(np.abs(error))),
                "rmse, second half": float(np.sqrt(np.mean(late**2))),
                "mae, second half": float(np.mean(np.abs(late))),
                "us an event": None if learner.startswith("vw") else 1e6 * seconds / n,
            }
            found = json.loads(file.read_text()) if file.exists() else {}
            found.setdefault("accuracy", {}).setdefault(name, {}).setdefault(str(n), {})[
                learner
            ] = cell
            file.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
            print(f"{name:10} {n:8} {learner:28} rmse {cell['rmse, second half']:.4f} "
                  f"mae {cell['mae, second half']:.4f} in the second half, "
                  f"{seconds / n * 1e6:.1f} us", flush=True)  # fmt: skip
