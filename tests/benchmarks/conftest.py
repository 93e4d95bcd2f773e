"""The benchmarks lie beside the package, not in it."""

import sys
from pathlib import Path

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    # At the end: iln_stream shall be the installed one.
    sys.path.append(ROOT)
