"""The name of what a process computes with."""

import hashlib
import os
from functools import cache

from iln_stream.processor.baselines import BASELINES
from iln_stream.processor.pinning import pinned


@cache
def cpu_baseline() -> str:
    """Return the CPU baseline; without one, "native", the CPU's name and a digest.

    The digest is that of the CPU's features and of the variables that a baseline would set. Equal
    names promise equal bits, with equal versions of the libraries.

    Raises
    ------
    IlnError
        When ILN_CPU_BASELINE names a baseline that can't be set.

    """
    if (name := pinned()) is not None:
        return name
    from llvmlite import binding  # only here: the front door should be quick

    names = sorted({variable for each in BASELINES.values() for variable in each.variables})
    variables = [f"{variable}={os.environ.get(variable)}" for variable in names]
    known = "\n".join([binding.get_host_cpu_features().flatten(), *variables])
    digest = hashlib.sha256(known.encode()).hexdigest()[:8]
    return f"native {binding.get_host_cpu_name()} {digest}"
