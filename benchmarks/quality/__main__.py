"""Commands of the quality suite."""

import os

# One core each, set before numpy is imported, for comparable events per second.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from benchmarks.quality.commands import app  # noqa: E402

if __name__ == "__main__":
    app()
