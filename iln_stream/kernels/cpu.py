"""Which instructions arithmetic may use: set before NumPy and numba are loaded.

Three libraries choose their instructions by the CPU they find, and so round otherwise on another:
numba for our loops, OpenBLAS for products of matrices, and NumPy for functions such as `exp`. Each
reads environment variables when it is loaded.
"""

import hashlib
import os
import platform
import sys
import warnings
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from iln_stream.errors import IlnError, IlnWarning

VARIABLE = "ILN_CPU_BASELINE"
"""Names the baseline; unset or empty: none."""


class InstructionSet(NamedTuple):
    """A level of instructions.

    Parameters
    ----------
    machines
        Architectures, as `platform.machine` names them.
    numba_name, numba_features
        Of LLVM. The name alone would not do: numba adds the features of the CPU that it runs on.
    openblas
        The CPU type whose kernels OpenBLAS uses.
    numpy_disabled
        The levels of NumPy's functions above this one, which it may not use.
    numpy_disabled_before_2_4
        As those releases name them.

    """

    machines: tuple[str, ...]
    numba_name: str
    numba_features: str
    openblas: str
    numpy_disabled: str
    numpy_disabled_before_2_4: str

    @property
    def features(self) -> tuple[str, ...]:
        """The features that a CPU needs, as LLVM names them."""
        return tuple(each[1:] for each in self.numba_features.split(",") if each.startswith("+"))

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables that numba, OpenBLAS and NumPy read when they are loaded."""
        from importlib.metadata import version  # only here: most processes set no baseline

        release = tuple(map(int, version("numpy").split(".")[:2]))
        return {
            "NUMBA_CPU_NAME": self.numba_name,
            "NUMBA_CPU_FEATURES": self.numba_features,
            "NUMBA_DISABLE_INTEL_SVML": "1",  # a library that chooses by the CPU, too
            "OPENBLAS_CORETYPE": self.openblas,
            "OPENBLAS_NUM_THREADS": "1",  # threads split sums
            "NPY_DISABLE_CPU_FEATURES": (
                self.numpy_disabled if release >= (2, 4) else self.numpy_disabled_before_2_4
            ),
        }


BASELINES: Mapping[str, InstructionSet] = {
    "x86-64-v3": InstructionSet(
        machines=("x86_64", "AMD64"),
        numba_name="x86-64-v3",
        numba_features=(
            "+cx16,+sahf,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2,+avx,+avx2,+bmi,+bmi2,+f16c,+fma,"
            "+lzcnt,+movbe,+xsave"
        ),
        openblas="Haswell",
        numpy_disabled="X86_V4 AVX512_ICL AVX512_SPR",
        numpy_disabled_before_2_4=(
            "AVX512F AVX512CD AVX512_KNL AVX512_KNM AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"
        ),
    ),
    "armv8-a": InstructionSet(
        machines=("aarch64", "arm64"),
        numba_name="generic",
        numba_features="",
        openblas="ARMV8",
        numpy_disabled="ASIMDHP ASIMDDP ASIMDFHM SVE",
        numpy_disabled_before_2_4="ASIMDHP ASIMDDP ASIMDFHM SVE",
    ),
}
"""By name: AVX2 and FMA, of servers since about 2015; and what every 64-bit ARM has."""


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


def lacking(baseline: InstructionSet) -> str | None:
    """Return what this CPU lacks for a baseline, in words; None: nothing."""
    if (machine := platform.machine()) not in baseline.machines:
        return f"is of architecture {machine}"
    from llvmlite import binding  # only here: it takes a twentieth of a second

    found = binding.get_host_cpu_features()
    missing = [feature for feature in baseline.features if not found.get(feature)]
    return f"lacks {', '.join(missing)}" if missing else None


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
