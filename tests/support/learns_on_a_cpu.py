"""Learns a short stream and prints, as JSON, what depends on the CPU: run with other variables."""

import gc
import hashlib
import json
import platform
import re
import struct
import sys
import warnings

import iln_stream  # noqa: F401  # sets the CPU baseline, before numpy is loaded

# isort: split
import numpy as np

from iln_stream.kernels.cpu import cpu_baseline
from iln_stream.kernels.jit import InliningDispatcher, compiled
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.snapshots import learner_state
from iln_stream.state import pack

ESTIMATORS = ("exact", "sampled")  # one with NumPy's `exp` and a BLAS, one all compiled
EVENTS = 400


def bits(estimator):
    """Return a digest of all predictions and of the final state."""
    learner = ScaledTarget(
        WinsorisedScaler() | ShrinkingGradient(estimator=estimator, budget=200, seed=1)
    )
    digest = hashlib.sha256()
    for row in np.random.default_rng(5).random((EVENTS, 4)).tolist():
        x = dict(zip("abcd", row, strict=True))
        digest.update(struct.pack("<d", learner.predict_one(x)))
        learner.learn_one(x, row[0] * row[1] + row[2])
    arrays, text = pack(learner_state(learner, False))
    digest.update(text.encode())
    for name in sorted(arrays):
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()


@compiled
def divide_by_root(x, y):
    """Do what optimisers of networks do, which CPUs have an inexact instruction for."""
    for k in range(len(x)):
        x[k] /= np.sqrt(y[k])


def dispatchers():
    """Return all compiled functions of ours."""
    return [each for each in gc.get_objects() if isinstance(each, InliningDispatcher)]


def assembly():
    """Return how often code names registers of 256 and of 512 bits, and inexact instructions."""
    divide_by_root(np.ones(64, np.float32), np.ones(64, np.float32))
    code = "".join(text for each in dispatchers() for text in each.inspect_asm().values())
    return {
        "ymm": code.count("%ymm"),
        "zmm": code.count("%zmm"),
        "estimates": len(re.findall(r"\bv?(rsqrt|rcp)\d*[ps]s", code)),
    }


def main():
    """Print everything."""
    warnings.simplefilter("ignore")
    from threadpoolctl import threadpool_info

    chosen = [each for each in sys.argv[1:] if each != "asm"] or ESTIMATORS
    found = {estimator: bits(estimator) for estimator in chosen}
    stats = [each.stats for each in dispatchers()]
    json.dump(
        {
            "bits": found,
            "hits": sum(sum(each.cache_hits.values()) for each in stats),
            "misses": sum(sum(each.cache_misses.values()) for each in stats),
            "assembly": assembly() if "asm" in sys.argv else None,
            "blas": sorted(
                {
                    (e["architecture"], e["num_threads"])
                    for e in threadpool_info()
                    if e["internal_api"] == "openblas"
                }
            ),
            "node": platform.node(),
            "cpu_baseline": cpu_baseline(),
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
