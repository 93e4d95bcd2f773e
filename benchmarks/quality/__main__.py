"""Commands of the quality suite."""

import os

# One core each, before numpy looks: events a second are then comparable.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from benchmarks.quality.commands import app  # noqa: E402

if __name__ == "__main__":
    app()
