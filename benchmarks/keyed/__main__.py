"""Models by key.

Usage: python -m benchmarks.keyed accuracy [--streams design|held-back|few|NAMES] [--events 100000]
       python -m benchmarks.keyed throughput [--keys 1000000] [--events 1000000] [--exponent 1.1]
       python -m benchmarks.keyed checkpoint [--keys 1000000]

Results are added to benchmarks/results/keyed.json. VW runs in the Python of the variable VW_PYTHON,
which has the package vowpalwabbit.
"""

import argparse
import json
from pathlib import Path

from benchmarks.keyed.accuracy import compare
from benchmarks.keyed.learners import OF_FEW, OF_MANY
from benchmarks.keyed.scale import checkpoint, throughput
from benchmarks.keyed.streams import DESIGN, FEW, HELD_BACK

RESULTS = Path(__file__).parents[1] / "results" / "keyed.json"


def main() -> None:
    """Run what the arguments say."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.keyed", description=__doc__)
    parser.add_argument("what", choices=("accuracy", "throughput", "checkpoint"))
    parser.add_argument("--streams", default="held-back")
    parser.add_argument("--learners", nargs="+", metavar="NAME", help="by default all")
    parser.add_argument("--events", type=int)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--exponent", type=float, default=1.1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.what == "accuracy":
        sets = {"design": list(DESIGN), "held-back": list(HELD_BACK), "few": list(FEW)}
        names = sets.get(given.streams) or given.streams.split(",")
        learners = OF_FEW if given.streams == "few" else OF_MANY
        wanted = given.learners or list(learners)
        if unknown := set(wanted) - set(learners):
            parser.error(f"--learners: {', '.join(unknown)}: must be of {', '.join(learners)}")
        compare(names, wanted, given.events or 100_000, given.seed, given.results)
        return
    if given.what == "throughput":
        found = throughput(given.keys, given.events or 1_000_000, given.exponent)
    else:
        found = checkpoint(given.keys, 0.01, given.repeats)
    print(json.dumps(found, indent=1))
    stored = json.loads(given.results.read_text()) if given.results.exists() else {}
    stored[given.what] = found
    given.results.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
