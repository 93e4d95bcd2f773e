"""Commands of the endurance suite."""

import os

# One core each, set before numpy is imported: two cells run at once on two cores.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from benchmarks.endurance.commands import app  # noqa: E402

if __name__ == "__main__":
    app()
