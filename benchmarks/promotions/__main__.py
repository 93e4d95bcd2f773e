"""False promotions and power of `Evidence`, by cells that are stored.

    python -m benchmarks.promotions                    # runs missing cells, updates the document
    python -m benchmarks.promotions --again equal      # runs those whose name begins so once more
    python -m benchmarks.promotions --report           # only updates the document

All of it takes some twenty minutes on two cores. The pairs on bikes need ILN_DATA.
"""

import argparse
import os
from multiprocessing import get_context

# One core each, set before numpy is imported.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from benchmarks.long_streams.results import load, put  # noqa: E402
from benchmarks.promotions.cells import cells  # noqa: E402
from benchmarks.promotions.document import RESULTS, report  # noqa: E402
from benchmarks.quality.unavailable import UnavailableError  # noqa: E402


def main() -> None:
    """Run what is missing, store it, and update the document."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.promotions")
    parser.add_argument("--again", default="", help="beginning of names of cells to run once more")
    parser.add_argument("--report", action="store_true", help="only update the document")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    if not given.report:
        with get_context("spawn").Pool(given.processes) as pool:
            for name, make in cells():
                if name in load(RESULTS) and not (given.again and name.startswith(given.again)):
                    continue
                try:
                    cell = make(pool)
                except UnavailableError as reason:
                    print(f"left out: {reason}", flush=True)
                    continue
                put(name, cell, RESULTS)
                print(name, cell, flush=True)
    report(load(RESULTS))


if __name__ == "__main__":
    main()
