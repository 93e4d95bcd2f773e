"""Compiled code is the same code whether it was just compiled or is loaded from disk."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import hashlib, math, warnings
warnings.simplefilter("ignore")
from iln_stream import InfiniteLayerRegressor, Pool, Sampled, ShrinkingGradient
from iln_stream.state import pack

for model in (
    InfiniteLayerRegressor(seed=1),
    InfiniteLayerRegressor("fast", seed=1),
    ShrinkingGradient(estimator=Pool(64), seed=1),
    ShrinkingGradient(estimator=Sampled("direct"), seed=1),
    ShrinkingGradient(estimator="block", policy="compress", budget=20, seed=1),
):
    for t in range(140):
        x = {"a": math.sin(t), "b": math.cos(3 * t), "c": float(t % 5)}
        model.predict_one(x)
        model.learn_one(x, math.sin(2 * t))
    arrays, text = pack(model.state())
    digest = hashlib.sha256(text.encode())
    for path in sorted(arrays):
        digest.update(arrays[path].tobytes())
    print(digest.hexdigest())
"""


def digests(cache: Path) -> list[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_cold_and_a_warm_process_agree_bit_for_bit(tmp_path):
    """The first process of a release compiles and those after it load: one state, to the last bit.

    Called functions are inlined for that. As symbols, the linker may take one caller's copy or
    another's, and copies differ in how sums are ordered.
    """
    cold = digests(tmp_path)
    assert len(cold) == 5
    assert any(tmp_path.rglob("*.nbc")), "nothing was kept on disk: there is nothing to load"
    assert digests(tmp_path) == cold
