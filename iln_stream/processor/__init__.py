"""The CPU baseline: the instructions that arithmetic is limited to, so that all CPUs round alike.

`baselines.py` says what each baseline sets, `pinning.py` sets it before numpy and numba are loaded,
and `cpu_baseline.py` names what a process computes with, for its snapshots.
"""

from iln_stream.processor.baselines import BASELINES, VARIABLE
from iln_stream.processor.cpu_baseline import cpu_baseline
from iln_stream.processor.pinning import check, pin, pinned

__all__ = ["BASELINES", "VARIABLE", "check", "cpu_baseline", "pin", "pinned"]
