"""Setting the CPU baseline, before numpy and numba are loaded."""

import os
import platform
import sys
import warnings
from typing import NamedTuple

from iln_stream.errors import IlnError, IlnWarning
from iln_stream.processor.baselines import BASELINES, VARIABLE, Baseline

_READERS = ("numpy", "numba")
"""Modules that read the variables when they are loaded."""


class _Pin(NamedTuple):
    """What `pin` did: the baseline's name, what prevented it, and the variables it replaced."""

    name: str | None = None
    problem: str | None = None
    replaced: tuple[str, ...] = ()


_done = _Pin()


def pin() -> None:
    """Set the variables of the baseline that ILN_CPU_BASELINE names, for children, too.

    It raises nothing, as it is called by `import iln_stream`: see `check`.
    """
    global _done
    name = os.environ.get(VARIABLE)
    if not name:
        return
    baseline = BASELINES.get(name)
    if baseline is None:
        _done = _Pin(name, f"must be one of {', '.join(BASELINES)}, or unset")
        return
    variables = baseline.variables
    other = [key for key, value in variables.items() if os.environ.get(key) != value]
    loaded = [module for module in _READERS if module in sys.modules]
    if other and loaded:
        _done = _Pin(
            name,
            f"{' and '.join(loaded)} can't be changed any more: import iln_stream before them",
        )
        return
    if (missing := lacking(baseline)) is not None:
        _done = _Pin(name, f"this CPU {missing}: unset it, or use another CPU")
        return
    replaced = tuple(
        f"{key} is {variables[key]!r} by {VARIABLE}={name}, and no longer {os.environ[key]!r}"
        for key in other
        if key in os.environ
    )
    os.environ.update(variables)
    _done = _Pin(name, replaced=replaced)


def pinned() -> str | None:
    """Return the name of the baseline that is set; None: none.

    Raises
    ------
    IlnError
        When ILN_CPU_BASELINE names one that can't be set.

    """
    check()
    return _done.name


def check() -> None:
    """Warn, once, of variables of the environment that the baseline replaced.

    Raises
    ------
    IlnError
        When ILN_CPU_BASELINE names a baseline that can't be set.

    """
    global _done
    if _done.problem is not None:
        raise IlnError(f"{VARIABLE}={_done.name}: {_done.problem}")
    for each in _done.replaced:
        warnings.warn(each, IlnWarning, stacklevel=2)
    _done = _done._replace(replaced=())


def lacking(baseline: Baseline) -> str | None:
    """Return what this CPU lacks for a baseline, in words; None: nothing."""
    if (machine := platform.machine()) not in baseline.machines:
        return f"is of architecture {machine}"
    from llvmlite import binding  # only here: it takes a twentieth of a second

    found = binding.get_host_cpu_features()
    missing = [feature for feature in baseline.features if not found.get(feature)]
    return f"lacks {', '.join(missing)}" if missing else None
