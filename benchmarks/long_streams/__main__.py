"""Runs the cells that are not stored, and prints tables.

    python -m benchmarks.long_streams [--events 100000] [--stream bumps ...] [--learner fast ...]

A cell is one learner on one stream with one seed. Errors are ratios: the mean absolute error over
that of the running mean, by segments of the stream. A run that is interrupted goes on with the
first cell that is not stored. `--report` updates docs/accuracy.md and its picture.
"""

import argparse
import os
import warnings
from pathlib import Path

# One core each, set before numpy is imported, for comparable times.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from benchmarks.long_streams.curve import ENDS, run  # noqa: E402
from benchmarks.long_streams.document import report  # noqa: E402
from benchmarks.long_streams.learners import LEARNERS, PEERS  # noqa: E402
from benchmarks.long_streams.results import RESULTS, load, put  # noqa: E402
from benchmarks.long_streams.streams import DESIGN, HELD_BACK, STREAMS  # noqa: E402
from benchmarks.long_streams.table import table  # noqa: E402
from benchmarks.quality.unavailable import UnavailableError  # noqa: E402


def main() -> None:
    """Run, store and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.long_streams")
    parser.add_argument("--events", type=int, default=100_000, choices=ENDS[1:])
    parser.add_argument("--stream", nargs="*", default=list(STREAMS), choices=STREAMS)
    parser.add_argument("--learner", nargs="*", default=list(LEARNERS), choices=LEARNERS)
    parser.add_argument("--seeds", type=int, default=3, help="of ours; peers run with seed 1")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of the stored cells")
    parser.add_argument("--again", action="store_true", help="run cells that are stored, too")
    parser.add_argument(
        "--report", action="store_true", help="only update the document and its picture"
    )
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    stored = load(given.results)
    if given.report:
        report(stored)
        return
    for seed in range(1, given.seeds + 1):
        for stream in given.stream:
            for learner in given.learner:
                key = f"{given.events} {stream} {learner} {seed}"
                if (learner in PEERS and seed > 1) or (key in stored and not given.again):
                    continue
                try:
                    cell = run(learner, stream, seed, given.events)
                except UnavailableError as reason:
                    print(f"left out: {reason}", flush=True)
                    continue
                stored = put(key, cell, given.results)
                print(key, cell["errors"], cell["us"], flush=True)
    for title, group in (("design", DESIGN), ("held back", HELD_BACK)):
        print("\n".join(table(title, group, given.events, stored)))


if __name__ == "__main__":
    main()
