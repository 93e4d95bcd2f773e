"""What each CPU baseline sets.

Three libraries choose their instructions by the CPU they find, and so round otherwise on another:
numba for our loops, OpenBLAS for products of matrices, and NumPy for functions such as `exp`. Each
reads environment variables when it is loaded.
"""

from collections.abc import Mapping
from typing import NamedTuple

VARIABLE = "ILN_CPU_BASELINE"
"""Names the baseline; unset or empty: none."""


class Baseline(NamedTuple):
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


BASELINES: Mapping[str, Baseline] = {
    "x86-64-v3": Baseline(
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
    "armv8-a": Baseline(
        machines=("aarch64", "arm64"),
        numba_name="generic",
        numba_features="",
        openblas="ARMV8",
        numpy_disabled="ASIMDHP ASIMDDP ASIMDFHM SVE",
        numpy_disabled_before_2_4="ASIMDHP ASIMDDP ASIMDFHM SVE",
    ),
}
"""By name: AVX2 and FMA, of servers since about 2015; and what every 64-bit ARM has."""
