"""Learns a short stream and prints, as JSON, what depends on the CPU: run with other variables."""

import gc
import hashlib
import json
import platform
import struct
import sys
import warnings

from iln_stream import ScaledTarget, ShrinkingGradient, WinsorisedScaler
from iln_stream.processor import cpu_baseline
from iln_stream.snapshots import learner_state
from iln_stream.state import pack

ESTIMATORS = ("exact", "sampled")  # one with NumPy's `exp` and a BLAS, one all compiled
EVENTS = 400


def bits(estimator):
    """Return a digest of all predictions and of the final state."""
    import numpy as np

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


def dispatchers():
    """Return all compiled functions of ours that Python called."""
    from iln_stream.compiled.inlining import InliningDispatcher

    return [each for each in gc.get_objects() if isinstance(each, InliningDispatcher)]


def registers():
    """Return how often the machine code names registers of 256 and of 512 bits."""
    code = "".join(text for each in dispatchers() for text in each.inspect_asm().values())
    return {"ymm": code.count("%ymm"), "zmm": code.count("%zmm")}


def main():
    """Print everything."""
    warnings.simplefilter("ignore")
    from threadpoolctl import threadpool_info

    found = {estimator: bits(estimator) for estimator in ESTIMATORS}
    stats = [each.stats for each in dispatchers()]
    json.dump(
        {
            "bits": found,
            "hits": sum(sum(each.cache_hits.values()) for each in stats),
            "misses": sum(sum(each.cache_misses.values()) for each in stats),
            "registers": registers() if "asm" in sys.argv else None,
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
