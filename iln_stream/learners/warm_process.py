"""A process that only compiles: `python -m iln_stream.learners.warm_process NAME [PART]`.

It prints a line of JSON for each function: its name, and the seconds it took.
"""

import json
import sys

from iln_stream.compiled.progress import reporting
from iln_stream.learners.warming import exercise


def main(name: str, part: str | None = None) -> None:
    """Compile what the learners of a name need, or a part of it; see `warming`."""
    with reporting(_print):
        exercise(name, part)


def _print(function: str, seconds: float) -> None:
    print(json.dumps([function, round(seconds, 1)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
